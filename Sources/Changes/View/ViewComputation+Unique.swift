extension ViewComputation {
    /// The rows that were inserted, and those that could not be.
    struct Insertion {
        var shown: [TableName: [RowID: ViewRow]] = [:]
        var held: [ViewKey: View.Reason] = [:]
        var emptied: [ViewKey: Set<ColumnName>] = [:]
        /// Whether this is the final result.
        ///
        /// If not, the held rows have to be excluded, and the insertion repeated.
        var settled = true
    }

    /// Inserts the rows into their tables, parents first and the oldest first.
    ///
    /// A row whose key is taken is held. If the key identifies it, the row with the key becomes its stand-in.
    func insert(_ lost: [ViewKey: View.Reason]) -> Insertion {
        var round = Round()
        var result = Insertion()
        for group in TableGroup.parentsFirst(schema.tables) {
            for (key, reason) in settle(group, lost, &round) {
                result.held[key] = reason
                result.settled = false
            }
        }
        if !result.settled { return result }
        result.shown = round.shown
        for (key, id) in round.standIns { result.held[key] = .unique(id) }
        result.held.merge(round.left) { $1 }
        result.emptied = round.emptied
        return result
    }

    /// The intermediate result of an insertion.
    private struct Round {
        var shown: [TableName: [RowID: ViewRow]] = [:]
        var standIns: [ViewKey: RowID] = [:]
        /// The rows that yield to others, and those that need them.
        var left: [ViewKey: View.Reason] = [:]
        var emptied: [ViewKey: Set<ColumnName>] = [:]
        /// The rows that break a CHECK with the parents that are shown.
        var refused: [ViewKey] = []
    }

    /// Inserts tables that refer to each other until the stand-ins no longer change; at most eight times.
    ///
    /// - Returns: the rows that cannot be shown at all.
    private func settle(
        _ group: TableGroup,
        _ lost: [ViewKey: View.Reason],
        _ round: inout Round
    ) -> [ViewKey: View.Reason] {
        let before = round
        var changed: Set<ViewKey> = []
        for _ in 0..<8 {
            var next = before
            for table in group.tables { insert(table, lost, round, &next) }
            let last = round
            round = next
            changed = Set(next.standIns.keys).union(last.standIns.keys)
                .filter { next.standIns[$0] != last.standIns[$0] }
            changed.formUnion(
                Set(next.left.keys).union(last.left.keys).filter { next.left[$0] != last.left[$0] }
            )
            if !group.isCyclic || changed.isEmpty {
                return Dictionary(next.refused.map { ($0, .refused) }) { first, _ in first }
            }
        }
        return Dictionary(changed.map { ($0, .unsettled) }) { first, _ in first }
    }

    /// Inserts a table's rows except the lost ones, with the parents of the last round.
    private func insert(
        _ table: ViewSchema.Table,
        _ lost: [ViewKey: View.Reason],
        _ last: Round,
        _ next: inout Round
    ) {
        var taken: [[UInt8]: (place: Int, id: RowID)] = [:]
        var shown: [RowID: ViewRow] = [:]
        let rows = (candidates[table.name] ?? [:]).values.sorted { $0.isOlder(than: $1) }
        for row in rows {
            let key = ViewKey(table.name, row.id)
            if lost[key] != nil { continue }
            guard let row = withParents(row, of: table, lost, last, &next) else { continue }
            if schema.refuses(table, row) {
                next.refused.append(key)
                continue
            }
            let keys = schema.uniqueKeys(table, row)
            let same = keys.filter(\.identifies).compactMap { taken[$0.bytes] }
            let others = keys.compactMap { taken[$0.bytes] }
            if let oldest = same.min(by: { $0.place < $1.place }) {
                next.standIns[key] = oldest.id
                continue
            }
            if let oldest = others.min(by: { $0.place < $1.place }) {
                next.left[key] = .yields(oldest.id)
                continue
            }
            for key in keys { taken[key.bytes] = (shown.count, row.id) }
            shown[row.id] = row
        }
        next.shown[table.name] = shown
    }

    /// Returns the values by which a row refers to its parent.
    ///
    /// A value that names the parent in another way, such as 'KG' for 'kg', stays.
    private func values(
        of reference: ViewSchema.Reference,
        naming parent: RowID,
        instead own: [Value],
        _ last: Round
    ) -> [Value] {
        if reference.targets.isEmpty { return own.map { _ in .row(parent) } }
        let table = reference.table
        guard let other = last.shown[table]?[parent] ?? candidates[table]?[parent] else {
            return own
        }
        let shown = reference.targets.map { value($0, of: other, in: table) }
        return reference.folded(shown) == reference.folded(own) ? own : shown
    }

    /// Returns the row with references to shown rows only; `nil` if it cannot be shown without one that is not.
    private func withParents(
        _ row: ViewRow,
        of table: ViewSchema.Table,
        _ lost: [ViewKey: View.Reason],
        _ last: Round,
        _ next: inout Round
    ) -> ViewRow? {
        var result = row
        let key = ViewKey(table.name, row.id)
        func empty(_ reference: ViewSchema.Reference, _ places: [Int]) {
            for (index, place) in places.enumerated() {
                result.values[place] = reference.empty?[index] ?? .null
            }
            next.emptied[key, default: []].formUnion(reference.columns)
        }
        for reference in table.references {
            let places = reference.columns.compactMap { place($0, in: table.name) }
            guard places.count == reference.columns.count else { continue }
            let named: RowID
            switch parent(reference, of: row, in: table.name) {
            case .none: continue
            case .row(let id) where lost[ViewKey(reference.table, id)] == nil: named = id
            case .row, .missing:
                empty(reference, places)
                continue
            }
            var parent = last.standIns[ViewKey(reference.table, named)] ?? named
            if let reason = last.left[ViewKey(reference.table, named)] {
                if let winner = winner(of: reason, reference, row, places, last) {
                    parent = winner
                } else if reference.yields {
                    empty(reference, places)
                    continue
                } else {
                    next.left[key] = .parent(reference.table, named)
                    return nil
                }
            }
            let shown = values(
                of: reference,
                naming: parent,
                instead: places.map { row.values[$0] },
                last
            )
            for (place, value) in zip(places, shown) { result.values[place] = value }
        }
        return result
    }

    /// Returns the row that is shown in the place of one that yields, if the values of a reference name it as well.
    private func winner(
        of reason: View.Reason,
        _ reference: ViewSchema.Reference,
        _ row: ViewRow,
        _ places: [Int],
        _ last: Round
    ) -> RowID? {
        guard case .yields(let id) = reason, !reference.targets.isEmpty,
            let other = last.shown[reference.table]?[id]
        else { return nil }
        let values = reference.targets.map { value($0, of: other, in: reference.table) }
        let own = places.map { row.values[$0] }
        return reference.folded(values) == reference.folded(own) ? id : nil
    }
}
