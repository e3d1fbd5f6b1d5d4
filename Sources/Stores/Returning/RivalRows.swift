internal import CSQLite
internal import Files

/// The rows of a table that have unique values of a returning row.
///
/// They are deleted by `DELETE`, so that triggers run, and foreign keys delete or protect the rows that refer to
/// them. `INSERT OR REPLACE` would run no trigger and report nothing.
final class RivalRows {
    /// A search for rows with the values of one unique index.
    private struct Search {
        /// The indices in the columns of the returning rows.
        var places: [Int]
        var statement: Statement
    }

    private let database: OpaquePointer
    private let rows: RowReturn
    /// The names of the columns of the store's local key, as reported.
    private let keyNames: [String]
    /// Whether the returning rows are identified by the same key.
    private let isSharedKey: Bool
    private let searches: [Search]
    private let deletion: Statement
    /// The search for a row's local key by its primary key; `nil` if there is none, or if both are the same.
    private let ownSearch: Statement?
    private let shadows: Set<ExactString>
    private let hasVirtualTables: Bool

    /// The greatest number of keys that are reported.
    private static let listedKeys = 8

    /// Prepares a search for each unique index whose columns the rows have.
    ///
    /// An index on expressions, or a partial index, does not reveal which row has the values.
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
        func prepare(_ sql: String) throws -> Statement {
            try Statement(database, name: name, sql)
        }
        keyNames =
            table.rowIDName.map { [$0] }
            ?? table.keyPlaces.map { table.columns[$0].name.sqlIdentifier }
        isSharedKey = table.rowIDAlias != nil && rows.identity == .rowID
        let list = keyNames.joined(separator: ", ")
        searches = try Self.uniqueKeys(of: table).compactMap { columns in
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
        let condition = keyNames.enumerated().map { "\($1) IS ?\($0 + 1)" }
        deletion = try prepare(
            "DELETE FROM \(subject) WHERE \(condition.joined(separator: " AND "))"
        )
        let names = table.primaryKey.map { table.columns[$0].name.sqlIdentifier }
        let own = names.enumerated().map { "\($1) IS ?\($0 + 1)" }.joined(separator: " AND ")
        ownSearch =
            isSharedKey || names.isEmpty
            ? nil : try prepare("SELECT \(list) FROM \(subject) WHERE \(own)")
        shadows = Set(schema.tables.filter { $0.kind == .shadow }.map(\.name.exact))
        hasVirtualTables = schema.tables.contains { $0.kind == .virtual }
    }

    /// Returns the columns of the keys that two rows cannot share, with their collations.
    private static func uniqueKeys(
        of table: TableSchema
    ) -> [[(place: Int, collation: String?)]] {
        let indexed = table.indexes.lazy.filter { $0.isUnique && !$0.isPartial }
            .compactMap { index -> [(place: Int, collation: String?)]? in
                let columns = index.keys.compactMap { key in
                    key.column.map { (place: $0, collation: Optional(key.collation)) }
                }
                return columns.count == index.keys.count ? columns : nil
            }
        return (table.rowIDAlias.map { [[($0, nil)]] } ?? []) + indexed
    }

    /// Deletes the rows.
    ///
    /// - Parameters:
    ///   - values: the values of the returning row.
    ///   - own: the values of its key; the row with this key is not deleted. `nil` if it has no key.
    ///   - outcome: the counts of deleted rows, which are updated.
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
                // An earlier deletion may have deleted this row as well, and counted it.
                guard sqlite3_changes(database) > 0 else { continue }
                outcome.removed += 1
                if outcome.removedKeys.count < Self.listedKeys {
                    outcome.removedKeys.append(text(key))
                }
                note(count, &outcome)
            }
        }
    }

    /// Runs a statement that writes one row of the table, and counts the rows that triggers and foreign keys change
    /// with it.
    func counting(_ outcome: inout RowReturn.Outcome, _ body: () throws -> Void) throws {
        let count = ChangeCount()
        try count.counting(in: database, body)
        note(count, &outcome)
    }

    private func note(_ count: ChangeCount, _ outcome: inout RowReturn.Outcome) {
        var tables = count.tables
        let table = rows.into
        let hooked = tables.values.reduce(0, +)
        if !table.isWithoutRowID { tables[table.name.exact, default: 1] -= 1 }
        // For tables without rowids, SQLite reports only the number of changes.
        let others = count.total - hooked - (table.isWithoutRowID ? 1 : 0)
        if others > 0, !hasVirtualTables { tables["", default: 0] += others }
        for (name, rows) in tables where rows > 0 && !shadows.contains(name) {
            outcome.alongside[name.text, default: 0] += rows
        }
    }

    /// Returns the store's local key of the row with a returning row's key; `nil` if the key does not determine it.
    private func localKey(_ own: [StoredValue]) throws -> [StoredValue]? {
        guard !isSharedKey else { return own }
        guard let ownSearch, own.count == rows.into.primaryKey.count else { return nil }
        try ownSearch.bind(own)
        defer { ownSearch.reset() }
        guard try ownSearch.step() else { return nil }
        return keyNames.indices.map { ownSearch.value(CInt($0)) }
    }

    private func keys(_ search: Search, _ values: [StoredValue]) throws -> [[StoredValue]] {
        try search.statement.bind(search.places.map { values[$0] })
        let statement = search.statement
        defer { statement.reset() }
        var found: [[StoredValue]] = []
        while try statement.step() {
            found.append(keyNames.indices.map { statement.value(CInt($0)) })
        }
        return found
    }

    private func text(_ key: [StoredValue]) -> String {
        let table = rows.into
        let names =
            table.rowIDName == nil
            ? table.keyPlaces.map { table.columns[$0].name }
            : [table.rowIDAlias.map { table.columns[$0].name } ?? "rowid"]
        return zip(names, key).map { "\($0) = \($1.sqlLiteral.prefix(60))" }
            .joined(separator: ", ")
    }
}

/// A counter of the rows that statements change, including changes by triggers and foreign keys.
private final class ChangeCount {
    /// The counts by table, for tables with rowids (https://www.sqlite.org/c3ref/update_hook.html).
    private(set) var tables: [ExactString: Int64] = [:]
    /// The count for all tables.
    private(set) var total: Int64 = 0

    func counting(in database: OpaquePointer, _ body: () throws -> Void) throws {
        let before = sqlite3_total_changes(database)
        sqlite3_update_hook(
            database,
            { context, _, _, table, _ in
                guard let context, let table else { return }
                let count = Unmanaged<ChangeCount>.fromOpaque(context).takeUnretainedValue()
                count.tables[String(cString: table).exact, default: 0] += 1
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

extension TableSchema {
    /// The columns that find a row without its rowid; all of them if columns use all names of a rowid.
    fileprivate var keyPlaces: [Int] { isWithoutRowID ? primaryKey : storedColumns }
}
