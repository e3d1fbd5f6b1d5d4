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
        let held = Dictionary(view.held.map { ($0.id, $0.why) }) { first, _ in first }
        let back = Set(plan.steps.filter { $0.new != nil }.map(\.id))
        for step in plan.steps where step.old != nil {
            guard let stored = try stored(step) else { continue }
            switch step.change {
            case .insert: break
            case .delete:
                let wires = try values.wires(stored, of: step.table)
                let known = try access.known(step.id)?.state
                let kind: Conflict.Kind =
                    switch held[step.id] {
                    case .unique, .yields: .yielded
                    case .same: .edited
                    case nil: back.contains(step.id) ? .edited : .deleted
                    default: .hidden
                    }
                let removal = Conflict(
                    kind,
                    step.table.name,
                    step.id,
                    cells: Array(zip(step.table.columns.map(\.name), wires)),
                    by: known?.deletion.device ?? .zero
                )
                try access.removed.add(removal, isSettled: false)
            case .update(let changes): try keep(changes.map(\.index), of: step, stored)
            }
        }
    }

    /// Records the values of a row that an update replaces.
    private func keep(_ indexes: [Int], of step: WritePlan.Step, _ stored: [StoredValue]) throws {
        let known = try access.known(step.id)?.state
        let emptied = view.emptied[step.id] ?? []
        for column in step.table.columns where indexes.contains(column.index) {
            let removal = Conflict(
                emptied.contains(column.name) ? .emptied : .edited,
                step.table.name,
                step.id,
                cell: (
                    column.name, try values.wire(stored[column.index], of: column),
                    known?.cell(column.name)
                )
            )
            try access.removed.add(removal, isSettled: false)
        }
    }

    /// Returns the stored columns of a step's row; `nil` if the application has deleted it meanwhile.
    private func stored(_ step: WritePlan.Step) throws -> [StoredValue]? {
        try finder.values(step.table.storedColumns, of: step.table.schema, at: step.key)
    }
}
