internal import Changes
internal import Stores

/// The changes to a store's rows that make it show its view.
struct WritePlan {
    /// The change of one row.
    struct Step {
        enum Change {
            case insert([StoredValue?])
            /// The indices of stored columns, with their new values.
            case update([(index: Int, value: StoredValue)])
            case delete
        }

        var table: TableMapping
        var id: RowID
        var causalLength: UInt32
        var key: RowKey
        /// The row in the shadow; `nil` for a row that does not exist.
        var old: RowImage?
        /// The row as SQLite will have it; `nil` for a deleted row.
        var new: RowImage?
        var change: Change
        /// The places of the columns whose values name no row.
        var plain: Set<Int> = []

        /// Returns the step as an intent, for the sidecar to keep or to settle.
        ///
        /// - Parameter image: the planned row, or the row as SQLite now has it; `nil` for a deleted row.
        /// - Returns: the intent.
        func intent(new image: RowImage?) -> Intent {
            Intent(
                table: table.name,
                key: key,
                id: id,
                causalLength: causalLength,
                old: old,
                new: image
            )
        }
    }

    private(set) var steps: [Step] = []
    /// The rows that differ from the view and stay so for now, with their tables.
    private(set) var waiting: [RowID: TableName] = [:]

    /// The rows that other rows are now, by these, as after a change of the key.
    let successors: [RowID: RowID]

    var isEmpty: Bool { steps.isEmpty }

    /// The steps as intents, which the sidecar keeps until they are done.
    var intents: some Sequence<Intent> { steps.lazy.map { $0.intent(new: $0.new) } }

    /// Compares a view with the shadow.
    ///
    /// - Parameters:
    ///   - view: the view.
    ///   - access: the state and the shadow.
    ///   - added: the numbers of rows that this run has added to tables, which do not count among all rows.
    ///   - acceptsChanges: whether most rows of a table may be deleted.
    /// - Throws: `SyncDecision.manyDeletions` unless changes are accepted; `SidecarError`.
    init(
        _ view: StoreView,
        _ access: SidecarAccess,
        _ added: [TableName: Int64] = [:],
        acceptsChanges: Bool
    ) throws {
        let replaced = view.held.replaced
        let same = view.held.filter { $0.why == .same }.compactMap { held in
            held.other.map { (held.id, $0) }
        }
        successors = Dictionary(same) { first, _ in first }
        for table in view.tables {
            var desired = Dictionary(
                (view.rows[table.name] ?? []).map { ($0.id, $0) },
                uniquingKeysWith: { first, _ in first }
            )
            var deletions: Int64 = 0
            try view.part.forEachShown(in: table.name) { shown in
                guard let row = desired.removeValue(forKey: shown.id) else {
                    if !replaced.contains(shown.id) { deletions += 1 }
                    steps.append(.deletion(of: shown, table))
                    return
                }
                try compare(row, shown, table, access)
            }
            if !acceptsChanges, deletions >= 20 {
                let count = try access.shadow.count(in: table.name) - (added[table.name] ?? 0)
                guard deletions * 2 <= count else {
                    throw SyncDecision.manyDeletions(
                        table: table.schema.name,
                        rows: deletions,
                        of: count
                    )
                }
            }
            for row in Array(desired.values).ordered(by: \.key) {
                // Without its content, it would be inserted with NULL, or with a default.
                guard table.columns.allSatisfy({ row.values[$0.index] != nil }) else {
                    waiting[row.id] = table.name
                    continue
                }
                steps.append(.insertion(of: row, table))
            }
        }
    }

    /// Leaves rows as they are until the next run.
    mutating func leave(_ ids: Set<RowID>) {
        for step in steps where ids.contains(step.id) { waiting[step.id] = step.table.name }
        steps.removeAll { ids.contains($0.id) }
    }

    /// Has the rows that stay as they are looked at again by the next run, and lists them with the reasons.
    ///
    /// - Throws: `SidecarError`.
    func listWaiting(_ words: [RowID: String], _ access: SidecarAccess) throws {
        try access.dirty.wait(waiting.keys)
        for (id, table) in waiting where try access.held.row(id)?.why != .kept {
            try access.held.add(HeldRow(id: id, table: table, why: .waits, words: words[id]))
        }
    }

    private mutating func compare(
        _ row: StoreView.DesiredRow,
        _ shown: ShownRow,
        _ table: TableMapping,
        _ access: SidecarAccess
    ) throws {
        let moves = row.key != shown.key
        if row.lacksFile { waiting[row.id] = table.name }
        guard moves || row.image != shown.image || row.causalLength != shown.causalLength else {
            return
        }
        let parts = try shown.image.partsByColumn()
        let news = try row.image.partsByColumn()
        var changes: [(index: Int, value: StoredValue)] = []
        for column in table.columns {
            let number = try access.number(of: column.name)
            guard moves || parts[number] != news[number] else { continue }
            guard let value = row.values[column.index] else {
                waiting[row.id] = table.name
                return
            }
            changes.append((column.index, value))
        }
        if moves {
            // The row is identified by its content, and its form has changed, as from 1 to 1.0.
            steps.append(.deletion(of: shown, table))
            steps.append(.insertion(of: row, table))
            return
        }
        steps.append(
            Step(
                table: table,
                id: row.id,
                causalLength: row.causalLength,
                key: row.key,
                old: shown.image,
                new: row.image,
                change: .update(changes),
                plain: row.plain
            )
        )
    }
}

extension [HeldRow] {
    /// The rows that are not shown since another row is, and the rows below them: nobody has deleted these.
    fileprivate var replaced: Set<RowID> {
        let below = Dictionary(grouping: filter { $0.why == .parent }, by: \.other)
        var found: Set<RowID> = []
        var next = filter(\.hasSuccessor).map(\.id)
        while let id = next.popLast() {
            guard found.insert(id).inserted else { continue }
            next += (below[id] ?? []).map(\.id)
        }
        return found
    }
}

extension WritePlan.Step {
    fileprivate static func deletion(of row: ShownRow, _ table: TableMapping) -> Self {
        Self(
            table: table,
            id: row.id,
            causalLength: row.causalLength,
            key: row.key,
            old: row.image,
            new: nil,
            change: .delete
        )
    }

    fileprivate static func insertion(
        of row: StoreView.DesiredRow,
        _ table: TableMapping
    ) -> Self {
        Self(
            table: table,
            id: row.id,
            causalLength: row.causalLength,
            key: row.key,
            old: nil,
            new: row.image,
            change: .insert(row.values),
            plain: row.plain
        )
    }
}
