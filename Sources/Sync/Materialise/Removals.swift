internal import Changes
internal import Stores

/// The record of what a plan takes out of the store, as the store has it; it is kept before the store is written.
struct Removals {
    let values: WireValues
    let view: StoreView
    let finder: RowFinder

    private var access: SidecarAccess { values.access }

    /// Records each row that a plan deletes, and each value that it replaces.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func keep(_ plan: WritePlan) throws {
        let held = Dictionary(view.held.map { ($0.id, $0) }) { first, _ in first }
        let same = Dictionary(grouping: view.held.filter { $0.why == .same }) { $0.other }
        let back = Set(plan.steps.filter { $0.new != nil }.map(\.id))
        for step in plan.steps where step.old != nil {
            guard let stored = try stored(step) else { continue }
            switch step.change {
            case .insert: break
            case .delete:
                let wires = try values.wires(stored, of: step.table)
                let known = try access.states.known(step.id)?.state
                let why = held[step.id]?.why
                let removal = Conflict(
                    why == nil && !back.contains(step.id) ? .deleted : kind(of: why),
                    step.table.name,
                    step.id,
                    cells: Array(zip(step.table.columns.map(\.name), wires)),
                    by: known?.deletion.device ?? .zero
                )
                try access.removed.add(removal, isSettled: false)
                guard why == .same, let root = held[step.id]?.other else { continue }
                try listEdits(of: step, losingTo: [root], in: step.table.columns)
            case .update(let changes):
                let indexes = changes.map(\.index)
                let others = same[step.id]?.map(\.id) ?? []
                try keep(indexes, of: step, stored, others)
                if others.isEmpty { continue }
                let columns = step.table.columns.filter { indexes.contains($0.index) }
                try listEdits(of: step, losingTo: others, in: columns)
            }
        }
    }

    /// Returns the way in which a row goes that is held, or comes back at another key.
    private func kind(of why: HeldRow.Why?) -> Conflict.Kind {
        switch why {
        case .unique, .yields: .yielded
        case .same, nil: .edited
        default: .hidden
        }
    }

    /// Lists this device's edits of a row that lose to those of rows that are the same, and whose authors had not
    /// received them.
    private func listEdits(
        of step: WritePlan.Step,
        losingTo others: [RowID],
        in columns: [ColumnMapping]
    ) throws {
        guard let row = try access.states.known(step.id) else { return }
        let own = try access.membership.own
        let states = try others.compactMap { try access.states.known($0)?.state }
        for column in columns where !step.table.key.contains(column.name) {
            guard let lost = row.state.cell(column.name), lost.stamp.device == own else { continue }
            let rivals = states.compactMap { $0.cell(column.name) }.filter { lost.loses(to: $0) }
            guard let won = rivals.max(by: { $0.loses(to: $1) }), won.value != lost.value,
                won.stamp.device != own,
                try lost.stamp.clock > access.devices.heard(own, by: won.stamp)
            else { continue }
            try access.removed.add(Conflict(.edited, lost, of: row, winner: won), isSettled: false)
        }
    }

    /// Records the values of a row that an update replaces, by its own or by those of rows that are the same.
    private func keep(
        _ indexes: [Int],
        of step: WritePlan.Step,
        _ stored: [StoredValue],
        _ others: [RowID]
    ) throws {
        let states = try ([step.id] + others).compactMap { try access.states.known($0)?.state }
        let emptied = view.emptied[step.id] ?? []
        let wires = try values.wires(stored, of: step.table)
        for (column, lost) in zip(step.table.columns, wires) where indexes.contains(column.index) {
            let won = states.compactMap { $0.cell(column.name) }.max { $0.loses(to: $1) }
            let isEmptied = emptied.contains(column.name)
            // The row that it names has another name now.
            if !isEmptied, let named = lost.namedRow, named == won?.value.namedRow { continue }
            // An edit that lost is listed already.
            if let won, !isEmptied,
                try access.removed.losses(of: step.id, column.name, to: won.value).contains(where: {
                    column.stored($0) == lost.named
                })
            {
                continue
            }
            let removal = Conflict(
                isEmptied ? .emptied : .edited,
                step.table.name,
                step.id,
                cell: (column.name, lost, won)
            )
            try access.removed.add(removal, isSettled: false)
        }
    }

    /// Returns the stored columns of a step's row; `nil` if the application has deleted it meanwhile.
    private func stored(_ step: WritePlan.Step) throws -> [StoredValue]? {
        try finder.values(step.table.storedColumns, of: step.table.schema, at: step.key)
    }
}
