internal import Changes
internal import Files
internal import Foundation
internal import Stores

/// The comparison of a store with its shadow: each difference becomes a delta, and updates the shadow.
///
/// It runs within one transaction of the store and one of the sidecar. A table that refers only to earlier tables is
/// captured as it is read. Tables that refer to each other, or to themselves, are captured once the ids of all their
/// rows are known.
struct Capture {
    /// The way in which rows get their stamps and ids.
    enum Kind {
        /// An application's edits.
        case edits
        /// Rows from before the store took part: they lose to any edit, and their ids are made of content.
        case seed
        /// Rows that a new schema brings to each device alike: new rows are treated as in a seed.
        case migration
    }

    struct Options {
        /// Whether most rows of a table may be gone without a question.
        var acceptsChanges = false
        /// Whether everything is a seed, as when the store begins to take part.
        var seeds = false
        /// The meaning of differences.
        var meaning = Rejoining.edits
        /// Whether new rows may be known rows that the shadow has lost.
        var matches = false
        /// Whether these may have been edited since: the shadow is older than the store.
        var matchesEdited = false
        /// The changes of the schema and of the map.
        var change = SchemaChange()
        /// The way to match rows with the group's beyond their ids, if the store joins it.
        var match: JoinMatch?
        /// The greatest number of rows in memory at a time, for a table without earlier rows.
        var partRows = ViewLook.partRows

        /// Whether rows that exist here and were deleted elsewhere come back on all devices.
        var revives = false

        /// Whether the shadow cannot be trusted.
        var isAfterAccident: Bool { matches || meaning != .edits }
    }

    /// The result of a capture.
    struct Result: Equatable {
        /// The number of inserted, changed or deleted rows to be sent.
        var changes = 0
        /// The number of rows with a new shadow.
        var shadowed = 0
        /// The number of shown rows whose tables are gone.
        var left: Int64 = 0
    }

    let tables: [TableMapping]
    let access: SidecarAccess
    /// The stamp of this capture's edits.
    let stamp: Stamp
    let options: Options
    /// The receiver of the deltas.
    private let outgoing: Outgoing
    /// The files that rows may name.
    private let files: ExternalFiles
    /// Twelve random bytes, and the number of ids made of them.
    private let random: (high: UInt64, low: UInt32)
    private var idCount: UInt32 = 0
    var result = Result()
    /// The finder of rows of the store.
    private(set) var finder: RowFinder?
    /// The numbers that rows had, with those that they have, by table; see `KeyChanges`.
    var moved: [TableName: [Int64: Int64?]] = [:]
    /// The numbers of rows that are gone, and that other rows have now, by table.
    var reused: [TableName: Set<Int64>] = [:]
    /// The rows of this store with the content of other rows, each with the row that is shown in its place.
    var standIns: [RowID: RowID] = [:]

    init(
        of tables: [TableMapping],
        in access: SidecarAccess,
        stamp: Stamp,
        random: (high: UInt64, low: UInt32),
        options: Options,
        outgoing: Outgoing,
        files: ExternalFiles
    ) {
        self.tables = tables
        self.access = access
        self.stamp = stamp
        self.random = random
        self.options = options
        self.outgoing = outgoing
        self.files = files
    }

    /// Compares all tables.
    ///
    /// - Throws: `SyncDecision`, `StoreError`, `SidecarError`.
    mutating func run(_ snapshot: StoreSnapshot) throws {
        finder = try RowFinder(snapshot)
        try leaveMissingTables()
        for table in tables { try bringBack(table, snapshot) }
        var captures: [TableName: TableCapture] = [:]
        for table in tables {
            captures[table.name] = try TableCapture(table, kind(of: table), self)
        }
        for group in TableOrder(tables).groups {
            try run(group, of: captures, snapshot)
            for table in group.tables { captures[table.name] = nil }
        }
        for table in tables {
            try access.captured.setSeeded(table.name, nameless: namelessRows(of: table))
        }
        try ComputedDefaults(of: tables).fill(&self)
    }

    private mutating func run(
        _ group: TableOrder.Group,
        of captures: [TableName: TableCapture],
        _ snapshot: StoreSnapshot
    ) throws {
        let captured = group.tables.compactMap { captures[$0.name] }
        let first = try captured.filter { try $0.isFirst(self) }
        let others = captured.filter { capture in !first.contains { $0 === capture } }
        for capture in others where !capture.isScanned { try capture.scan(snapshot, &self) }
        func all() throws -> [TableCapture] {
            try captures.values.filter { try !$0.isFirst(self) }
        }
        for capture in others where KeyChanges.arePossible(in: capture, self) {
            let all = try all()
            for child in all where !child.isScanned && child.table.refers(to: capture.table.name) {
                try child.scan(snapshot, &self)
            }
            for child in try KeyChanges.take(in: capture, all, &self) {
                try child.scan(snapshot, &self)
            }
        }
        for capture in others where MovedNames.arePossible(in: capture, tables) {
            let names = MovedNames(
                access: access,
                all: try all().sorted { $0.table.name < $1.table.name }
            )
            for child in try names.take(from: capture) { try child.scan(snapshot, &self) }
        }
        for capture in others { try guardRows(capture) }
        for capture in first {
            try capture.takeFirst(snapshot, &self, isCyclic: group.isCyclic)
        }
        for capture in others { try capture.identify(&self, isCyclic: group.isCyclic) }
        if group.isCyclic { for capture in first { try capture.sendFirst(snapshot, &self) } }
        for capture in others { try capture.finish(&self) }
    }

    /// Throws if more than half of a table's rows, and at least 20, would be deleted without a question.
    private func guardRows(_ capture: TableCapture) throws {
        let gone = Int64(capture.gone.count - capture.renamed.count)
        guard !options.acceptsChanges, gone >= 20 else { return }
        let count = try access.shadow.count(in: capture.table.name)
        guard gone * 2 > count else { return }
        throw SyncDecision.manyGone(table: capture.table.schema.name, rows: gone, of: count)
    }

    /// Returns the number of rows that do not sync, since their key is NULL; see `TableCapture.hasNullKey`.
    private func namelessRows(of table: TableMapping) throws -> Int {
        let columns = table.placesOfOnlyKey.map { table.schema.columns[$0] }.filter {
            !$0.isNotNull
        }
        if columns.isEmpty { return 0 }
        let terms = columns.map { "\($0.name.sqlIdentifier) IS NULL" }
        let condition = terms.joined(separator: " OR ")
        return try finder?.keys(of: table.schema, where: [], are: [], and: condition).count ?? 0
    }

    /// Returns the kind of a table's capture; a table that was not there before starts as a seed.
    private func kind(of table: TableMapping) throws -> Kind {
        if try options.seeds || !access.captured.isSeeded(table.name) { return .seed }
        return options.change.isMigration ? .migration : .edits
    }

    /// Leaves the tables that the schema no longer has: their rows are held, and not deleted.
    private mutating func leaveMissingTables() throws {
        let names = Set(tables.map(\.name))
        let map = try access.membership.map
        let excluded = Set(map.exclude.map { map.tables[$0]?.was ?? $0 })
        for name in try access.captured.tables() where !names.contains(name) {
            if !excluded.contains(name) { result.left += try access.shadow.count(in: name) }
            try access.captured.leave(name, keepsIDs: excluded.contains(name))
        }
    }

    /// Adds the rows of a formerly excluded table to the shadow, so that they keep their ids.
    ///
    /// Edits made meanwhile count as edits of now. Rows deleted meanwhile are no deletions, and come back.
    private func bringBack(_ table: TableMapping, _ snapshot: StoreSnapshot) throws {
        guard try access.captured.hasParked(table.name) else { return }
        var cursor = try snapshot.rows(of: table.schema, order: table.order, rowIDs: nil)
        while try cursor.next() { try access.captured.bringBack(cursor.key, in: table.name) }
        try access.captured.endReturn(of: table.name)
    }

    /// Returns the present form of a former reference to a row that has another number now, or none; `nil` for others.
    func moved(_ part: RowImage.Part, of column: ColumnMapping) -> RowImage.Part? {
        guard let parent = column.parent, case .value(let value) = part,
            case .integer(let number) = KeyComparison.folded(value, .integer)
        else { return nil }
        if reused[parent]?.contains(number) == true { return .hash(.null, .ofNothing) }
        guard let target = moved[parent]?[number] else { return nil }
        return target.map { .value(.integer($0)) } ?? .hash(.null, .ofNothing)
    }

    /// Returns an id that no row has.
    mutating func makeID() -> RowID {
        defer { idCount += 1 }
        return RowID(randomHigh: random.high, randomLow: random.low, count: idCount)
    }

    /// The rows' values in their form for change files.
    private var values: WireValues {
        WireValues(tables: tables, access: access, files: files, finder: finder)
    }

    /// Returns a value in its form for change files; a reference becomes the id of the row that it names.
    func wire(_ value: StoredValue, of column: ColumnMapping) throws -> Value {
        try values.wire(value, of: column)
    }

    /// Returns whether rows' own keys may name rows that can get other names; see `WireValues`.
    func namesRows(byKeyOf table: TableMapping) -> Bool { values.namesRows(byKeyOf: table) }

    /// Returns the values of a row's columns in their form for change files; see `WireValues`.
    ///
    /// A file that is missing here, and that a known row has, stays the known one.
    func wires(
        _ values: [StoredValue],
        of table: TableMapping,
        _ known: KnownRow? = nil
    ) throws -> [Value] {
        try zip(table.columns, self.values.wires(values, of: table)).map { column, wire in
            column.kept(wire, known?.state.cell(column.name)?.value)
        }
    }

    /// Joins a delta with the state, and adds it to the outgoing ones; long values become blobs.
    mutating func send(_ delta: RowDelta, in table: TableName) throws {
        let delta = try movingContent(of: delta, in: table)
        guard let joined = try access.states.join(delta, in: table) else { return }
        // The store may lack other known values of the row, or values that win.
        if joined.old != nil {
            try access.dirty.mark(delta.id)
        } else {
            try lookAtNew(delta, in: table)
        }
        result.changes += 1
        try outgoing.add(delta, to: table)
    }

    /// Sends a row of which nothing is known, and shows it: what is sent is its state, and all that the store shows.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - table: its table.
    ///   - kind: the kind of the table's capture.
    ///   - shared: see `Shadow.show`.
    /// - Returns: whether nothing was known of it; otherwise nothing is done.
    /// - Throws: `StoreError`, `SidecarError`.
    mutating func sendNew(
        _ row: TableCapture.New,
        of table: TableMapping,
        _ kind: Kind,
        sharing shared: Set<Int64>
    ) throws -> Bool {
        guard standIns[row.id] == nil else { return false }
        let stamp = kind == .edits ? stamp : .zero
        let cells = try zip(table.columns, wires(row.values, of: table))
            .map { Cell($0.name, stamp, $1) }
        let state = RowState(birth: stamp, cells: cells)
        let whole = RowDelta(row.id, state, hint: table.hint(at: row.key))
        let delta = try movingContent(of: whole, in: table.name)
        let known = KnownRow(table: table.name, delta: delta)
        guard try access.states.add(known, showing: row.shown(at: 1), sharing: shared) else {
            return false
        }
        try lookAtNew(delta, in: table.name)
        try access.shadow.forgetFormerKey(of: row.id)
        try access.held.wake()
        result.changes += 1
        result.shadowed += 1
        try outgoing.addNew(delta, to: table.name)
        return true
    }

    /// Lists the edits of a deleted row that had arrived, and that this store has not shown.
    func listUnseen(
        of row: ShownRow,
        _ known: KnownRow,
        _ deleted: RowState,
        in table: TableMapping,
        _ numbers: [Int64]
    ) throws {
        guard try access.dirty.isUnwritten(row.id) else { return }
        let parts = try table.parts(of: row, numbers)
        let unseen = try known.state.cells.filter { cell in
            guard !cell.stamp.isZero, cell.stamp.device != stamp.device,
                let place = table.place(of: cell.column)
            else { return false }
            var stored = table.columns[place].stored(cell.value).stored
            if case .row(let id) = cell.value, let key = try access.shadow.row(id)?.key {
                stored = key.number.map { .integer($0) }
            }
            let part = RowImage.Part(long: cell.value) ?? stored.map { .init($0) }
            return part != parts[numbers[place]]
        }
        if unseen.isEmpty { return }
        try access.removed.keep(
            known.state.cells.map { ($0.column, $0.value) },
            of: row.id
        )
        let gone = KnownRow(table: table.name, delta: RowDelta(row.id, deleted))
        for cell in unseen {
            try access.removed.add(
                Conflict(.deleted, cell, of: gone, lost: cell, by: cell.stamp.device)
            )
        }
    }

    /// Sends the values of a row by which it refers to another row than before, though they are the same.
    mutating func sendNamed(
        by reference: ViewSchema.Reference,
        of table: TableMapping,
        _ id: RowID,
        at key: RowKey
    ) throws {
        guard options.meaning == .edits, let state = try access.states.known(id)?.state,
            state.isAlive, let former = reference.namedRow(in: state),
            try !access.dirty.isUnwritten(id),
            let values = try finder?.values(table.storedColumns, of: table.schema, at: key)
        else { return }
        let wires = try wires(values, of: table)
        let own = reference.ownPlaces(in: table)
        guard own.contains(where: { wires[$0].namedRow ?? former != former }) else { return }
        let groups = table.groups.filter { !$0.isDisjoint(with: own) }
        let cells = groups.reduce(into: Set(own)) { $0.formUnion($1) }
            .map { Cell(table.columns[$0].name, stamp, wires[$0]) }
        // The store shows all of it, so the row is not dirty.
        let delta = RowState(causalLength: state.causalLength, birth: nil, cells: cells)
        let moved = try movingContent(of: RowDelta(id, delta), in: table.name)
        guard try access.states.join(moved, in: table.name) != nil else { return }
        result.changes += 1
        try outgoing.add(moved, to: table.name)
    }

    /// Sends the files and the long values of a delta, and returns it with references to these.
    private func movingContent(of delta: RowDelta, in table: TableName) throws -> RowDelta {
        let delta = try delta.movingLongValues(to: outgoing.keep)
        for cell in delta.state.cells { try keepFile(of: cell, of: delta.id, in: table) }
        return delta
    }

    /// Has a new row looked at if it may be shown differently from the store, or if other rows wait for it.
    private func lookAtNew(_ delta: RowDelta, in name: TableName) throws {
        let table = tables.first { $0.name == name }
        // No index of the store keeps two rows from having the identity of one.
        if table?.isNamed == true { return try access.dirty.mark(delta.id) }
        // It is unknown whether the row that values name exists.
        let names = table?.references.contains(where: \.isByValue) ?? true
        if try names || access.held.hasTies { try access.dirty.markAltered(delta.id) }
    }

    /// Sends the content of the file that a cell of a row names.
    func keepFile(of cell: Cell, of id: RowID, in table: TableName) throws {
        guard case .file(let name, let content) = cell.value else { return }
        let file = tables.first { $0.name == table }?.file(named: name, by: cell.column)
        if try keep(file, content) { return }
        // A file that is missing here was sent with the known value.
        if try access.states.known(id)?.state.cell(cell.column)?.value == cell.value { return }
        throw StoreError.unreadable(
            String(decoding: name, as: UTF8.self),
            reason: "it changed while it was read"
        )
    }

    /// Sends the content of a file, as that of a long value, and returns whether the file has it.
    private func keep(_ file: RowFile?, _ content: BlobReference) throws -> Bool {
        guard let file, let bytes = try files.read(file),
            bytes.withUnsafeBytes({ Digest(of: $0) }) == content.digest
        else { return false }
        try outgoing.keep(content, bytes)
        return true
    }
}

/// Tables in groups, parents before children; tables that refer to each other form one group.
struct TableOrder {
    struct Group {
        let tables: [TableMapping]
        let isCyclic: Bool
    }

    let groups: [Group]

    init(_ tables: [TableMapping]) {
        let byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        let view = tables.map { ViewSchema.Table($0.name, columns: [], references: $0.references) }
        groups = TableGroup.parentsFirst(view).map { group in
            Group(
                tables: group.tables.compactMap { byName[$0.name] },
                isCyclic: group.isCyclic
            )
        }
    }
}
