internal import Changes
internal import Files
internal import Stores

/// The rows that a store has to show: the view of the state, with the keys and values that it has here.
struct StoreView {
    /// A row as the store has to show it.
    struct DesiredRow {
        var id: RowID
        var causalLength: UInt32
        var key: RowKey
        /// The values by stored column; `nil` for a column that does not sync, or whose content is not here yet.
        var values: [StoredValue?]
        var image: RowImage
        /// The places of the columns whose values name no row.
        var plain: Set<Int>
        /// Whether it names a file that is not here, or is here with another content.
        var lacksFile: Bool
    }

    let tables: [TableMapping]
    /// The rows that it was computed from.
    let part: ViewPart
    /// The rows by table, in no order.
    private(set) var rows: [TableName: [DesiredRow]] = [:]
    private(set) var held: [HeldRow] = []
    /// The references of shown rows that are shown empty.
    private(set) var emptied: [RowID: Set<ColumnName>] = [:]
    /// The dependencies of rows that are not shown, or not as their state has them.
    private(set) var ties: Set<RowTie> = []
    /// The blobs that rows need, and that are not here.
    private(set) var missing: Set<BlobReference> = []
    /// The files beside the store that rows will name, and that do not exist yet.
    private(set) var files: [RowFile: BlobReference] = [:]
    /// The reasons of rows that wait, or that SQLite refuses, in words.
    private(set) var words: [RowID: String] = [:]
    /// The rows whose unique keys were requested, as SQLite would store them.
    private(set) var asked: [ViewKey: Set<[StoredValue]>] = [:]

    /// The numbers of the columns that sync, by table.
    private(set) var numbers: [TableName: [Int64]] = [:]
    /// The keys that rows have, or get.
    private(set) var keys: LocalKeys
    private let access: SidecarAccess
    private let blobs: BlobCache
    private var states: [TableName: [RowID: RowState]] = [:]

    /// Computes the view.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    init(
        of part: ViewPart,
        _ ground: TrialGround,
        _ access: SidecarAccess,
        _ blobs: BlobCache
    )
        throws
    {
        tables = ground.tables
        self.part = part
        self.access = access
        self.blobs = blobs
        keys = ground.keys
        var alive: [TableName: [RowDelta]] = [:]
        for row in part.rows.values where row.state.isAlive {
            states[row.table, default: [:]][row.id] = row.state
            alive[row.table, default: []].append(row.delta)
        }
        for table in tables {
            numbers[table.name] = try access.numbers(of: table)
            guard table.isNumbered else {
                ground.keys.take(alive[table.name] ?? [], of: table)
                continue
            }
            if part.isAll {
                let rows = states[table.name] ?? [:]
                try ground.keys.takeShown(of: table) { rows[$0] != nil }
            }
            let rows = (alive[table.name] ?? []).ordered(by: \.id)
            try ground.keys.assign(rows, of: table) { try shown($0)?.key }
        }
        keys = ground.keys
        try compute(ground)
    }

    private mutating func compute(_ ground: TrialGround) throws {
        let byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        let trial = try Trial(ground.mirror, ground.keys, byName, access, blobs)
        let parents = ParentIndex(states)
        let schema = ViewSchema(
            tables: tables.map { table in
                ViewSchema.Table(
                    table.name,
                    columns: table.columns.map { .init($0.name, missing: $0.missingValue) },
                    key: table.key,
                    references: table.references
                )
            },
            parent: { reference, values in
                reference.isByValue
                    ? parents.row(reference, values) : ViewSchema.rowID(reference, values)
            },
            refuses: { table, row in trial.refuses(row, of: table.name) },
            uniqueKeys: { table, row in trial.uniqueKeys(row, of: table.name) }
        )
        let view = View(of: states, schema: schema)
        try trial.check()
        for (key, names) in view.emptied { emptied[key.id] = names }
        var finder = TieFinder(view, byName) { parents.row($0, $1) }
        for table in tables {
            let shown = view.shown[table.name] ?? []
            rows[table.name] = try shown.map { row in
                let values = trial.values(row, of: table)
                return try desired(row, values, table, trial)
            }
            for (id, state) in states[table.name] ?? [:] { finder.look(at: id, state, of: table) }
        }
        try trial.check()
        ties = try finder.ties.union(competitors(view, ground.mirror, trial.asked, byName))
        held = view.held.map { key, reason in
            if view.late.contains(key) { return HeldRow(late: key, reason, trial) }
            return HeldRow(key, reason, standIn: view.standIn(for: key), trial)
        }
        (missing, files) = (trial.missing, trial.newFiles)
        (words, asked) = (trial.words, trial.asked)
    }

    /// Returns the unique keys of the rows that have a stand-in because of such a key.
    private func competitors(
        _ view: View,
        _ mirror: Mirror,
        _ asked: [ViewKey: Set<[StoredValue]>],
        _ tables: [TableName: TableMapping]
    ) throws -> Set<RowTie> {
        var ties: Set<RowTie> = []
        for (key, reason) in view.held {
            guard reason.isOfKey, let table = tables[key.table] else { continue }
            for values in asked[key] ?? [] {
                for name in try mirror.keyNames(values, of: table) {
                    ties.insert(RowTie(id: key.id, other: name, kind: .competes))
                }
            }
        }
        return ties
    }

    private func desired(
        _ row: ViewRow,
        _ values: [StoredValue?],
        _ table: TableMapping,
        _ trial: Trial
    ) throws -> DesiredRow {
        let numbers = numbers[table.name] ?? []
        let taken = trial.taken(trial.filled(values, row, of: table), row.id, of: table)
        var parts: [(column: Int64, part: RowImage.Part)] = []
        for (index, column) in table.columns.enumerated() {
            let part: RowImage.Part
            if case .file(let name, _) = row.values[index] {
                part = column.files?.file(named: name).map { .init($0.value) } ?? column.part(taken)
            } else {
                part = .init(long: row.values[index]) ?? column.part(taken)
            }
            parts.append((numbers[index], part))
        }
        let lacking = zip(table.columns, row.values).filter { column, value in
            values[column.index] == nil && value.reference != nil
        }
        let image = RowImage(parts)
        var key = try key(of: row.id, taken, table)
        if !lacking.isEmpty, let shown = try shown(row.id), shown.key != key {
            if try table.hasEqualKeys(image, shown.image, numbers) {
                key = shown.key
            } else {
                // Its row is deleted, and inserted with all its values.
                trial.require(lacking.compactMap(\.1.reference))
            }
        }
        let emptied = emptied[row.id] ?? []
        let plain = table.columns.filter { emptied.contains($0.name) }.map(\.place)
        return DesiredRow(
            id: row.id,
            causalLength: states[table.name]?[row.id]?.causalLength ?? 1,
            key: key,
            values: zip(values, taken).map { $0 == nil ? nil : $1 },
            image: image,
            plain: (states[table.name]?[row.id].map(table.plainPlaces) ?? []).union(plain),
            lacksFile: lacking.contains { $1.isFile }
        )
    }

    private func shown(_ id: RowID) throws -> ShownRow? {
        try part.isAll ? access.shadow.row(id) : part.shadow[id]?.row
    }

    /// Returns the key of a row in the store: its number, or the values of its primary key.
    private func key(
        of id: RowID,
        _ values: [StoredValue],
        _ table: TableMapping
    ) throws -> RowKey {
        guard table.keyIndex != nil || table.hasRowIDs else {
            let stored = table.storedColumns
            return RowKey(
                primaryKey: table.schema.primaryKey.map { place in
                    stored.firstIndex(of: place).map { values[$0] } ?? .null
                }
            )
        }
        if let place = table.keyIndex {
            if case .integer(let number) = values[place] { return .rowID(number) }
        } else if let number = keys.key(of: id) {
            return .rowID(number)
        }
        throw access.damaged("a row of '\(table.name)' has no number")
    }
}

extension TableMapping {
    /// Returns whether the images of two rows have the same primary key, by which the store knows them.
    fileprivate func hasEqualKeys(
        _ one: RowImage,
        _ other: RowImage,
        _ numbers: [Int64]
    ) throws -> Bool {
        if hasRowIDs { return false }
        let (one, other) = (try one.partsByColumn(), try other.partsByColumn())
        return zip(columns, numbers).allSatisfy { column, number in
            !schema.primaryKey.contains(column.place) || one[number] == other[number]
        }
    }
}

extension View.Reason {
    /// Whether another row has a unique key of the row.
    fileprivate var isOfKey: Bool {
        switch self {
        case .unique, .yields: true
        default: false
        }
    }
}

/// An index of the rows that references by value name.
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
        let values = reference.folded(values)
        if let index = indexes[key] { return index[values] }
        var index: [[Value]: RowID] = [:]
        for (id, state) in states[reference.table] ?? [:] {
            let found = reference.folded(
                reference.targets.map { (state.cell($0)?.value ?? .null).unmarked }
            )
            // If there are several, the least counts, so that all devices agree.
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
        case .yields(let id): (why, other) = (.yields, id)
        case .unsettled: (why, other) = (.unsettled, nil)
        }
        words = [.refused, .blob].contains(why) ? trial.words[key.id] : nil
    }

    /// Creates a held row whose place depends on the order in which rows were tried; each run looks at it.
    fileprivate init(late key: ViewKey, _ reason: View.Reason, _ trial: Trial) {
        self.init(
            id: key.id,
            table: key.table,
            why: reason == .unsettled ? .unsettled : .refused,
            other: .zero,
            words: trial.words[key.id]
        )
    }
}

/// The mirror and the keys for trying rows while a view is computed, even if its part grows.
final class TrialGround {
    let tables: [TableMapping]
    let mirror: Mirror
    var keys: LocalKeys

    init(_ tables: [TableMapping], _ keys: LocalKeys) throws {
        self.tables = tables
        self.keys = keys
        mirror = try Mirror(tables.map(\.schema))
    }
}
