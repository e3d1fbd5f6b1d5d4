internal import Changes
internal import Stores

/// The data of this device alone that belong to rows: values of columns that do not sync, and rows of tables that do not
/// sync and refer to them.
///
/// A row that gets another key takes them along. With a row that leaves the store they go as its foreign keys say, are
/// kept, and come back with it. All of it happens in the transaction that writes the store.
struct Companions {
    /// A row that refers to another one, with the values of all its stored columns.
    private struct Follower {
        let id: RowID
        let keeper: Keeper
        let key: RowKey
        let values: [StoredValue]
    }

    /// The row in the store to which companions belong now.
    struct Heir {
        var table: TableMapping
        var key: RowKey
        /// Whether it was not in the store before.
        var isNew: Bool
    }

    private let schema: SyncSchema
    private let finder: RowFinder
    private let rows: StoreRows
    /// The steps of rows that leave their keys.
    private let leaving: [WritePlan.Step]
    private var own: [RowID: [StoredValue]] = [:]
    private var followers: [Follower] = []
    private(set) var kept: [RowID: [Companion]] = [:]

    /// Looks for the companions of rows that leave their keys, before they do.
    ///
    /// - Throws: `StoreError`.
    init(
        of leaving: [WritePlan.Step],
        in schema: SyncSchema,
        _ finder: RowFinder,
        _ rows: StoreRows
    ) throws {
        (self.schema, self.finder, self.rows, self.leaving) = (schema, finder, rows, leaving)
        for step in leaving where !step.table.localIndexes.isEmpty {
            own[step.id] = try rows.values(of: step)
        }
        for keeper in schema.followers {
            for (key, id) in try finder.rows(naming: leaving, by: keeper) {
                let columns = keeper.table.storedColumns
                guard let values = try finder.values(columns, of: keeper.table, at: key) else {
                    continue
                }
                followers.append(Follower(id: id, keeper: keeper, key: key, values: values))
            }
        }
    }

    /// Lets the companions follow their rows, or go with them, once the steps are done.
    ///
    /// - Parameters:
    ///   - heirs: the rows in the store that the rows that leave are now.
    ///   - gone: the rows that have left their keys.
    ///   - former: what went with rows before, with the rows, which are new in the store.
    /// - Throws: `StoreError`.
    mutating func settle(
        heirs: [RowID: Heir],
        gone: Set<RowID>,
        former: [(row: Heir, companions: [Companion])]
    ) throws {
        for step in leaving where gone.contains(step.id) || heirs[step.id] != nil {
            let columns = step.table.localIndexes
            let values = own[step.id].map { own in columns.map { ($0.name, own[$0.index]) } } ?? []
            guard let heir = heirs[step.id] else {
                let (table, key) = (step.table.schema.name, step.key)
                kept[step.id] =
                    values.isEmpty ? [] : [Companion(table: table, key: key, values: values)]
                continue
            }
            if heir.isNew { try rows.set(values, of: heir.table.schema, at: heir.key) }
        }
        for follower in followers {
            if let heir = heirs[follower.id] {
                let target = try target(of: follower.keeper, heir)
                if let target { try rows.set(target, of: follower.keeper.table, at: follower.key) }
            } else if gone.contains(follower.id) {
                try leave(follower, isNested: false)
            }
        }
        for (row, companions) in former {
            for companion in companions { try bringBack(companion, row) }
        }
    }

    /// Returns the columns of a reference with the values that name a row; `nil` if it is not in the store.
    private func target(of keeper: Keeper, _ row: Heir) throws -> [(String, StoredValue)]? {
        let values = try finder.values(keeper.parentColumns, of: row.table.schema, at: row.key)
        return values.map { Array(zip(keeper.columns.map { keeper.table.columns[$0].name }, $0)) }
    }

    /// Deletes a row that refers to a row that is gone, or empties its reference, as its foreign key says.
    private mutating func leave(_ follower: Follower, isNested: Bool) throws {
        let (keeper, table) = (follower.keeper, follower.keeper.table)
        let columns = keeper.columns.map { table.columns[$0] }
        var isEmptied = columns.contains { !$0.isNotNull }
        switch keeper.onDelete {
        case .cascade: isEmptied = false
        case .setNull, .setDefault: isEmptied = true
        case .none, .restrict:
            // Such an application does not turn foreign keys on, and such a row would keep a deleted one.
            if isNested || finder.breaksForeignKeys(table) { return }
        }
        kept[follower.id]?.append(
            Companion(
                table: table.name,
                columns: isNested ? [] : columns.map(\.name),
                key: follower.key,
                values: Array(
                    zip(table.storedColumns.map { table.columns[$0].name }, follower.values)
                ),
                isEmptied: isEmptied
            )
        )
        if isEmptied {
            let values = columns.map {
                ($0.name, keeper.onDelete == .setDefault ? $0.constant : .null)
            }
            return try rows.set(values, of: table, at: follower.key)
        }
        try rows.delete(table, at: follower.key)
        try leaveNested(below: follower)
    }

    /// Treats the rows that refer to a deleted row of a table that does not sync.
    private mutating func leaveNested(below parent: Follower) throws {
        let table = parent.keeper.table
        for keeper in schema.nestedFollowers where keeper.parent == table.name.foldedIdentifier {
            let places = keeper.parentColumns.compactMap(table.storedColumns.firstIndex)
            let named = places.map { parent.values[$0] }
            if named.count < keeper.columns.count || named.contains(.null) { continue }
            let terms = keeper.columns.map { keeper.table.columns[$0].name.sqlIdentifier }
            for key in try finder.keys(of: keeper.table, where: terms, are: named) {
                let columns = keeper.table.storedColumns
                guard let values = try finder.values(columns, of: keeper.table, at: key) else {
                    continue
                }
                let follower = Follower(id: parent.id, keeper: keeper, key: key, values: values)
                try leave(follower, isNested: true)
            }
        }
    }

    /// Brings back what went with a row, unless the application has something else there now.
    private func bringBack(_ companion: Companion, _ row: Heir) throws {
        let schema = schema.followers + schema.nestedFollowers
        if companion.table == row.table.schema.name, companion.columns.isEmpty {
            let names = Set(row.table.localIndexes.map(\.name))
            let values = companion.values.filter { names.contains($0.0) }
            return try rows.set(values, of: row.table.schema, at: row.key)
        }
        guard let keeper = schema.first(where: { $0.fits(companion) }) else { return }
        var values = companion.values
        let target = companion.columns.isEmpty ? [] : try target(of: keeper, row) ?? []
        for (name, value) in target {
            values = values.map { $0.0 == name ? (name, value) : $0 }
        }
        guard companion.isEmptied else { return try rows.add(values, to: keeper.table) }
        let columns = keeper.table.storedColumns
        let names = columns.map { keeper.table.columns[$0].name }
        let present = try finder.values(columns, of: keeper.table, at: companion.key)
        let others = zip(names, present ?? []).filter { !companion.columns.contains($0.0) }
        // The row must be the one whose reference was emptied.
        let isSame =
            !others.isEmpty
            && others.allSatisfy { name, value in
                companion.values.contains { $0.0 == name && $0.1 == value }
            }
        if isSame { try rows.set(target, of: keeper.table, at: companion.key) }
    }
}

/// Data of this device alone that went with a row.
struct Companion {
    /// The table: that of the row itself, for its columns that do not sync.
    var table: String
    /// The columns that referred to the row; none in its own table, and if they refer to another companion.
    var columns: [String] = []
    /// The local key.
    var key: RowKey
    var values: [(String, StoredValue)]
    /// Whether the row stayed, with an empty reference.
    var isEmptied = false
}

extension Keeper {
    /// Returns whether a companion's table and columns are those of the reference.
    fileprivate func fits(_ companion: Companion) -> Bool {
        table.name == companion.table
            && (companion.columns.isEmpty
                || columns.map { table.columns[$0].name } == companion.columns)
    }
}

extension TableMapping {
    /// The stored columns that do not sync, with their indexes among the stored columns.
    fileprivate var localIndexes: [(name: String, index: Int)] {
        let own = Set(columns.map(\.index))
        return storedColumns.indices.filter { !own.contains($0) && $0 != keyIndex }
            .map { (schema.columns[storedColumns[$0]].name, $0) }
    }
}

extension ColumnSchema {
    /// The constant default; NULL if there is none.
    fileprivate var constant: StoredValue {
        if case .constant(let value) = defaultValue { value } else { .null }
    }
}

extension RowFinder {
    /// Returns the keys of the rows that refer to rows of steps, with the ids of these.
    func rows(
        naming steps: [WritePlan.Step],
        by keeper: Keeper
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
