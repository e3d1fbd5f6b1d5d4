internal import Changes
internal import Stores

/// The rows that a view is computed of: those that were altered, all that they depend on, and what depends
/// on them; or all rows.
///
/// What a row depends on is in the part before it is computed: the rows that it names, and theirs. So the
/// view of the part says of each of its rows what the view of all rows says. What depends on it comes in
/// once the view of the part shows that it is another.
struct ViewPart {
    /// A row as the store shows it.
    struct Shadow {
        var table: TableName
        var row: ShownRow
    }

    /// Whether it is everything.
    let isAll: Bool
    /// Its rows, known and unknown; none of everything.
    private(set) var ids: Set<RowID> = []
    /// Of everything, those that are alive.
    private(set) var rows: [RowID: KnownRow] = [:]
    /// Those that the store shows; none of everything.
    private(set) var shadow: [RowID: Shadow] = [:]
    /// Whether it needs what cannot be found: then everything is looked at.
    var isOpen = false
    /// Those whose dependants are in it.
    var spread: Set<RowID> = []
    /// Those that are not shown as they were, and whose children in the store are in it.
    var left: Set<RowID> = []

    let tables: [TableName: TableMapping]
    let callers: [TableName: [ViewSchema.Reference]]
    let access: SidecarAccess
    /// Whether more rows were altered than those that it begins with.
    private let isLimited: Bool
    private var unfilled: [RowID] = []
    private var unspread: [RowID] = []

    /// Makes the part that is everything.
    ///
    /// - Throws: `SidecarError`.
    init(all tables: [TableMapping], _ access: SidecarAccess) throws {
        (isAll, isLimited) = (true, false)
        self.tables = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        callers = [:]
        self.access = access
        try access.forEachKnown { if $0.state.isAlive { rows[$0.id] = $0 } }
    }

    /// Makes the part of rows that were altered.
    ///
    /// - Parameters:
    ///   - altered: the rows.
    ///   - isLimited: whether these are not all that were altered.
    ///   - tables: all that travel.
    ///   - access: the state.
    ///   - finder: the store.
    /// - Throws: `SidecarError`, `StoreError`.
    init(
        of altered: Set<RowID>,
        isLimited: Bool,
        _ tables: [TableMapping],
        _ access: SidecarAccess,
        _ finder: RowFinder
    ) throws {
        (isAll, self.isLimited) = (false, isLimited)
        self.tables = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        callers = self.tables.callers
        self.access = access
        for id in altered { try takeIn(id) }
        for id in altered { try spread(id) }
        try fill(finder)
    }

    /// Takes a row in; what it depends on follows with `fill`.
    mutating func add(_ id: RowID) throws {
        guard try takeIn(id) else { return }
        // It is looked at now, so that this is the time for what depends on it.
        if isLimited, try access.isAltered(id) { unspread.append(id) }
    }

    /// Takes a row in by itself.
    ///
    /// - Returns: `false` if it was in it.
    @discardableResult
    private mutating func takeIn(_ id: RowID) throws -> Bool {
        guard !id.isZero, ids.insert(id).inserted else { return false }
        rows[id] = try access.known(id)
        if let (table, row) = try access.placeOf(id) { shadow[id] = Shadow(table: table, row: row) }
        unfilled.append(id)
        return true
    }

    /// Takes in what the rows depend on, and what that depends on.
    mutating func fill(_ finder: RowFinder) throws {
        while true {
            guard let id = unfilled.popLast() else {
                guard let altered = unspread.popLast() else { return }
                try spread(altered)
                continue
            }
            guard let row = rows[id], row.state.isAlive, let table = tables[row.table] else {
                continue
            }
            if case .row(let other)? = row.state.cell(.same)?.value { try add(other) }
            for reference in table.references {
                if reference.isByValue {
                    guard let values = table.values(of: reference, in: row.state) else { continue }
                    try addRows(called: values, reference, finder)
                    continue
                }
                for name in reference.columns {
                    if case .row(let other)? = row.state.cell(name)?.value { try add(other) }
                }
            }
        }
    }

    /// Takes in the rows that values name.
    private mutating func addRows(
        called values: [Value],
        _ reference: ViewSchema.Reference,
        _ finder: RowFinder
    ) throws {
        guard let table = tables[reference.table] else { return }
        let name = RowID(naming: values, by: reference)
        for id in try access.rows(called: name) { try add(id) }
        // A row that is known by these values has their name.
        if try access.known(name) != nil { try add(name) }
        guard values.allSatisfy({ $0.reference == nil }) else {
            isOpen = true
            return
        }
        guard let stored = try stored(values) else { return }
        let terms = reference.targets.compactMap { table.sql(of: $0) }
        guard terms.count == stored.count else { return }
        for key in try finder.keys(of: table.schema, where: terms, are: stored) {
            if let id = try access.id(at: key, in: table.name) { try add(id) }
        }
    }

    /// Returns values as the store has them; `nil` if it cannot have them.
    private func stored(_ values: [Value]) throws -> [StoredValue]? {
        var stored: [StoredValue] = []
        for value in values {
            if case .row(let id) = value {
                guard case .rowID(let number)? = try access.shown(id)?.key else { return nil }
                stored.append(.integer(number))
            } else {
                guard let value = value.stored else { return nil }
                stored.append(value)
            }
        }
        return stored
    }

    /// Takes in the rows that may be shown otherwise since one is another.
    mutating func spread(_ id: RowID) throws {
        guard spread.insert(id).inserted else { return }
        for dependant in try access.dependants(on: id) { try add(dependant) }
        guard !callers.isEmpty else { return }
        var names = try access.names(of: id)
        if let row = rows[id] {
            for reference in callers[row.table] ?? [] {
                guard let values = row.state.values(reference.targets) else { continue }
                names.append(RowID(naming: values, by: reference))
            }
        }
        for name in names {
            for dependant in try access.dependants(on: name) { try add(dependant) }
        }
    }

    /// Lends the rows of a table that the store shows, in the order of their keys.
    func forEachShown(in table: TableName, _ body: (ShownRow) throws -> Void) throws {
        if isAll { return try access.forEachShown(in: table, body) }
        let rows = shadow.values.filter { $0.table == table }.map(\.row)
        for row in rows.sorted(by: { $0.key < $1.key }) { try body(row) }
    }
}

extension TableMapping {
    /// The column of a name, as SQL; `nil` if there is none.
    func sql(of name: ColumnName) -> String? {
        columns.first { $0.name == name }.map { schema.columns[$0.place].name.sqlIdentifier }
    }
}
