internal import Files
internal import Stores
internal import Sync

/// A comparison of one store's two states that reports tables and rows by their Core Data names.
struct StoreComparison {
    private let diff: StoreDiff
    private let name: String
    private let options: CompareStates.Options
    private let context: OperationContext
    private let names: CoreDataNames?

    /// Reads the names in the store's Core Data model.
    ///
    /// - Throws: `StoreError`.
    init(
        of diff: StoreDiff,
        named name: String,
        options: CompareStates.Options,
        context: OperationContext
    ) throws {
        self.diff = diff
        self.name = name
        self.options = options
        self.context = context
        names =
            try CoreDataNames(diff.new, diff.new.schema())
            ?? CoreDataNames(diff.old, diff.old.schema())
    }

    /// Reports each table that differs.
    ///
    /// - Throws: `LookingError.noTable`, `StoreError`, `CancellationError`; errors of `report`.
    func run(_ report: (Difference) throws -> Void) throws {
        let schemas = Dictionary(diff.schema.tables.map { ($0.name.foldedIdentifier, $0) }) { $1 }
        let pairs = Dictionary(diff.tables.map { ($0.name.foldedIdentifier, $0) }) { $1 }
        let all = Set(schemas.keys).union(pairs.keys).sorted()
        let chosen = try options.table.map { [try found($0, among: all)] } ?? all
        for key in chosen {
            try context.checkCancellation()
            var table = TableDifference(
                store: name,
                table: pairs[key]?.name ?? schemas[key]?.name ?? key.text,
                entity: names?.entity(ofTable: key.text),
                kind: pairs[key]?.present.kind ?? schemas[key]?.kind ?? .table,
                virtualTable: try virtualTable(of: pairs[key]),
                schema: schemas[key],
                properties: properties(of: pairs[key])
            )
            do {
                table.rows = try pairs[key].map(diff.counts)
            } catch StoreError.unreadable(_, let reason) {
                table.failure = reason
            }
            guard table.schema != nil || table.failure != nil || table.rows?.isEmpty == false
            else { continue }
            try report(.table(table))
            if options.reportsRows, let pair = pairs[key], table.rows?.isEmpty == false {
                try reportRows(of: pair, table, report)
            }
        }
    }

    private func reportRows(
        of pair: TablePair,
        _ table: TableDifference,
        _ report: (Difference) throws -> Void
    ) throws {
        var reported = 0
        let limit = options.rowLimit ?? .max
        try diff.forEachChange(of: pair) { change in
            guard reported < limit else { return false }
            reported += 1
            try report(
                .row(
                    RowDifference(
                        store: name,
                        table: table.table,
                        entity: table.entity,
                        change: change,
                        properties: table.properties
                    )
                )
            )
            return true
        }
        let rows = table.rows ?? RowCounts()
        let rest = rows.added + rows.removed + rows.changed - Int64(reported)
        if rest > 0 { try report(.moreRows(rest)) }
    }

    /// Returns the virtual table that keeps its data in a differing table; `nil` if there is none.
    private func virtualTable(of pair: TablePair?) throws -> TableDifference.VirtualTable? {
        guard let pair, pair.present.kind == .shadow else { return nil }
        let store = pair.new == nil ? diff.old : diff.new
        let schema = try store.reading { try store.schema() }
        return schema.virtualTable(ofShadow: pair.name).map { table in
            let words = table.sql.lowercased().split(whereSeparator: \.isWhitespace)
            return .init(name: table.name, isSearchIndex: words.contains { $0.hasPrefix("fts") })
        }
    }

    // MARK: - Names

    private func found(
        _ table: String,
        among tables: [ExactString]
    ) throws -> ExactString {
        let folded = table.foldedIdentifier
        if tables.contains(folded) { return folded }
        if let key = tables.first(where: {
            names?.entity(ofTable: $0.text)?.foldedIdentifier == folded
        }) {
            return key
        }
        let place = "'\(name)'"
        for store in [diff.new, diff.old] {
            let schema = try store.reading { try store.schema() }
            let choice = TableChoice(in: schema, names, place: place)
            if let obstacle = choice.obstacle(table) { throw obstacle }
        }
        let entities = tables.compactMap { names?.entity(ofTable: $0.text) }
        // `tables` also contains the tables that do not differ: they are in both schemas.
        throw LookingError.noTable(table, in: place, tables: entities + tables.map(\.text))
    }

    private func properties(of pair: TablePair?) -> [String: String] {
        guard let names, let pair else { return [:] }
        var properties: [String: String] = [:]
        for column in (pair.old?.columns ?? []) + (pair.new?.columns ?? []) {
            properties[column.name] = names.property(ofColumn: column.name, in: pair.name)
        }
        return properties
    }
}
