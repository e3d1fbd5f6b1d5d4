internal import CSQLite

/// The rows of a table that have unique values of a row that comes back.
///
/// They go by `DELETE`, so that triggers run and what refers to them goes with them, or keeps them. `INSERT OR
/// REPLACE` would run no trigger and say nothing.
final class RivalRows {
    /// Rows with the values of one unique index.
    private struct Search {
        /// The places in the columns of the rows that come back.
        var places: [Int]
        var statement: ReturnTarget.Prepared
    }

    private let database: OpaquePointer
    private let rows: RowReturn
    /// The names of the columns by which this store knows a row, as it is told.
    private let keyNames: [String]
    /// Whether the rows that come back are known by the same.
    private let isSharedKey: Bool
    private let searches: [Search]
    private let deletion: ReturnTarget.Prepared
    /// Finds the key by which this store knows a row by its primary key; `nil` if it has none, or that is it.
    private let ownSearch: ReturnTarget.Prepared?
    private let shadows: Set<String>
    private let hasVirtualTables: Bool

    /// The most keys that are told.
    private static let toldKeys = 8

    /// Prepares a search for each unique index whose columns the rows have.
    ///
    /// Of an index of expressions, or of a part of the rows, nothing tells which row it is that has the values.
    ///
    /// - Throws: `StoreError`.
    init(
        _ database: OpaquePointer,
        name: String,
        _ rows: RowReturn,
        _ schema: StoreSchema
    ) throws {
        self.database = database
        self.rows = rows
        let table = rows.into
        let subject = "main.\(table.name.sqlIdentifier)"
        func prepare(_ sql: String) throws -> ReturnTarget.Prepared {
            ReturnTarget.Prepared(try Statement(database, name: name, sql))
        }
        if let rowID = table.rowIDName {
            keyNames = [rowID]
        } else {
            keyNames = table.primaryKey.map { table.columns[$0].name.sqlIdentifier }
        }
        isSharedKey = table.rowIDAlias != nil && rows.identity == .rowID
        let list = keyNames.joined(separator: ", ")
        func search(_ columns: [(place: Int, collation: String?)]) throws -> Search? {
            let places = columns.compactMap { rows.columns.firstIndex(of: $0.place) }
            guard places.count == columns.count else { return nil }
            let matches = columns.enumerated().map { index, column in
                let collation = column.collation.map { " COLLATE \($0.sqlIdentifier)" } ?? ""
                return
                    "\(table.columns[column.place].name.sqlIdentifier) = ?\(index + 1)\(collation)"
            }
            let sql = "SELECT \(list) FROM \(subject) WHERE \(matches.joined(separator: " AND "))"
            return Search(places: places, statement: try prepare(sql))
        }
        var searches: [Search] = []
        if let alias = table.rowIDAlias, let found = try search([(alias, nil)]) {
            searches.append(found)
        }
        for index in table.indexes where index.isUnique && !index.isPartial {
            let columns = index.keys.compactMap { key in
                key.column.map { (place: $0, collation: Optional(key.collation)) }
            }
            guard columns.count == index.keys.count, let found = try search(columns) else {
                continue
            }
            searches.append(found)
        }
        self.searches = searches
        let condition = keyNames.enumerated().map { "\($1) IS ?\($0 + 1)" }
        deletion = try prepare(
            "DELETE FROM \(subject) WHERE \(condition.joined(separator: " AND "))"
        )
        let names = table.primaryKey.map { table.columns[$0].name.sqlIdentifier }
        let own = names.enumerated().map { "\($1) IS ?\($0 + 1)" }.joined(separator: " AND ")
        ownSearch =
            isSharedKey || names.isEmpty
            ? nil : try prepare("SELECT \(list) FROM \(subject) WHERE \(own)")
        shadows = Set(schema.tables.filter { $0.kind == .shadow }.map(\.name))
        hasVirtualTables = schema.tables.contains { $0.kind == .virtual }
    }

    /// Deletes them.
    ///
    /// - Parameters:
    ///   - values: the values of the row that comes back.
    ///   - own: the values of its key; the row that has them is not deleted. `nil` if it has no key.
    ///   - outcome: counts what is deleted.
    /// - Throws: `StoreError`.
    func remove(
        of values: [StoredValue],
        but own: [StoredValue]?,
        _ outcome: inout RowReturn.Outcome
    ) throws {
        let own = try own.map(localKey)
        for search in searches {
            for key in try keys(search, values) where key != own {
                let count = ChangeCount()
                try count.counting(in: database) { try deletion.run(key) }
                // One that another deletion took with it was counted there.
                guard sqlite3_changes(database) > 0 else { continue }
                outcome.removed += 1
                if outcome.removedKeys.count < Self.toldKeys {
                    outcome.removedKeys.append(text(key))
                }
                note(count, &outcome)
            }
        }
    }

    private func note(_ count: ChangeCount, _ outcome: inout RowReturn.Outcome) {
        var tables = count.tables
        let table = rows.into
        let hooked = tables.values.reduce(0, +)
        if !table.isWithoutRowID { tables[table.name, default: 1] -= 1 }
        // Nothing is told of rows in tables without rowids but that they changed.
        let others = count.total - hooked - (table.isWithoutRowID ? 1 : 0)
        if others > 0, !hasVirtualTables { tables["", default: 0] += others }
        for (name, rows) in tables where rows > 0 && !shadows.contains(name) {
            outcome.alongside[name, default: 0] += rows
        }
    }

    /// Returns the key by which this store knows the row that has a key; `nil` if that is not told by it.
    private func localKey(_ own: [StoredValue]) throws -> [StoredValue]? {
        guard !isSharedKey else { return own }
        guard let ownSearch, own.count == rows.into.primaryKey.count else { return nil }
        try ownSearch.bind(own)
        defer { ownSearch.statement.reset() }
        guard try ownSearch.statement.step() else { return nil }
        return keyNames.indices.map { ownSearch.statement.value(CInt($0)) }
    }

    private func keys(_ search: Search, _ values: [StoredValue]) throws -> [[StoredValue]] {
        try search.statement.bind(search.places.map { values[$0] })
        let statement = search.statement
        defer { statement.statement.reset() }
        var found: [[StoredValue]] = []
        while try statement.statement.step() {
            found.append(keyNames.indices.map { statement.statement.value(CInt($0)) })
        }
        return found
    }

    private func text(_ key: [StoredValue]) -> String {
        let table = rows.into
        let names =
            table.rowIDName == nil
            ? table.primaryKey.map { table.columns[$0].name }
            : [table.rowIDAlias.map { table.columns[$0].name } ?? "rowid"]
        return zip(names, key).map { "\($0) = \($1.sqlLiteral.prefix(60))" }
            .joined(separator: ", ")
    }
}

/// Counts rows that statements change, with those that triggers and foreign keys do.
private final class ChangeCount {
    /// By the names of tables that have rowids (https://www.sqlite.org/c3ref/update_hook.html).
    private(set) var tables: [String: Int64] = [:]
    /// Of all tables.
    private(set) var total: Int64 = 0

    func counting(in database: OpaquePointer, _ body: () throws -> Void) throws {
        let before = sqlite3_total_changes(database)
        sqlite3_update_hook(
            database,
            { context, _, _, table, _ in
                guard let context, let table else { return }
                let count = Unmanaged<ChangeCount>.fromOpaque(context).takeUnretainedValue()
                count.tables[String(cString: table), default: 0] += 1
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        defer {
            sqlite3_update_hook(database, nil, nil)
            total += Int64(sqlite3_total_changes(database) - before)
        }
        try body()
    }
}
