internal import Changes
internal import Stores

/// The write of a plan into a store, in one transaction that lasts only as long as the changes.
///
/// The effects of triggers and foreign keys arrive as data, or are left to the application. A row that differs from
/// its shadow is left out.
struct StoreWrite {
    /// The result of a write.
    struct Written {
        var inserted = 0
        var updated = 0
        var deleted = 0
        /// The rows that were written, as they are in the store now.
        var rows: [(step: WritePlan.Step, image: RowImage?)] = []
        /// The deleted rows with their stored columns, by table.
        var gone: [TableName: [Former]] = [:]
        /// The rows whose unique keys changed, with their earlier stored columns, by table.
        var renamed: [TableName: [Former]] = [:]
        /// The rows that were left out.
        var leftOut: [RowID] = []
        /// The companions that could not come back with rows that are in the store again, by these.
        var left: [RowID: [Companion]] = [:]
        /// The companions that came back.
        var back: [Companion] = []

        /// Adds the values that a step's row had.
        mutating func keep(
            _ values: [StoredValue],
            of step: WritePlan.Step,
            in list: WritableKeyPath<Self, [TableName: [Former]]>
        ) {
            self[keyPath: list][step.table.name, default: []]
                .append(Former(id: step.id, values: values))
        }
    }

    /// A row as it was before the write.
    struct Former {
        var id: RowID
        /// The stored columns.
        var values: [StoredValue]
    }

    /// A closure that returns whether the row of a table at a key refers to a row by a reference, and not only has
    /// a value there.
    typealias Refers = (SyncTable, RowKey, SyncReference) throws -> Bool

    let connection: StoreConnection
    /// The store's name in messages.
    let name: String
    let schema: SyncSchema
    let plan: WritePlan
    /// The columns' numbers in images.
    let numbers: [TableName: [Int64]]
    let sidecar: Sidecar
    let refers: Refers

    /// The result of a write, of which nothing is written unless all is.
    enum Result {
        case written(Written)
        /// The application has changed data that the plan needs: capture, and plan again.
        case outdated
        /// SQLite refuses rows, by its own words.
        case refused([RowID: String])
        /// The changes of rows would leave references that name no row, or a trigger keeps rows, for these reasons.
        case dangling([RowID: String])
    }

    /// Writes the plan.
    ///
    /// - Returns: the result.
    /// - Throws: `StoreError`, which is `.busyWriting` if another writer does not finish. Nothing is written if it
    ///   throws.
    func run() throws -> Result {
        // A file may have come for a row that names it already.
        if plan.isEmpty { return .written(Written()) }
        var refused: [RowID: String] = [:]
        var dangling: [RowID: String] = [:]
        let written: Written? = try connection.writing(schema.triggers) { handle in
            let rows = StoreRows(handle, name: name, numbers)
            guard try rows.schemaVersion() == schema.version else { return nil }
            var companions = try Companions(
                of: plan.steps.filter(\.leavesKey),
                in: schema,
                RowFinder(handle, name: name),
                rows
            )
            var written = try apply(rows, &refused, &dangling)
            if refused.isEmpty, dangling.isEmpty { dangling = try self.dangling(written, rows) }
            guard refused.isEmpty, dangling.isEmpty else { return nil }
            dangling = try settle(&companions, &written)
            guard dangling.isEmpty else { return nil }
            try raiseCounters(written, handle)
            try writeEntities(written, handle)
            return written
        }
        if let written { return .written(written) }
        if !dangling.isEmpty { return .dangling(dangling) }
        return refused.isEmpty ? .outdated : .refused(refused)
    }

    /// Lets the data that are this device's alone follow their rows, and keeps those that go.
    ///
    /// - Returns: the rows whose companions can neither follow nor go, with the reasons.
    private func settle(
        _ companions: inout Companions,
        _ written: inout Written
    ) throws -> [RowID: String] {
        let gone = Set(written.rows.lazy.filter { $0.image == nil }.map(\.step.id))
        let shown = Dictionary(
            written.rows.lazy.filter { $0.image != nil }.map {
                ($0.step.id, Companions.Heir($0.step))
            }
        ) { first, _ in first }
        return try sidecar.write { access in
            func find(_ id: RowID) throws -> Companions.Heir? {
                if let heir = shown[id] { return heir }
                guard !gone.contains(id), let (name, row) = try access.shadow.place(of: id),
                    let table = schema.tables.first(where: { $0.wireName == name.description })
                else { return nil }
                return Companions.Heir(place: .init(table: table.schema, key: row.key))
            }
            var heirs: [RowID: Companions.Heir] = [:]
            for step in plan.steps where step.leavesKey {
                let id = plan.successors[step.id] ?? step.id
                heirs[step.id] = id == step.id ? shown[id] : try find(id)
            }
            let kept = access.removed.companions
            let back =
                try kept.isEmpty ? [:] : shown.filter { $0.value.isNew && !gone.contains($0.key) }
            let returning = try back.map { id, row in
                (id: id, row: row, companions: try kept.companions(of: id))
            }
            let settled = try companions.settle(
                heirs: heirs,
                gone: gone,
                returning: returning.filter { !$0.companions.isEmpty },
                find: find
            )
            // They are kept before they go. What a killed run has kept is replaced once the row does go.
            try kept.keep(settled.kept.filter { heirs[$0.key] == nil && shown[$0.key] == nil })
            written.left = settled.kept.filter { shown[$0.key] != nil }
            written.back = settled.back
            return settled.refused
        }
    }

    /// Applies the steps that the store still allows: first those that free keys, then those that take them.
    ///
    /// - Parameters:
    ///   - rows: the store's rows.
    ///   - refused: gets the rows that SQLite refuses, with its words.
    ///   - dangling: gets the rows that a trigger keeps, with its words.
    /// - Returns: the changes.
    /// - Throws: `StoreError`.
    private func apply(
        _ rows: StoreRows,
        _ refused: inout [RowID: String],
        _ dangling: inout [RowID: String]
    ) throws -> Written {
        var written = Written()
        var steps = plan.steps
        try steps.removeAll { step in
            guard let old = step.old else { return false }
            return try rows.image(of: step) != old
        }
        let kept = Set(steps.map(\.id))
        written.leftOut = plan.steps.map(\.id).filter { !kept.contains($0) }
        let heirs = try heirs(among: steps, rows)
        var updates: [KeyedUpdates.Update] = []
        for step in steps {
            switch step.change {
            case .delete:
                let values = try rows.values(of: step)
                written.keep(values, of: step, in: \.gone)
                written.deleted += 1
                if let heir = heirs[step.id] {
                    updates.append((step, heir.changes(from: values)))
                } else {
                    dangling[step.id] = try rows.delete(step)
                }
            case .update(let changes):
                if step.leavesKey {
                    // Other rows may refer to it by its earlier values.
                    try written.keep(rows.values(of: step), of: step, in: \.renamed)
                }
                updates.append((step, changes))
            case .insert: break
            }
        }
        guard dangling.isEmpty else { return written }
        refused = try KeyedUpdates(rows: rows).apply(updates)
        for (id, heir) in heirs { refused[heir.id] = refused.removeValue(forKey: id) }
        try insert(steps, but: Set(heirs.values.map(\.id)), rows, &written, &refused)
        let left = Set(written.leftOut)
        for step in steps where !left.contains(step.id) {
            // At a deleted row's key there may already be another row: 'Milk' for 'milk'.
            written.rows.append((step, step.new == nil ? nil : try rows.image(of: step)))
            if case .update = step.change { written.updated += 1 }
        }
        return written
    }

    /// Inserts rows, but those that were renamed, which count all the same.
    private func insert(
        _ steps: [WritePlan.Step],
        but renamed: Set<RowID>,
        _ rows: StoreRows,
        _ written: inout Written,
        _ refused: inout [RowID: String]
    ) throws {
        written.inserted += renamed.count
        for step in steps where !renamed.contains(step.id) {
            guard case .insert(let values) = step.change else { continue }
            if try rows.image(of: step) != nil {
                // The application has taken the key.
                written.leftOut.append(step.id)
                continue
            }
            refused[step.id] = try rows.insert(step, values)
            written.inserted += 1
        }
    }

    /// Returns the insertions of rows that leave other keys in the same write, by the rows at these.
    ///
    /// They are renamed, so that triggers see no row come or go.
    private func heirs(
        among steps: [WritePlan.Step],
        _ rows: StoreRows
    ) throws -> [RowID: WritePlan.Step] {
        let leaving = steps.filter { $0.new == nil }
        if leaving.isEmpty { return [:] }
        let insertions = Dictionary(steps.filter { $0.old == nil }.map { ($0.id, $0) }) { $1 }
        if insertions.isEmpty { return [:] }
        let images = Dictionary(grouping: leaving, by: \.table.name).mapValues {
            Set($0.compactMap(\.old))
        }
        var heirs: [RowID: WritePlan.Step] = [:]
        var taken: Set<RowID> = []
        for step in leaving {
            guard let heir = insertions[plan.successors[step.id] ?? step.id],
                heir.table.name == step.table.name, heir.isKeyOfColumns
            else { continue }
            let present = try rows.image(of: heir)
            let isFree = present.map { images[step.table.name]?.contains($0) ?? false } ?? true
            if isFree, taken.insert(heir.id).inserted { heirs[step.id] = heir }
        }
        return heirs
    }

    /// Returns the rows that name a parent that does not exist, and those that are gone and that rows refer to.
    private func dangling(_ written: Written, _ rows: StoreRows) throws -> [RowID: String] {
        let tables = Dictionary(
            written.rows.map { ($0.step.table.name, $0.step.table) },
            uniquingKeysWith: { first, _ in first }
        )
        // The shadow does not have the planned rows yet.
        let planned = Dictionary(
            written.rows.lazy.filter { $0.image != nil }.map { row in
                (Place(table: row.step.table.schema.name, key: row.step.key), row.step.plain)
            }
        ) { first, _ in first }
        let refers: Refers = { table, key, reference in
            if let plain = planned[Place(table: table.name, key: key)] {
                return plain.isDisjoint(with: reference.columns)
            }
            return try self.refers(table, key, reference)
        }
        var found: [RowID: String] = [:]
        for table in tables.values {
            let keys = written.rows.filter { $0.step.table.name == table.name && $0.image != nil }
            found.merge(try rows.orphans(among: keys.map(\.step), of: table, in: schema)) { $1 }
            let gone = written.gone[table.name] ?? []
            let renamed = written.renamed[table.name] ?? []
            found.merge(try rows.parents(among: gone, renamed, of: table, in: schema, refers)) {
                $1
            }
        }
        return found
    }

    /// The place of a row in the store.
    private struct Place: Hashable {
        var table: String
        var key: RowKey
    }
}

/// Updates of rows that may take each other's unique keys.
///
/// Each is an UPDATE, so that triggers see no row come or go.
struct KeyedUpdates {
    typealias Update = (step: WritePlan.Step, changes: [StoreRows.Change])

    let rows: StoreRows

    /// Updates rows: those first whose keys are free, in either order; the others give up their keys before.
    ///
    /// - Returns: the rows that SQLite refuses, with its words.
    /// - Throws: `StoreError`.
    func apply(_ updates: [Update]) throws -> [RowID: String] {
        var refused: [RowID: String] = [:]
        var waiting = try applyFree(updates, &refused)
        var isReversed = true
        while waiting.count > 1 {
            let left = try applyFree(isReversed ? waiting.reversed() : waiting, &refused)
            let isSlow = left.count * 2 > waiting.count
            waiting = isReversed ? left.reversed() : left
            isReversed.toggle()
            if isSlow { break }
        }
        var removed: [(step: WritePlan.Step, values: [StoredValue])] = []
        var parked: [Update] = []
        for update in waiting {
            if try park(update) {
                parked.append(update)
            } else {
                // No value is free for now. Triggers see the row go and come back.
                var values = try rows.values(of: update.step)
                for (index, value) in update.changes { values[index] = value }
                if let words = try rows.delete(update.step) { refused[update.step.id] = words }
                removed.append((update.step, values))
            }
        }
        for (step, changes) in parked { refused[step.id] = try rows.update(step, changes) }
        for (step, values) in removed where refused[step.id] == nil {
            refused[step.id] = try rows.insert(step, values)
        }
        return refused
    }

    /// Updates the rows whose keys are free, and returns the others.
    private func applyFree(
        _ updates: [Update],
        _ refused: inout [RowID: String]
    ) throws -> [Update] {
        try updates.filter { update in
            guard let words = try rows.update(update.step, update.changes) else { return false }
            if rows.isKeyTaken { return true }
            refused[update.step.id] = words
            return false
        }
    }

    /// Gives a row keys that no other row has: NULL if that may be, or else values made of its id.
    ///
    /// - Returns: whether SQLite accepts that.
    private func park(_ update: Update) throws -> Bool {
        let (step, changes) = update
        let table = step.table.schema
        // At another key it would not be found again.
        let keys = table.primaryKey + [table.rowIDAlias].compactMap(\.self)
        if changes.contains(where: { keys.contains(table.storedColumns[$0.index]) }) {
            return false
        }
        let unique = changes.filter { step.table.changesUniqueKey([$0.index]) }
        let values = unique.map { change -> StoreRows.Change in
            let column = table.columns[table.storedColumns[change.index]]
            if !column.isNotNull { return (change.index, .null) }
            switch change.value {
            case .integer, .real: return (change.index, .integer(-Int64(step.id.low >> 1)))
            default: return (change.index, .text(StoredBytes(Array(step.id.description.utf8))))
            }
        }
        return try rows.update(step, values, isForNow: true) == nil
    }
}

extension TableMapping {
    /// Returns whether a change of these stored columns may change a unique key besides the local key.
    func changesUniqueKey(_ indexes: [Int]) -> Bool {
        let places = indexes.map { schema.storedColumns[$0] }
        return schema.indexes.contains { index in
            index.isUnique
                && (!schema.isPlain(index)
                    || index.keys.contains { places.contains($0.column ?? -1) })
        }
    }
}

extension WritePlan.Step {
    /// Whether its key is in columns, and no hidden rowid.
    fileprivate var isKeyOfColumns: Bool {
        if case .rowID = key { table.schema.rowIDAlias != nil } else { true }
    }

    /// Returns the columns of an insertion that differ from the values of another row.
    fileprivate func changes(from values: [StoredValue]) -> [StoreRows.Change] {
        guard case .insert(let new) = change else { return [] }
        return zip(new, values).enumerated().compactMap { index, pair in
            pair.0.flatMap { $0 == pair.1 ? nil : (index, $0) }
        }
    }

    /// Whether the row leaves its key, or a value by which others may refer to it.
    fileprivate var leavesKey: Bool {
        switch change {
        case .delete: true
        case .update(let changes): table.changesUniqueKey(changes.map(\.index))
        case .insert: false
        }
    }
}

extension Companions.Heir {
    fileprivate init(_ step: WritePlan.Step) {
        self.init(place: .init(table: step.table.schema, key: step.key))
        guard step.old == nil else { return }
        isNew = true
        localColumns = Set(step.table.localColumns.map { step.table.schema.columns[$0].name })
    }
}
