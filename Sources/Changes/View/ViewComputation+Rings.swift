// Rows of which each is the parent of the next, so that no row without a parent reaches them.
extension ViewComputation {
    /// Cuts the rings that moves on several devices have made: each at the reference that was written last.
    ///
    /// A ring that one device made is meant, as is a row that is its own parent.
    mutating func cutRings() {
        for table in schema.tables {
            for reference in table.references where reference.table == table.name {
                for ring in rings(of: reference, in: table.name) { cut(ring, reference, in: table) }
            }
        }
    }

    private mutating func cut(
        _ ring: [RowID],
        _ reference: ViewSchema.Reference,
        in schemaTable: ViewSchema.Table
    ) {
        let table = schemaTable.name
        let edges = ring.map { (id: $0, stamp: stamp(of: reference, $0, in: table)) }
        let authors = Set(edges.filter { !$0.stamp.isZero }.map(\.stamp.device))
        guard authors.count > 1,
            let last = edges.max(by: { ($0.stamp, $0.id) < ($1.stamp, $1.id) }),
            var row = candidates[table]?[last.id]
        else { return }
        let empty = reference.empty ?? itself(reference, row, in: table)
        for (name, value) in zip(reference.columns, empty) {
            guard let place = place(name, in: table) else { continue }
            row.values[place] = value
        }
        // A CHECK may forbid it, and the row would go with all that is below it.
        if reference.empty == nil {
            guard schemaTable.key.isDisjoint(with: reference.columns),
                !schema.refuses(schemaTable, row)
            else { return }
        }
        // A default may name a row of the ring, or one that is not there.
        switch parent(reference, of: row, in: table) {
        case .row(let other) where other != last.id && ring.contains(other): return
        case .missing where !reference.yields: return
        case .none, .row, .missing: break
        }
        candidates[table]?[last.id] = row
        let key = ViewKey(table, last.id)
        emptied[key, default: []].formUnion(reference.columns)
        rings[key, default: []] += ring
    }

    /// Returns the values by which a row is its own parent, as roots are where each row must have one.
    private func itself(
        _ reference: ViewSchema.Reference,
        _ row: ViewRow,
        in table: TableName
    ) -> [Value] {
        reference.targets.isEmpty
            ? [.row(row.id)] : reference.targets.map { value($0, of: row, in: table) }
    }

    /// Returns the time and the author of a row's reference.
    private func stamp(
        of reference: ViewSchema.Reference,
        _ id: RowID,
        in table: TableName
    ) -> Stamp {
        reference.columns.compactMap { states[table]?[id]?.cell($0)?.stamp }.max() ?? .zero
    }

    /// Returns the rings of two or more rows; each row has one parent, so no two rings share a row.
    private func rings(of reference: ViewSchema.Reference, in table: TableName) -> [[RowID]] {
        let rows = candidates[table] ?? [:]
        var seen: Set<RowID> = []
        var found: [[RowID]] = []
        for start in rows.keys where !seen.contains(start) {
            var path: [RowID] = []
            var current = start
            while seen.insert(current).inserted, let row = rows[current] {
                path.append(current)
                guard case .row(let next) = parent(reference, of: row, in: table) else { break }
                if seen.contains(next), let place = path.firstIndex(of: next) {
                    if place < path.count - 1 { found.append(Array(path[place...])) }
                    break
                }
                current = next
            }
        }
        return found
    }
}
