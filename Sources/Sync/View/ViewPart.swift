internal import Changes
internal import Stores

/// The rows that a view is computed from: the altered ones, all that they depend on, and all that depend on them; or
/// all rows.
///
/// The rows that a row names, and those that they name, are in the part before it is computed. So the view of the
/// part agrees with the view of all rows. The rows that depend on a row are added once the view of the part shows
/// that the row has changed.
struct ViewPart {
    /// A row as the store shows it.
    struct Place {
        var table: TableName
        var row: ShownRow
    }

    /// Whether it contains all rows.
    let isAll: Bool
    /// The ids of its rows, known and unknown; empty if it contains all rows.
    private(set) var ids: Set<RowID> = []
    /// The known rows; if it contains all rows, those that are alive.
    private(set) var rows: [RowID: KnownRow] = [:]
    /// The rows that the store shows; empty if it contains all rows.
    private(set) var shadow: [RowID: Place] = [:]
    /// Whether it needs rows that cannot be found, so that all rows must be computed.
    var isOpen = false
    /// The rows whose dependants are in the part.
    var spread: Set<RowID> = []
    /// The rows that are not shown as they were, and whose children in the store are in the part.
    var left: Set<RowID> = []

    let tables: [TableName: TableMapping]
    let callers: [TableName: [ViewSchema.Reference]]
    let access: SidecarAccess
    /// Whether more rows were altered than those with which the part begins.
    private let isLimited: Bool
    private var unfilled: [RowID] = []
    private var unspread: [RowID] = []

    /// Creates the part that contains all rows.
    ///
    /// - Throws: `SidecarError`.
    init(all tables: [TableMapping], _ access: SidecarAccess) throws {
        (isAll, isLimited) = (true, false)
        self.tables = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        callers = [:]
        self.access = access
        try access.states.forEach { if $0.state.isAlive { rows[$0.id] = $0 } }
    }

    /// Creates the part of altered rows.
    ///
    /// - Parameters:
    ///   - altered: the rows.
    ///   - isLimited: whether more rows were altered than these.
    ///   - tables: all tables that sync.
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

    /// Adds a row; `fill` then adds the rows that it depends on.
    mutating func add(_ id: RowID) throws {
        guard try takeIn(id) else { return }
        // The row was altered and is computed now, so its dependants must be added as well.
        if isLimited, try access.dirty.isAltered(id) { unspread.append(id) }
    }

    /// Adds rows with all that they depend on.
    mutating func widen(to ids: Set<RowID>, _ finder: RowFinder) throws {
        for id in ids { try add(id) }
        try fill(finder)
    }

    /// Adds a row by itself.
    ///
    /// - Returns: `false` if the part contained it.
    @discardableResult
    private mutating func takeIn(_ id: RowID) throws -> Bool {
        guard !id.isZero, ids.insert(id).inserted else { return false }
        rows[id] = try access.states.known(id)
        shadow[id] = try access.shadow.place(of: id).map { Place(table: $0.table, row: $0.row) }
        unfilled.append(id)
        return true
    }

    /// Adds all rows that the rows depend on, directly or through others.
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
            // A row is shown with the later cells of those that are the same.
            for other in try access.held.standingBehind(id, why: [.same]) { try add(other) }
            for reference in table.references {
                if reference.isByValue {
                    guard let values = table.values(of: reference, in: row.state) else { continue }
                    if let named = reference.namedRow(in: row.state) { try add(named) }
                    try addRows(called: values, reference, finder)
                    continue
                }
                for name in reference.columns {
                    if case .row(let other)? = row.state.cell(name)?.value { try add(other) }
                }
            }
        }
    }

    /// Adds the rows that values name.
    private mutating func addRows(
        called values: [Value],
        _ reference: ViewSchema.Reference,
        _ finder: RowFinder
    ) throws {
        guard let table = tables[reference.table] else { return }
        let name = RowID(naming: values, by: reference)
        for id in try access.held.rows(called: name) { try add(id) }
        // A row's id may have been made of these values.
        let id = RowID(key: Array(zip(reference.targets, values)), in: reference.table)
        if try access.states.known(id) != nil { try add(id) }
        guard values.allSatisfy({ $0.reference == nil }) else {
            isOpen = true
            return
        }
        guard let stored = try stored(values) else { return }
        let terms = reference.targets.compactMap { table.sql(of: $0) }
        guard terms.count == stored.count else { return }
        for key in try finder.keys(of: table.schema, where: terms, are: stored) {
            if let id = try access.shadow.id(at: key, in: table.name) { try add(id) }
        }
    }

    /// Returns values as the store has them; `nil` if the store cannot contain them.
    private func stored(_ values: [Value]) throws -> [StoredValue]? {
        var stored: [StoredValue] = []
        for value in values {
            if case .row(let id) = value {
                guard case .rowID(let number)? = try access.shadow.row(id)?.key else { return nil }
                stored.append(.integer(number))
            } else {
                guard let value = value.stored else { return nil }
                stored.append(value)
            }
        }
        return stored
    }

    /// Adds the rows that may be shown differently since a row has changed.
    mutating func spread(_ id: RowID) throws {
        guard spread.insert(id).inserted else { return }
        for dependant in try access.held.dependants(on: id) { try add(dependant) }
        guard !callers.isEmpty else { return }
        var names = try access.held.names(of: id)
        if let row = rows[id] {
            for reference in callers[row.table] ?? [] {
                guard let values = row.state.values(reference.targets) else { continue }
                names.append(RowID(naming: values, by: reference))
            }
        }
        for name in names {
            for dependant in try access.held.dependants(on: name) { try add(dependant) }
        }
    }

    /// Passes the rows of a table that the store shows, in the order of their keys.
    func forEachShown(in table: TableName, _ body: (ShownRow) throws -> Void) throws {
        if isAll { return try access.shadow.forEach(in: table, body) }
        let rows = shadow.values.filter { $0.table == table }.map(\.row)
        for row in rows.sorted(by: { $0.key < $1.key }) { try body(row) }
    }
}

extension TableMapping {
    /// Returns the column with a name, as SQL; `nil` if there is none.
    func sql(of name: ColumnName) -> String? {
        columns.first { $0.name == name }.map { schema.columns[$0.place].name.sqlIdentifier }
    }
}
