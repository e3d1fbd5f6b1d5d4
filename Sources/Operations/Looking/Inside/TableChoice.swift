internal import Files
internal import Stores
internal import Sync

/// A lookup of a store's tables by names from users: the table's own, or that of its entity.
struct TableChoice {
    private let schema: StoreSchema
    private let names: CoreDataNames?
    /// The store, or the states that have it, for messages.
    private let place: String

    init(in schema: StoreSchema, _ names: CoreDataNames?, place: String) {
        (self.schema, self.names, self.place) = (schema, names, place)
    }

    /// Returns the table with a name, among the tables of some kinds; `nil` if there is none.
    func table(_ name: String, kinds: Set<TableSchema.Kind> = [.table]) -> TableSchema? {
        let folded = name.foldedIdentifier
        let tables = schema.tables.filter { kinds.contains($0.kind) }
        return tables.first { $0.name.foldedIdentifier == folded }
            ?? tables.first { names?.entity(ofTable: $0.name)?.foldedIdentifier == folded }
    }

    /// Returns the ordinary table with a name.
    ///
    /// - Throws: `LookingError`, which says what else has the name, or which name is similar.
    func require(_ name: String) throws -> TableSchema {
        if let table = table(name) { return table }
        throw obstacle(name)
            ?? LookingError.noTable(name, in: place, tables: schema.tables(called: names))
    }

    /// Returns an error if something other than an ordinary table has the name; `nil` if nothing has.
    func obstacle(_ name: String) -> LookingError? {
        if let other = schema.table(name) {
            switch other.kind {
            case .table: return nil
            case .view: return .notOfRows(.view, other.name, of: nil, in: place)
            case .virtual: return .notOfRows(.virtual, other.name, of: nil, in: place)
            case .shadow:
                let owner = schema.virtualTable(ofShadow: other.name)?.name
                return .notOfRows(.shadow, other.name, of: owner, in: place)
            }
        }
        guard let names, let found = names.subentity(name) else { return nil }
        return .subentity(name, of: found.root, number: found.number, in: place)
    }
}

extension StoreSchema {
    /// Returns the names of the entities of all ordinary tables, and then the names of these tables.
    fileprivate func tables(called names: CoreDataNames?) -> [String] {
        let tables = tables.filter { $0.kind == .table }.map(\.name)
        return tables.compactMap { names?.entity(ofTable: $0) } + tables
    }
}
