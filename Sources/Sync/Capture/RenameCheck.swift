internal import Changes
internal import Files
internal import Stores

/// The check for tables and columns that a new schema may have renamed.
///
/// A table that is gone while its like appears may be the same table. Only a person knows, and says so in the map.
struct RenameCheck {
    let former: ColumnMeanings
    let present: ColumnMeanings
    let map: SyncMap
    let access: SidecarAccess
    let snapshot: StoreSnapshot

    /// Returns whether the wire name of a column depends on other parts of a Core Data model.
    ///
    /// Such a name changes with every model, although no column is renamed; see `CoreDataNaming`.
    private func dependsOnModel(_ column: ExactString, of table: TableMapping) -> Bool {
        table.coreData != nil && column.text.contains { $0 == "@" || $0 == ">" }
    }

    /// Throws if a table or a column may have another name now.
    ///
    /// - Throws: `SyncRefusal.renamed`.
    func run(_ tables: [TableMapping]) throws {
        let gone = former.tableNames.subtracting(present.tableNames).filter { name in
            TableName(name.text).map { !map.exclude.contains($0) } ?? false
        }
        for table in tables {
            let name = table.name.description.exact
            guard former.tableNames.contains(name) else {
                try check(table, name, gone: gone)
                continue
            }
            try checkColumns(of: table, name)
        }
    }

    private func rules(of table: TableMapping) -> SyncMap.Table? {
        TableName(table.schema.name).flatMap { map.tables[$0] }
    }

    private func check(_ table: TableMapping, _ name: ExactString, gone: Set<ExactString>) throws {
        // A former name of the map that never synced here is a mistake, unless it says that the table is new.
        let own = table.schema.name.exact
        guard rules(of: table)?.was?.description.exact != own else { return }
        let columns = present.columnNames(of: name)
        let alike = gone.sorted().first { gone in
            let common = former.columnNames(of: gone).intersection(columns).count
            return common > 0
                && common * 2 >= max(columns.count, former.columnNames(of: gone).count)
        }
        guard let alike else { return }
        throw SyncRefusal.renamed(table: table.schema.name, column: nil, was: alike.text)
    }

    private func checkColumns(of table: TableMapping, _ name: ExactString) throws {
        let rules = rules(of: table)
        let local = Set((rules?.local ?? []).map(\.description.exact))
        let gone = former.columnNames(of: name).subtracting(present.columnNames(of: name))
            .subtracting(local).filter { !dependsOnModel($0, of: table) }
        guard !gone.isEmpty else { return }
        let new = present.columnNames(of: name).subtracting(former.columnNames(of: name))
            .filter { !dependsOnModel($0, of: table) }
        for column in table.columns where new.contains(column.name.description.exact) {
            let schema = table.schema.columns[column.place]
            guard let key = ColumnName(schema.name), rules?.renamed[key] != key else { continue }
            let type = present.type(of: column.name.description.exact, in: name)
            let alike = try gone.sorted().first { gone in
                try former.type(of: gone, in: name) == type || hasValues(of: gone, column, table)
            }
            guard let alike else { continue }
            throw SyncRefusal.renamed(
                table: table.schema.name,
                column: schema.name,
                was: alike.text
            )
        }
    }

    /// The greatest number of rows whose values are compared.
    private static let sampledRows = 10_000

    /// Returns whether a column has most of the values that a column that is gone had, in the form of its own type.
    private func hasValues(
        of gone: ExactString,
        _ column: ColumnMapping,
        _ table: TableMapping
    ) throws -> Bool {
        guard let name = ColumnName(gone.text) else { return false }
        let number = try access.number(of: name)
        var (filled, equal, rows) = (0, 0, 0)
        var cursor = try snapshot.rows(of: table.schema, order: table.order, rowIDs: nil)
        while rows < Self.sampledRows, try cursor.next() {
            rows += 1
            guard let id = try access.shadow.id(at: cursor.key, in: table.name),
                let old = try access.shadow.row(id)?.image.partsByColumn()[number],
                old != .value(.null)
            else { continue }
            filled += 1
            let values = try cursor.columns.indices.map { try cursor.value($0) }
            if column.stored(old) == column.part(values) { equal += 1 }
        }
        return equal * 2 > filled
    }
}
