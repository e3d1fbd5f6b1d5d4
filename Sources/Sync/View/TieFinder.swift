internal import Changes

/// A finder of the dependencies of rows that are not shown, or not as their state has them.
///
/// Other dependencies can be found in the store, by the rows that refer to a row.
struct TieFinder {
    private let shown: [TableName: [RowID: ViewRow]]
    private let rings: [ViewKey: [RowID]]
    private let callers: [TableName: [ViewSchema.Reference]]
    private let parent: (ViewSchema.Reference, [Value]) -> RowID?
    private(set) var ties: Set<RowTie> = []

    init(
        _ view: View,
        _ tables: [TableName: TableMapping],
        parent: @escaping (ViewSchema.Reference, [Value]) -> RowID?
    ) {
        shown = view.shown.mapValues { rows in
            Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        }
        rings = view.rings
        callers = tables.callers
        self.parent = parent
    }

    mutating func look(at id: RowID, _ state: RowState, of table: TableMapping) {
        let row = shown[table.name]?[id]
        if case .row(let other)? = state.cell(.same)?.value, !other.isZero {
            ties.insert(RowTie(id: id, other: other))
        }
        // The row has its parent again once another row leaves the ring.
        for other in rings[ViewKey(table.name, id)] ?? [] where other != id {
            ties.insert(RowTie(id: id, other: other))
        }
        for reference in table.references {
            if reference.isByValue {
                tie(id, row, state, table, byValue: reference)
            } else {
                tie(id, row, state, table, reference)
            }
        }
        for reference in callers[table.name] ?? [] {
            guard let values = state.values(reference.targets) else { continue }
            let isShown = zip(reference.targets, values).allSatisfy { name, value in
                table.place(of: name).flatMap { row?.values[$0] } == value
            }
            if isShown { continue }
            let name = RowID(naming: values, by: reference)
            ties.insert(RowTie(id: id, other: name, kind: .isCalled))
        }
    }

    private mutating func tie(
        _ id: RowID,
        _ row: ViewRow?,
        _ state: RowState,
        _ table: TableMapping,
        _ reference: ViewSchema.Reference
    ) {
        for name in reference.columns {
            guard case .row(let other)? = state.cell(name)?.value, !other.isZero else { continue }
            if let row, let place = table.place(of: name), row.values[place] == .row(other) {
                continue
            }
            ties.insert(RowTie(id: id, other: other))
        }
    }

    private mutating func tie(
        _ id: RowID,
        _ row: ViewRow?,
        _ state: RowState,
        _ table: TableMapping,
        byValue reference: ViewSchema.Reference
    ) {
        guard let values = table.values(of: reference, in: state) else { return }
        let isShown = zip(reference.columns, values).allSatisfy { name, value in
            table.place(of: name).flatMap { row?.values[$0] } == value
        }
        let meant = reference.namedRow(in: state)
        let isThere = meant.map { shown[reference.table]?[$0] != nil } ?? true
        if let meant, !isShown || !isThere { ties.insert(RowTie(id: id, other: meant)) }
        let named = isThere ? meant ?? parent(reference, values) : parent(reference, values)
        if isShown, let named, shown[reference.table]?[named] != nil { return }
        ties.insert(RowTie(id: id, other: RowID(naming: values, by: reference)))
    }
}

extension [TableName: TableMapping] {
    /// The references by value to each table, one for each list of columns by which they name rows.
    var callers: [TableName: [ViewSchema.Reference]] {
        var callers: [TableName: [ViewSchema.Reference]] = [:]
        for reference in values.flatMap(\.references) where reference.isByValue {
            let known = callers[reference.table] ?? []
            if known.contains(where: { $0.targets == reference.targets }) { continue }
            callers[reference.table, default: []].append(reference)
        }
        return callers
    }
}
