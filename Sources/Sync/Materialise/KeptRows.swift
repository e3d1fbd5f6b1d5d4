internal import Changes
internal import Stores

/// The rows that were deleted elsewhere and stay here, since rows of tables that do not sync refer to them.
///
/// A foreign key with NO ACTION or RESTRICT would have kept the application from deleting them, unless it does not turn
/// foreign keys on, as a store shows in which one is broken.
struct KeptRows {
    let schema: SyncSchema
    let values: WireValues
    let finder: RowFinder

    /// Keeps the rows of a plan that have to stay, and lists them with all their values.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func keep(_ plan: inout WritePlan, _ view: StoreView) throws {
        let gone = Set(view.held.filter { $0.why != .parent && $0.why != .refused }.map(\.id))
        let back = Set(plan.steps.filter { $0.new != nil }.map(\.id)).union(gone)
        let steps = plan.steps.filter { $0.new == nil && !back.contains($0.id) }
        if steps.isEmpty { return }
        var kept: [RowID: String] = [:]
        for keeper in schema.outsideReferences where keeper.forbidsDeletion {
            let named = try finder.rows(naming: steps, by: keeper)
            // The check reads all of the table.
            if named.isEmpty || finder.breaksForeignKeys(keeper.table) { continue }
            for (_, id) in named { kept[id] = keeper.table.name }
        }
        var count = 0
        while kept.count > count {
            count = kept.count
            // A row that a kept one belongs to stays as well.
            for table in view.tables {
                for keeper in schema.table(table.schema.name)?.keepers ?? [] {
                    for (key, id) in try finder.rows(naming: steps, by: keeper)
                    where kept[id] == nil {
                        guard let child = try values.access.shadow.id(at: key, in: table.name),
                            kept[child] != nil
                        else { continue }
                        kept[id] = table.schema.name
                    }
                }
            }
        }
        for step in steps {
            guard let keeper = kept[step.id] else { continue }
            try list(step, keeper)
        }
        plan.leave(Set(kept.keys))
    }

    private func list(_ step: WritePlan.Step, _ keeper: String) throws {
        let access = values.access
        let row = HeldRow(id: step.id, table: step.table.name, why: .kept, words: keeper)
        try access.held.add(row)
        let columns = step.table.storedColumns
        guard let stored = try finder.values(columns, of: step.table.schema, at: step.key) else {
            return
        }
        let wires = try values.wires(stored, of: step.table)
        try access.removed.keep(Array(zip(step.table.columns.map(\.name), wires)), of: step.id)
    }
}

extension SyncTable {
    /// Its references, each as one that keeps the row that it names.
    fileprivate var keepers: [OutsideReference] {
        references.map { reference in
            OutsideReference(
                table: schema,
                columns: reference.columns,
                parent: reference.parent,
                parentColumns: reference.parentColumns,
                onDelete: .none
            )
        }
    }
}

extension RowFinder {
    /// Returns the keys of the rows that refer to rows of steps, with the ids of these.
    fileprivate func rows(
        naming steps: [WritePlan.Step],
        by keeper: OutsideReference
    ) throws -> [(row: RowKey, id: RowID)] {
        let steps = steps.filter { $0.table.schema.name.foldedIdentifier == keeper.parent }
        guard let parent = steps.first?.table.schema else { return [] }
        if parent.areRowID(keeper.parentColumns) {
            let ids = Dictionary(steps.map { ($0.key, $0.id) }) { first, _ in first }
            let numbers = steps.compactMap(\.key.number)
            let column = keeper.columns[0]
            return try keys(of: keeper.table, whereColumn: column, isIn: numbers).compactMap {
                row in
                let value = try values([column], of: keeper.table, at: row)?.first
                let number = value.map { KeyComparison.folded($0, .integer) }
                guard case .integer(let number)? = number, let id = ids[.rowID(number)] else {
                    return nil
                }
                return (row, id)
            }
        }
        let terms = keeper.columns.map { keeper.table.columns[$0].name.sqlIdentifier }
        return try steps.flatMap { step -> [(row: RowKey, id: RowID)] in
            let named = try values(keeper.parentColumns, of: parent, at: step.key)
            guard let named, !named.contains(.null) else { return [] }
            return try keys(of: keeper.table, where: terms, are: named).map { ($0, step.id) }
        }
    }
}
