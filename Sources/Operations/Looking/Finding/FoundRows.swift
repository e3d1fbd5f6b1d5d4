internal import Files
internal import Stores
internal import Sync

/// A row that was found, and its identity in other states.
struct FoundRow {
    /// The store's path, printable.
    var store: String
    /// The table in the newest state in which the row was found.
    var table: TableSchema
    var isUTF8: Bool
    var identity: TableIdentity
    var key: RowKey
    var entity: String?
    /// The attribute names by column name.
    var properties: [String: String]
}

/// The rows found in the stores of the states, one state at a time.
final class FoundRows {
    /// A row's identity across all states.
    private struct Name: Hashable {
        var store: ExactString
        var table: ExactString
        var key: RowKey
    }

    private struct Searched: Hashable {
        var store: ExactString
        var mark: StoreMark
    }

    private let options: FindRows.Options
    private let context: OperationContext

    private(set) var rows: [FoundRow] = []
    /// Whether more rows match than the limit allows.
    private(set) var hasMore = false
    private var names: Set<Name> = []
    private var searched: Set<Searched> = []

    // What the search saw, for the error message if a named store, table or column does not exist.
    private var stores: Set<ExactString> = []
    private var hasStore = false
    private var tables: Set<ExactString> = []
    private var hasTable = false
    private var hasCompiled = false
    private var missingColumn: LookingError?
    private var passedOver: Set<ExactString> = []
    private var obstacle: LookingError?

    init(_ options: FindRows.Options, _ context: OperationContext) {
        self.options = options
        self.context = context
    }

    /// Records the paths of all stores of a state, before any of them is searched.
    func note(_ paths: [String]) { stores.formUnion(paths.map(\.exact)) }

    /// Searches a store, unless an equal one was already searched.
    ///
    /// - Throws: `LookingError.badCondition`, `QueryError`; errors reading the store.
    func search(_ store: SurveyedStore) throws {
        guard isChosen(store.path) else { return }
        hasStore = true
        guard !hasMore,
            searched.insert(Searched(store: store.path.exact, mark: store.mark)).inserted
        else { return }
        context.reportDetail("searches '\(store.path)' in \(store.place)")
        let snapshot = try store.open()
        let schema = try snapshot.schema()
        let names =
            schema.isCoreData
            ? try snapshot.reading { try CoreDataNames(ReadableStore(snapshot), schema) } : nil
        noteVirtualTables(of: schema, store.path)
        for table in chosenTables(of: schema, names) where !hasMore {
            do {
                try search(table, of: schema, names, in: snapshot, store.path)
            } catch StoreError.unreadable(_, let reason) {
                context.warn(
                    "the rows of '\(table.name)' in '\(store.path)' in \(store.place) are not searched: \(reason)"
                )
            }
        }
    }

    private func search(
        _ table: TableSchema,
        of schema: StoreSchema,
        _ names: CoreDataNames?,
        in snapshot: StoreSnapshot,
        _ path: String
    ) throws {
        let isUTF8 = schema.encoding == "UTF-8"
        let identity = TableIdentity(of: table, and: table, isUTF8: isUTF8)
        let folded = table.name.foldedIdentifier
        guard identity != .content else {
            if passedOver.insert("\(path) \(folded)".exact).inserted {
                context.note("'\(table.name)' in '\(path)' is passed over: its rows have no key")
            }
            return
        }
        let search = RowSearch(snapshot, check: context.checkCancellation)
        try translating(table) {
            try search.forEachKey(of: options.wanted, in: table, by: identity) { key in
                let name = Name(store: path.exact, table: folded, key: key)
                guard !self.names.contains(name) else { return true }
                guard rows.count < options.rowLimit else {
                    hasMore = true
                    return false
                }
                self.names.insert(name)
                rows.append(
                    FoundRow(
                        store: path,
                        table: table,
                        isUTF8: isUTF8,
                        identity: identity,
                        key: key,
                        entity: names?.entity(ofTable: table.name),
                        properties: properties(of: table, names)
                    )
                )
                return true
            }
        }
    }

    private func properties(of table: TableSchema, _ names: CoreDataNames?) -> [String: String] {
        guard let names else { return [:] }
        var properties: [String: String] = [:]
        for column in table.columns {
            properties[column.name] = names.property(ofColumn: column.name, in: table.name)
        }
        return properties
    }

    /// Runs a search.
    ///
    /// If the table lacks a column, remembers that: the table of another state may have it.
    private func translating(_ table: TableSchema, _ search: () throws -> Void) throws {
        guard case .condition(let condition) = options.wanted else { return try search() }
        do {
            try search()
            hasCompiled = true
        } catch QueryError.wrong(let reason, _, _) {
            let missing = "no such column: "
            guard reason.hasPrefix(missing) else {
                throw LookingError.badCondition(condition, reason: reason)
            }
            let name = reason.dropFirst(missing.count).split(separator: ".").last.map(String.init)
            missingColumn =
                missingColumn
                ?? .noColumn(name ?? "", table: table.name, columns: table.columns.map(\.name))
        }
    }

    // MARK: - Names

    private func isChosen(_ path: String) -> Bool {
        guard let name = options.store else { return true }
        // A person types a store's name, or copies how it is printed.
        let names = [(try? RelativePath(name))?.description.exact, name.exact].compactMap(\.self)
        if let named = names.first(where: stores.contains) { return path.exact == named }
        let last = path.utf8.split(separator: UInt8(ascii: "/")).last
        return names.contains(path.exact) || last?.elementsEqual(name.utf8) ?? false
    }

    private func chosenTables(of schema: StoreSchema, _ names: CoreDataNames?) -> [TableSchema] {
        // The shadow tables of a virtual table contain no rows that a user wrote.
        let ordinary = schema.tables.filter { $0.kind == .table }
        guard let wanted = options.table else { return ordinary }
        let choice = TableChoice(in: schema, names, place: "a store")
        if let found = choice.table(wanted, kinds: [.table, .shadow]) {
            hasTable = true
            return [found]
        }
        obstacle = obstacle ?? choice.obstacle(wanted)
        let all = schema.tables.filter { $0.kind == .table || $0.kind == .shadow }
        tables.formUnion(all.map(\.name.exact))
        tables.formUnion(all.compactMap { names?.entity(ofTable: $0.name)?.exact })
        return []
    }

    private static let anyPlace = "any of the backups, nor in the stores directory"

    /// Reports once that virtual tables are not searched.
    private func noteVirtualTables(of schema: StoreSchema, _ path: String) {
        guard options.table == nil else { return }
        let names = schema.tables.filter { $0.kind == .virtual }.map(\.name)
            .filter { passedOver.insert("\(path) \($0)".exact).inserted }
        guard let first = names.first else { return }
        let more = names.count > 1 ? " and \(names.count - 1) more" : ""
        context.note("the virtual table '\(first)'\(more) in '\(path)' is passed over")
    }

    /// Checks that at least one state has the named store, table and columns.
    ///
    /// - Throws: `LookingError` if none has.
    func checkNames() throws {
        guard !stores.isEmpty else { return }
        let place = Self.anyPlace
        if let name = options.store, !hasStore {
            throw LookingError.noStore(name, in: place, stores: stores.sorted().map(\.text))
        }
        guard hasStore, !tables.isEmpty || hasTable || missingColumn != nil else { return }
        if let name = options.table, !hasTable {
            if let obstacle { throw obstacle }
            throw LookingError.noTable(name, in: place, tables: tables.sorted().map(\.text))
        }
        if !hasCompiled, let missingColumn { throw missingColumn }
    }
}
