internal import Files

/// A finder of rows of a store by values of their columns, in one transaction.
///
/// It is fast if there is an index; else SQLite reads the whole table.
package final class RowFinder {
    private let handle: OpaquePointer
    private let name: String
    /// The object that keeps the transaction open.
    private let owner: AnyObject?
    private var statements: [String: Statement] = [:]

    /// The greatest number of numbers in one statement.
    private static let numbersLimit = 5_000

    package init(_ snapshot: StoreSnapshot) throws {
        handle = try snapshot.connection.handle()
        name = snapshot.path.description
        owner = snapshot
    }

    /// Takes a connection (`sqlite3 *`) that is in a transaction, and outlives the finder.
    package init(_ handle: OpaquePointer, name: String) {
        self.handle = handle
        self.name = name
        owner = nil
    }

    /// Returns the local keys of the rows in which some terms have the given values.
    ///
    /// - Parameters:
    ///   - table: the table in the store's schema.
    ///   - terms: columns or expressions, as SQL.
    ///   - values: one value for each term; none is NULL.
    ///   - condition: a further condition, as SQL.
    /// - Returns: the keys, in no order.
    /// - Throws: `StoreError`.
    package func keys(
        of table: TableSchema,
        where terms: [String],
        are values: [StoredValue],
        and condition: String? = nil
    ) throws -> [RowKey] {
        let matches = terms.map { "\($0) = ?" } + (condition.map { ["(\($0))"] } ?? [])
        let statement = try prepared(
            """
            SELECT \(table.localKeyList) FROM main.\(table.name.sqlIdentifier)
            WHERE \(matches.joined(separator: " AND "))
            """
        )
        try statement.bind(values)
        defer { statement.reset() }
        return try keys(statement, table)
    }

    /// Returns the local keys of the rows in which a column has one of some numbers.
    ///
    /// - Parameters:
    ///   - table: the table in the store's schema.
    ///   - column: the column's index in the table.
    ///   - numbers: the numbers.
    /// - Returns: the keys, in no order.
    /// - Throws: `StoreError`.
    package func keys(
        of table: TableSchema,
        whereColumn column: Int,
        isIn numbers: [Int64]
    ) throws -> [RowKey] {
        var found: [RowKey] = []
        for start in stride(from: 0, to: numbers.count, by: Self.numbersLimit) {
            let part = numbers[start..<min(start + Self.numbersLimit, numbers.count)]
            let statement = try Statement(
                handle,
                name: name,
                """
                SELECT \(table.localKeyList) FROM main.\(table.name.sqlIdentifier)
                WHERE \(table.columns[column].asNumber)
                    IN (\(part.map(String.init).joined(separator: ", ")))
                """
            )
            found += try keys(statement, table)
        }
        return found
    }

    /// Returns the greatest rowid of a table; `nil` if it has no rows, or no rowids.
    ///
    /// - Throws: `StoreError`.
    package func greatestRowID(of table: TableSchema) throws -> Int64? {
        guard let rowID = table.rowIDName else { return nil }
        let greatest = try Statement(
            handle,
            name: name,
            "SELECT max(\(rowID)) FROM main.\(table.name.sqlIdentifier)"
        )
        guard try greatest.step(), greatest.storageClass(0) == .integer else { return nil }
        return greatest.integer(0)
    }

    /// Reads columns of the row with a local key.
    ///
    /// - Parameters:
    ///   - columns: their indices in the table; with none, the result only says whether the row exists.
    ///   - table: the table in the store's schema.
    ///   - key: the row's key.
    /// - Returns: the values; `nil` if there is no such row.
    /// - Throws: `StoreError`.
    package func values(
        _ columns: [Int],
        of table: TableSchema,
        at key: RowKey
    ) throws -> [StoredValue]? {
        let names = columns.map { table.columns[$0].name.sqlIdentifier }
        let list = names.isEmpty ? "1" : names.joined(separator: ", ")
        let match = table.localKeyNames.map { "\($0) = ?" }.joined(separator: " AND ")
        let statement = try prepared(
            "SELECT \(list) FROM main.\(table.name.sqlIdentifier) WHERE \(match)"
        )
        try statement.bind(key.values)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return columns.indices.map { statement.value(CInt($0)) }
    }

    /// Returns whether a row of a table breaks a foreign key (https://www.sqlite.org/pragma.html#pragma_foreign_key_check).
    ///
    /// A foreign key that cannot be checked, since it fits no key of its parent, counts as broken.
    package func breaksForeignKeys(_ table: TableSchema) -> Bool {
        let name = table.name.sqlIdentifier
        let check = try? Statement(
            handle,
            name: self.name,
            "PRAGMA main.foreign_key_check(\(name))"
        )
        return (try? check?.step()) ?? true
    }

    private func keys(_ statement: Statement, _ table: TableSchema) throws -> [RowKey] {
        var found: [RowKey] = []
        while try statement.step() { found.append(table.localKey(in: statement)) }
        return found
    }

    private func prepared(_ sql: String) throws -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try Statement(handle, name: name, sql)
        statements[sql] = statement
        return statement
    }
}

extension ColumnSchema {
    /// The column as a number, as SQL; a column of numbers is not converted, so that an index can be used.
    fileprivate var asNumber: String {
        let name = name.sqlIdentifier
        return affinity == .text || affinity == .blob ? "CAST(\(name) AS NUMERIC)" : name
    }
}

extension TableSchema {
    /// The columns of the local key, as SQL.
    fileprivate var localKeyNames: [String] {
        if let rowIDAlias { return [columns[rowIDAlias].name.sqlIdentifier] }
        if primaryKey.isEmpty { return [rowIDName ?? "rowid"] }
        return primaryKey.map { columns[$0].name.sqlIdentifier }
    }

    package var localKeyList: String { localKeyNames.joined(separator: ", ") }

    package func localKey(in statement: Statement) -> RowKey {
        if rowIDAlias != nil || primaryKey.isEmpty { return .rowID(statement.integer(0)) }
        return RowKey(primaryKey: primaryKey.indices.map { statement.value(CInt($0)) })
    }
}
