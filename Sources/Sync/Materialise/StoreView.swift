internal import Changes
internal import Files
internal import Stores

/// What a store has to show: the view of the state, with the keys and the values that it has here.
struct StoreView {
    /// A row as it has to be.
    struct DesiredRow {
        var id: RowID
        var causalLength: UInt32
        var key: RowKey
        /// By the places among the stored columns; `nil` for one that does not travel, and one whose
        /// content is not here yet.
        var values: [StoredValue?]
        var image: RowImage
    }

    let tables: [TableMapping]
    /// By table; in no order.
    private(set) var rows: [TableName: [DesiredRow]] = [:]
    private(set) var held: [HeldRow] = []
    /// Blobs that rows need and that are not here.
    private(set) var missing: Set<BlobReference> = []
    /// Files beside the store that rows will name and that are not there yet.
    private(set) var files: [ExternalReference: BlobReference] = [:]

    /// The numbers of the columns that travel, by table.
    private(set) var numbers: [TableName: [Int64]] = [:]
    private let access: SidecarAccess
    private let mirror: Mirror
    private let blobs: BlobCache
    private var keys: LocalKeys
    private var states: [TableName: [RowID: RowState]] = [:]

    /// Computes it.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    init(_ tables: [TableMapping], _ access: SidecarAccess, _ blobs: BlobCache) throws {
        self.tables = tables
        self.access = access
        self.blobs = blobs
        mirror = try Mirror(tables.map(\.schema))
        keys = LocalKeys(access)
        var alive: [TableName: [RowDelta]] = [:]
        var states: [TableName: [RowID: RowState]] = [:]
        try access.forEachKnown { row in
            guard row.state.isAlive else { return }
            states[row.table, default: [:]][row.id] = row.state
            alive[row.table, default: []].append(row.delta)
        }
        self.states = states
        for table in tables {
            numbers[table.name] = try access.numbers(of: table)
            if table.isNumbered { try keys.assign(alive[table.name] ?? [], of: table) }
        }
        try compute()
    }

    private mutating func compute() throws {
        let byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        let trial = Trial(mirror, keys, byName, access, blobs)
        let parents = ParentIndex(states)
        let schema = ViewSchema(
            tables: tables.map { table in
                ViewSchema.Table(
                    table.name,
                    columns: table.columns.map {
                        .init(
                            $0.name,
                            missing: $0.parent == nil ? ($0.defaultValue ?? .null).wire : .null
                        )
                    },
                    references: table.references
                )
            },
            parent: { reference, values in
                reference.targets.isEmpty
                    ? ViewSchema.rowID(reference, values) : parents.row(reference, values)
            },
            refuses: { table, row in trial.refuses(row, of: table.name) },
            uniqueKeys: { table, row in trial.uniqueKeys(row, of: table.name) }
        )
        let view = View(of: states, schema: schema)
        try trial.check()
        for table in tables {
            rows[table.name] = try (view.shown[table.name] ?? []).map { row in
                let values = trial.values(row, of: table)
                return try desired(row, values, table, trial)
            }
        }
        try trial.check()
        held = view.held.map { key, reason in
            HeldRow(key, reason, standIn: view.standIn(for: key), trial)
        }
        missing = trial.missing
        files = trial.newFiles
    }

    private func desired(
        _ row: ViewRow,
        _ values: [StoredValue?],
        _ table: TableMapping,
        _ trial: Trial
    ) throws -> DesiredRow {
        let numbers = numbers[table.name] ?? []
        let taken = trial.taken(trial.filled(values, row, of: table), of: table)
        var parts: [(column: Int64, part: RowImage.Part)] = []
        for (index, column) in table.columns.enumerated() {
            let part: RowImage.Part
            switch row.values[index] {
            case .longText(let content): part = .hash(.text, content.digest)
            case .longBlob(let content): part = .hash(.blob, content.digest)
            case .file(let name, _) where column.holdsFiles:
                part = .init(ExternalReference(name: name)?.value ?? .null)
            default: part = column.part(taken)
            }
            parts.append((numbers[index], part))
        }
        let key: RowKey
        if let alias = table.schema.rowIDAlias {
            guard let place = table.schema.storedColumns.firstIndex(of: alias),
                case .integer(let number) = taken[place]
            else { throw access.damaged("a row of '\(table.name)' has no number") }
            key = .rowID(number)
        } else {
            let stored = table.schema.storedColumns
            key = RowKey(
                primaryKey: table.schema.primaryKey.map { place in
                    stored.firstIndex(of: place).map { taken[$0] } ?? .null
                }
            )
        }
        return DesiredRow(
            id: row.id,
            causalLength: states[table.name]?[row.id]?.causalLength ?? 1,
            key: key,
            values: zip(values, taken).map { $0 == nil ? nil : $1 },
            image: RowImage(parts)
        )
    }
}

/// Finds the rows that references by value name.
private final class ParentIndex {
    private let states: [TableName: [RowID: RowState]]
    private var indexes: [Key: [[Value]: RowID]] = [:]

    private struct Key: Hashable {
        var table: TableName
        var columns: [ColumnName]
    }

    init(_ states: [TableName: [RowID: RowState]]) {
        self.states = states
    }

    func row(_ reference: ViewSchema.Reference, _ values: [Value]) -> RowID? {
        let key = Key(table: reference.table, columns: reference.targets)
        if let index = indexes[key] { return index[values] }
        var index: [[Value]: RowID] = [:]
        for (id, state) in states[reference.table] ?? [:] {
            let found = reference.targets.map { state.cell($0)?.value ?? .null }
            // Of several the least, so that all devices agree.
            if let other = index[found], other < id { continue }
            index[found] = id
        }
        indexes[key] = index
        return index[values]
    }
}

extension HeldRow {
    fileprivate init(_ key: ViewKey, _ reason: View.Reason, standIn: RowID?, _ trial: Trial) {
        id = key.id
        table = key.table
        switch reason {
        case .unborn: (why, other) = (.unborn, nil)
        case .noTable: (why, other) = (.table, nil)
        case .noReference: (why, other) = (.reference, nil)
        case .same(let id): (why, other) = (.same, standIn ?? id)
        case .refused: (why, other) = (trial.lacksBlob(key) ? .blob : .refused, nil)
        case .parent(_, let id): (why, other) = (.parent, id)
        case .unique(let id): (why, other) = (.unique, standIn ?? id)
        case .unsettled: (why, other) = (.unsettled, nil)
        }
    }
}
