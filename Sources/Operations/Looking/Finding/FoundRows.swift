internal import Files
internal import Stores
internal import Sync

/// A row that was found, and how it is known in other states.
struct FoundRow {
    /// The store's path, printable.
    var store: String
    /// As the newest state has it in which the row was found.
    var table: TableSchema
    var isUTF8: Bool
    var identity: TableIdentity
    var key: RowKey
    var entity: String?
    /// The names of attributes by those of columns.
    var properties: [String: String]
}

/// The rows that are found in the stores of one state after the other.
final class FoundRows {
    /// A row's name in all states.
    private struct Name: Hashable {
        var store: String
        var table: String
        var key: RowKey
    }

    private struct Searched: Hashable {
        var store: String
        var mark: StoreMark
    }

    private let options: FindRows.Options
    private let context: OperationContext

    private(set) var rows: [FoundRow] = []
    /// Whether there are more than the limit.
    private(set) var hasMore = false
    private var names: Set<Name> = []
    private var searched: Set<Searched> = []

    // What was seen, for whoever named something that is not there.
    private var stores: Set<String> = []
    private var hasStore = false
    private var tables: Set<String> = []
    private var hasTable = false
    private var hasCompiled = false
    private var missingColumn: LookingError?
    private var passedOver: Set<String> = []
    private var obstacle: LookingError?

    init(_ options: FindRows.Options, _ context: OperationContext) {
        self.options = options
        self.context = context
    }

    /// Searches a store, unless one that is the same was searched.
    ///
    /// - Throws: `LookingError.badCondition`, `QueryError`; errors of reading the store.
    func search(_ store: SurveyedStore) throws {
        stores.formUnion(store.all)
        guard isChosen(store.path) else { return }
        hasStore = true
        guard !hasMore, searched.insert(Searched(store: store.path, mark: store.mark)).inserted
        else { return }
        context.tellDetail("searches '\(store.path)' in \(store.place)")
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
            if passedOver.insert("\(path) \(folded)").inserted {
                context.note("'\(table.name)' in '\(path)' is passed over: no key tells its rows")
            }
            return
        }
        let search = RowSearch(snapshot, check: context.checkCancellation)
        try translating(table) {
            try search.forEachKey(of: options.wanted, in: table, by: identity) { key in
                let name = Name(store: path, table: folded, key: key)
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

    /// Runs a search, and remembers that the table lacks a column: it may have it in another state.
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
        guard let name = options.store, path != name else { return true }
        return !stores.contains(name) && path.split(separator: "/").last.map(String.init) == name
    }

    private func chosenTables(of schema: StoreSchema, _ names: CoreDataNames?) -> [TableSchema] {
        // What a virtual table keeps in others is no row that anyone wrote.
        let ordinary = schema.tables.filter { $0.kind == .table }
        guard let wanted = options.table?.foldedIdentifier else { return ordinary }
        let choice = TableChoice(in: schema, names, place: "a store")
        if let found = choice.table(wanted, kinds: [.table, .shadow]) {
            hasTable = true
            return [found]
        }
        obstacle = obstacle ?? choice.obstacle(wanted)
        let all = schema.tables.filter { $0.kind == .table || $0.kind == .shadow }
        tables.formUnion(all.map(\.name) + all.compactMap { names?.entity(ofTable: $0.name) })
        return []
    }

    private static let anyPlace = "any of the backups, nor in the stores directory"

    /// Tells once that a text may be in what a module has the rows of.
    private func noteVirtualTables(of schema: StoreSchema, _ path: String) {
        guard options.table == nil else { return }
        let names = schema.tables.filter { $0.kind == .virtual }.map(\.name)
            .filter { passedOver.insert("\(path) \($0)").inserted }
        guard let first = names.first else { return }
        let more = names.count > 1 ? " and \(names.count - 1) more" : ""
        context.note("the virtual table '\(first)'\(more) in '\(path)' is passed over")
    }

    /// Throws if a store, a table or a column was named that no state has.
    ///
    /// - Throws: `LookingError`.
    func checkNames() throws {
        guard !stores.isEmpty else { return }
        let place = Self.anyPlace
        if let name = options.store, !hasStore {
            throw LookingError.noStore(name, in: place, stores: stores.sorted())
        }
        guard hasStore, !tables.isEmpty || hasTable || missingColumn != nil else { return }
        if let name = options.table, !hasTable {
            if let obstacle { throw obstacle }
            throw LookingError.noTable(name, in: place, tables: tables.sorted())
        }
        if !hasCompiled, let missingColumn { throw missingColumn }
    }
}
