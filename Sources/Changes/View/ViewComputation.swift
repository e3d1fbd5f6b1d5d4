/// The computation of a view in steps; see section 7 of Documentation/Design/Sync.md.
struct ViewComputation {
    let schema: ViewSchema
    let tables: [TableName: ViewSchema.Table]
    private(set) var states: [TableName: [RowID: RowState]]
    /// The index of each column in its table's rows.
    private let places: [TableName: [ColumnName: Int]]

    /// The rows that may be shown, with the values of their cells.
    var candidates: [TableName: [RowID: ViewRow]] = [:]
    /// The rows that are the same as others by `#same`, with these others.
    var roots: [ViewKey: RowID] = [:]
    var held: [ViewKey: View.Reason] = [:]
    /// The held rows that only a later round found.
    private(set) var late: Set<ViewKey> = []
    /// The rows that are shown.
    var shown: [TableName: [RowID: ViewRow]] = [:]
    /// The references that are shown empty.
    var emptied: [ViewKey: Set<ColumnName>] = [:]
    /// The rows whose reference was cut, with the rows of their rings.
    var rings: [ViewKey: [RowID]] = [:]

    init(_ states: [TableName: [RowID: RowState]], _ schema: ViewSchema) {
        self.states = states
        self.schema = schema
        tables = Dictionary(schema.tables.map { ($0.name, $0) }) { first, _ in first }
        places = tables.mapValues { table in
            Dictionary(zip(table.columns.map(\.name), table.columns.indices)) { first, _ in first }
        }
    }

    mutating func run() {
        collect()
        followSame()
        refuse()
        cutRings()
        // Each round that is not the last holds one more row, and no held row returns.
        while true {
            let lost = holdOrphans()
            let found = insert(lost)
            if found.settled {
                for (key, reason) in lost.merging(found.held, uniquingKeysWith: { $1 }) {
                    held[key] = reason
                }
                shown = found.shown
                emptied.merge(found.emptied) { $0.union($1) }
                emptied = emptied.filter { shown[$0.key.table]?[$0.key.id] != nil }
                return
            }
            for (key, reason) in found.held {
                held[key] = reason
                late.insert(key)
                candidates[key.table]?[key.id] = nil
            }
        }
    }

    /// Collects the rows that are alive and born, with the schema's value for each missing cell.
    private mutating func collect() {
        for table in schema.tables { candidates[table.name] = [:] }
        for (name, rows) in states {
            guard let table = tables[name] else {
                for (id, state) in rows where state.isAlive && !id.isZero {
                    held[ViewKey(name, id)] = .noTable
                }
                continue
            }
            var found: [RowID: ViewRow] = [:]
            found.reserveCapacity(rows.count)
            for (id, state) in rows where state.isAlive && !id.isZero {
                guard let birth = state.birth else {
                    held[ViewKey(name, id)] = .unborn
                    continue
                }
                found[id] = ViewRow(id: id, birth: birth, values: values(of: state, in: table))
            }
            candidates[name] = found
        }
    }

    private func values(of state: RowState, in table: ViewSchema.Table) -> [Value] {
        table.columns.map { (state.cell($0.name)?.value ?? $0.missing).unmarked }
    }

    /// Holds each row that is the same as another, which gets the later of their cells.
    private mutating func followSame() {
        for (name, rows) in candidates {
            let states = states[name] ?? [:]
            var next: [RowID: RowID] = [:]
            for id in rows.keys {
                if case .row(let target) = states[id]?.cell(.same)?.value, target != id,
                    rows[target] != nil
                {
                    next[id] = target
                }
            }
            var found: [RowID: RowID] = [:]
            for start in next.keys { findRoot(of: start, in: rows, next, &found) }
            for (id, root) in found.sorted(by: { $0.key < $1.key }) where id != root {
                roots[ViewKey(name, id)] = root
                held[ViewKey(name, id)] = .same(root)
                candidates[name]?[id] = nil
                if let table = tables[name], let state = states[id] {
                    take(state.cells, into: root, of: table)
                }
            }
        }
    }

    /// Adds the later cells of a row to the one that it is the same as, except for those of its key.
    private mutating func take(_ cells: [Cell], into root: RowID, of table: ViewSchema.Table) {
        guard let own = states[table.name]?[root] else { return }
        let cells = cells.filter { cell in
            guard !cell.column.isReserved, !table.key.contains(cell.column) else { return false }
            return own.cell(cell.column).map { $0.stamp < cell.stamp } ?? true
        }
        let other = RowState(causalLength: own.causalLength, birth: nil, cells: cells)
        let state = own.joined(with: other)
        states[table.name]?[root] = state
        let values = values(of: state, in: table)
        candidates[table.name]?[root]?.values = values
    }

    /// Follows a chain to its end, or to the oldest row of a cycle.
    ///
    /// It records the result for all rows on the way.
    private func findRoot(
        of start: RowID,
        in rows: [RowID: ViewRow],
        _ next: [RowID: RowID],
        _ found: inout [RowID: RowID]
    ) {
        var path: [RowID] = []
        var places: [RowID: Int] = [:]
        var current = start
        while found[current] == nil, places[current] == nil, let target = next[current] {
            places[current] = path.count
            path.append(current)
            current = target
        }
        var root = found[current] ?? current
        if found[current] == nil, let place = places[current] {
            let cycle = path[place...].compactMap { rows[$0] }
            root = cycle.min { $0.isOlder(than: $1) }?.id ?? current
        }
        for id in path { found[id] = root }
    }

    /// Holds the rows that their table would refuse, regardless of other rows.
    private mutating func refuse() {
        var refused: [ViewKey] = []
        for table in schema.tables {
            let referring = Set(table.references.flatMap(\.columns))
            for (id, row) in candidates[table.name] ?? [:] {
                let key = ViewKey(table.name, id)
                let wrong = zip(table.columns, row.values).first { column, value in
                    if case .row = value { !referring.contains(column.name) } else { false }
                }
                if let wrong {
                    held[key] = .noReference(wrong.0.name)
                } else if let row = withoutMissing(row, of: table), schema.refuses(table, row) {
                    held[key] = .refused
                } else {
                    continue
                }
                refused.append(key)
            }
        }
        for key in refused { candidates[key.table]?[key.id] = nil }
    }

    /// Returns a row without its references to rows that are no candidates; `nil` if it needs one of these.
    private func withoutMissing(_ row: ViewRow, of table: ViewSchema.Table) -> ViewRow? {
        var result = row
        for reference in table.references {
            guard case .missing = parent(reference, of: row, in: table.name) else { continue }
            guard reference.yields, let empty = reference.empty else { return nil }
            for (name, value) in zip(reference.columns, empty) {
                if let place = place(name, in: table.name) { result.values[place] = value }
            }
        }
        return result
    }

    /// The target of a row's reference.
    enum Parent {
        /// The reference names no row: a value is NULL, or named none where it was written.
        case none
        /// The reference names a candidate.
        case row(RowID)
        case missing(RowID?)
    }

    func parent(_ reference: ViewSchema.Reference, of row: ViewRow, in table: TableName) -> Parent {
        let values = reference.columns.map { value($0, of: row, in: table) }
        if values.contains(.null) || isPlain(reference, values, row, table) { return .none }
        if let meant = meant(by: reference, row, table).map({ root(of: $0, in: reference.table) }),
            candidates[reference.table]?[meant] != nil
        {
            return .row(meant)
        }
        guard let named = schema.parent(reference, values) else { return .missing(nil) }
        let id = root(of: named, in: reference.table)
        return candidates[reference.table]?[id] == nil ? .missing(id) : .row(id)
    }

    private func root(of id: RowID, in table: TableName) -> RowID {
        roots[ViewKey(table, id)] ?? id
    }

    /// Returns the row that the values of a reference by value named where they were written, if they say so.
    private func meant(
        by reference: ViewSchema.Reference,
        _ row: ViewRow,
        _ table: TableName
    ) -> RowID? {
        guard !reference.targets.isEmpty, let state = states[table]?[row.id],
            let id = reference.namedRow(in: state)
        else { return nil }
        // Other values are those of a ring that was cut.
        let isOther = reference.columns.contains { name in
            guard let cell = state.cell(name), cell.value.namedRow != nil else { return false }
            return cell.value.unmarked != value(name, of: row, in: table)
        }
        return isOther ? nil : id
    }

    /// Returns whether the values of a reference named no row where they were written.
    private func isPlain(
        _ reference: ViewSchema.Reference,
        _ values: [Value],
        _ row: ViewRow,
        _ table: TableName
    ) -> Bool {
        if reference.targets.isEmpty { return ViewSchema.rowID(reference, values) == nil }
        guard let state = states[table]?[row.id] else { return false }
        return reference.columns.contains { name in
            let missing = place(name, in: table).flatMap { tables[table]?.columns[$0].missing }
            if case .plain? = state.cell(name)?.value ?? missing { return true }
            return false
        }
    }

    /// Returns a column's value, or NULL if the column does not sync.
    func value(_ column: ColumnName, of row: ViewRow, in table: TableName) -> Value {
        place(column, in: table).map { row.values[$0] } ?? .null
    }

    func place(_ column: ColumnName, in table: TableName) -> Int? {
        places[table]?[column]
    }

    /// Returns the rows that need a parent and lack it.
    ///
    /// This is the greatest fixpoint: rows in a cycle keep each other shown.
    private func holdOrphans() -> [ViewKey: View.Reason] {
        var children: [ViewKey: [ViewKey]] = [:]
        var lost: [ViewKey: View.Reason] = [:]
        var queue: [ViewKey] = []
        for table in schema.tables {
            let references = table.references.filter { !$0.yields }
            if references.isEmpty { continue }
            for row in (candidates[table.name] ?? [:]).values {
                let key = ViewKey(table.name, row.id)
                for reference in references {
                    switch parent(reference, of: row, in: table.name) {
                    case .none: break
                    case .row(let id):
                        children[ViewKey(reference.table, id), default: []].append(key)
                    case .missing(let id):
                        if lost.updateValue(.parent(reference.table, id), forKey: key) == nil {
                            queue.append(key)
                        }
                    }
                }
            }
        }
        while let gone = queue.popLast() {
            for child in children[gone] ?? [] where lost[child] == nil {
                lost[child] = .parent(gone.table, gone.id)
                queue.append(child)
            }
        }
        return lost
    }
}
