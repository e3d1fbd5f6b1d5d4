internal import CSQLite
internal import GRDB
internal import Stores

/// The keys of rows in a unique index of which only SQLite knows them: one with expressions, or partial.
///
/// Rows are put into a table in memory that has nothing but this index. Those whose keys are equal are one
/// class, which is named after its first row.
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
        let queue = try DatabaseQueue(configuration: configuration)
        self.queue = queue
        let found = Found()
        self.found = found
        let definitions = stored.map {
            // SQLite reads the affinity from the type; the type itself may hold anything.
            "\($0.name.sqlIdentifier) \($0.affinity.rawValue) COLLATE \($0.collation.sqlIdentifier)"
        }
        let (name, rowIDName) = (name, rowIDName)
        handle = try queue.inDatabase { database in
            database.add(function: found.function)
            try database.execute(
                sql: """
                    PRAGMA recursive_triggers = ON;
                    CREATE TABLE \(name) (\(definitions.joined(separator: ", ")));
                    \(index.sql ?? "");
                    CREATE TRIGGER class AFTER DELETE ON \(name)
                    BEGIN SELECT class_of(OLD.\(rowIDName)); END;
                    """
            )
            guard let handle = database.sqliteConnection else {
                throw StoreError.unreadable("memory", reason: "its connection is closed")
            }
            return handle
        }
    }

    private static func rowIDName(_ columns: [ColumnSchema]) -> String {
        let names = Set(columns.map(\.name.foldedIdentifier))
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0) } ?? "rowid"
    }

    /// Returns the class of a row.
    ///
    /// - Throws: `StoreError`.
    func key(of values: [StoredValue]) throws -> [UInt8] {
        count += 1
        let own = count
        found.number = nil
        // The row that it replaces tells its number, and stays as it was.
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
        for (index, value) in values.enumerated() { try statement.bind(value, at: CInt(index + 2)) }
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

    /// Used by the one thread that uses the classes.
    var function: DatabaseFunction {
        DatabaseFunction("class_of", argumentCount: 1, pure: false) { [weak self] values in
            self?.number = Int64.fromDatabaseValue(values[0])
            return nil
        }
    }
}
