public import Foundation
internal import GRDB

extension RunLog {
    /// One check of one backup.
    public struct Check: Sendable, Equatable {
        /// How deep a check went; a deeper one includes those before it.
        public enum Depth: String, Sendable, CaseIterable, Comparable {
            /// What the archive says of itself.
            case structure
            /// Every byte, against its SHA-256.
            case data
            /// A restore into a directory of its own, with every store checked.
            case restore

            public static func < (left: Depth, right: Depth) -> Bool {
                allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
            }
        }

        /// The remote folder's address.
        public var address: String
        /// The backup's file name.
        public var name: String
        /// Bytes in its archive: one of another size is another backup.
        public var size: Int64
        public var time: Date
        public var depth: Depth
        /// What was found to be wrong; `nil` for a backup that is whole.
        public var damage: String?

        public init(
            address: String,
            name: String,
            size: Int64,
            time: Date,
            depth: Depth,
            damage: String? = nil
        ) {
            self.address = address
            self.name = name
            self.size = size
            self.time = time
            self.depth = depth
            self.damage = damage
        }
    }

    /// Kept in all; the oldest go first.
    static let checksLimit = 100_000

    /// Remembers a check: the last one of each depth of each backup.
    ///
    /// - Throws: `StoreError`, `FileError`.
    public func recordCheck(_ check: Check) throws {
        try writing { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO backup_check (address, name, depth, size, time, damage)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    check.address, check.name, check.depth.rawValue, check.size,
                    milliseconds(check.time), check.damage,
                ]
            )
            try database.execute(
                sql: """
                    DELETE FROM backup_check WHERE rowid <= (SELECT rowid FROM backup_check
                        ORDER BY rowid DESC LIMIT 1 OFFSET ?)
                    """,
                arguments: [Self.checksLimit]
            )
        }
    }

    /// The last checks of the backups in a remote folder, by file name: of each the last one of each
    /// depth, in the order in which they were recorded.
    ///
    /// - Throws: `StoreError`, `FileError`.
    public func lastChecks(in address: String) throws -> [String: [Check]] {
        try reading(else: [:]) { database in
            let checks = try Row.fetchAll(
                database,
                sql: "SELECT * FROM backup_check WHERE address = ? ORDER BY rowid",
                arguments: [address]
            )
            .compactMap(Check.init)
            return Dictionary(grouping: checks, by: \.name)
        }
    }

    /// Forgets the checks of backups that are not there any more.
    ///
    /// - Throws: `StoreError`, `FileError`.
    public func keepChecks(of names: Set<String>, in address: String) throws {
        let gone = try Set(lastChecks(in: address).keys).subtracting(names)
        guard !gone.isEmpty else { return }
        try writing { database in
            for name in gone {
                try database.execute(
                    sql: "DELETE FROM backup_check WHERE address = ? AND name = ?",
                    arguments: [address, name]
                )
            }
        }
    }
}

extension RunLog.Check {
    /// `nil` for a depth that a newer version knows.
    fileprivate init?(_ row: Row) {
        guard let depth = Depth(rawValue: row["depth"]) else { return nil }
        self.init(
            address: row["address"],
            name: row["name"],
            size: row["size"],
            time: date(row["time"]),
            depth: depth,
            damage: row["damage"]
        )
    }
}

/// The tables of the log.
enum RunLogSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: runs, checks") { database in
            try database.create(table: "run") { definition in
                definition.autoIncrementedPrimaryKey("id")
                definition.column("command", .text).notNull()
                definition.column("profile", .text)
                definition.column("stores", .text).notNull()
                definition.column("remote", .text).notNull()
                // Milliseconds since 1970-01-01 UTC, and milliseconds.
                definition.column("began", .integer).notNull()
                definition.column("duration", .integer).notNull()
                definition.column("exit_code", .integer).notNull()
                definition.column("message", .text)
                definition.column("backup", .text)
                definition.column("size", .integer)
                definition.column("bytes", .integer)
            }
            try database.create(
                index: "run_kind",
                on: "run",
                columns: ["command", "profile", "stores", "remote"]
            )
            try database.create(table: "backup_check") { definition in
                definition.column("address", .text).notNull()
                definition.column("name", .text).notNull()
                definition.column("depth", .text).notNull()
                definition.column("size", .integer).notNull()
                definition.column("time", .integer).notNull()
                definition.column("damage", .text)
                definition.primaryKey(["address", "name", "depth"])
            }
        }
        return migrator
    }
}
