internal import Foundation
internal import GRDB

extension RunLog {
    /// Records the safety backup of a restore that changed nothing in the end: to undo that restore means nothing.
    ///
    /// - Parameter safety: the identity of the safety backup.
    /// - Throws: `HistoryError`, `FileError`.
    public func recordFutileRestore(safety: String) throws {
        try writing { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO futile_restore (safety) VALUES (?)",
                arguments: [safety]
            )
        }
    }

    /// Returns the identities of the safety backups of restores that changed nothing in the end.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func futileRestores() throws -> Set<String> {
        try reading(else: []) { database in
            try String.fetchSet(database, sql: "SELECT safety FROM futile_restore")
        }
    }
}

extension RunLogSchema {
    /// Adds the safety backups of restores that changed nothing.
    static func addFutileRestores(_ database: Database) throws {
        try database.create(table: "futile_restore") { $0.primaryKey("safety", .text) }
    }

    /// Adds the safety backup that each restore made.
    static func addSafetyBackups(_ database: Database) throws {
        try database.alter(table: "run") { $0.add(column: "safety", .text) }
    }
}
