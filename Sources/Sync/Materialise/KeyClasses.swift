internal import CSQLite
internal import Files
internal import GRDB
internal import Stores

/// The keys of rows in a unique index that only SQLite can compute: one with expressions, or partial.
///
/// Rows are inserted into a table in memory that has only this index. Rows with equal keys form one class, which is
/// named after its first row.
final class KeyClasses {
    private let queue: DatabaseQueue
    private let handle: OpaquePointer
    private let columns: [String]
    private let name: String
    private let rowIDName: String
    private let found: Found
    private var count: Int64 = 0

    init(_ schema: TableSchema, _ index: IndexSchema) throws {
        let stored = schema.storedColumns.map { schema.columns[$0] }
        columns = stored.map(\.name.sqlIdentifier)
        name = schema.name.sqlIdentifier
        rowIDName = Self.rowIDName(stored)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try distrust($0.sqliteConnection, name: "memory") }
        let queue = try DatabaseQueue(configuration: configuration)
        self.queue = queue
        let found = Found()
        self.found = found
        let definitions = stored.map {
            // SQLite reads the affinity from the type; the declared type may contain anything.
            "\($0.name.sqlIdentifier) \($0.affinity.rawValue) COLLATE \($0.collation.sqlIdentifier)"
        }
        let (name, rowIDName) = (name, rowIDName)
        handle = try queue.inDatabase { database in
            database.add(function: found.function)
            try database.execute(
                sql: """
                    PRAGMA recursive_triggers = ON;
                    CREATE TABLE \(name) (\(definitions.joined(separator: ", ")));
                    CREATE TEMP TRIGGER class AFTER DELETE ON main.\(name)
                    BEGIN SELECT class_of(OLD.\(rowIDName)); END;
                    """
            )
            guard let handle = database.sqliteConnection else {
                throw StoreError.unreadable("memory", reason: "its connection is closed")
            }
            if let sql = index.sql {
                try SchemaText.run(sql, of: .index, on: handle, name: "memory")
            }
            return handle
        }
    }

    private static func rowIDName(_ columns: [ColumnSchema]) -> String {
        let names = Set(columns.map(\.name.foldedIdentifier))
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0.exact) } ?? "rowid"
    }

    /// Returns the class of a row.
    ///
    /// - Throws: `StoreError`.
    func key(of values: [StoredValue]) throws -> [UInt8] {
        count += 1
        let own = count
        found.number = nil
        // The replaced row reports its number by the trigger, and the rollback restores it.
        try run("SAVEPOINT class")
        try insert(values, as: own)
        guard let number = found.number else {
            try run("RELEASE class")
            return bytes(own)
        }
        try run("ROLLBACK TO class")
        try run("RELEASE class")
        return bytes(number)
    }

    private func insert(_ values: [StoredValue], as number: Int64) throws {
        let list = ([rowIDName] + columns).joined(separator: ", ")
        let marks = (["?"] + columns.map { _ in "?" }).joined(separator: ", ")
        let statement = try Statement(
            handle,
            name: name,
            "INSERT OR REPLACE INTO \(name) (\(list)) VALUES (\(marks))"
        )
        try statement.bind(number, at: 1)
        try statement.bind(values, from: 2)
        _ = try statement.step()
    }

    private func run(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreError("memory", code: code, of: handle) }
    }

    private func bytes(_ number: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64(56 - 8 * $0)) }
    }
}

/// The row that a REPLACE removed.
private final class Found: @unchecked Sendable {
    var number: Int64?

    /// The function that the trigger calls, on the one thread that uses the classes.
    var function: DatabaseFunction {
        DatabaseFunction("class_of", argumentCount: 1, pure: false) { [weak self] values in
            self?.number = Int64.fromDatabaseValue(values[0])
            return nil
        }
    }
}
