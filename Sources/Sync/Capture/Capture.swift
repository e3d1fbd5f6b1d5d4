internal import Changes
internal import Files
internal import Foundation
internal import Stores

/// The comparison of a store with its shadow: each difference becomes a delta, and the shadow is then what
/// the store holds.
///
/// It runs within one transaction of the store and one of the sidecar. A table whose references all lead to
/// tables before it is captured as it is read; tables that refer to each other, or to themselves, once the
/// ids of all their rows are known.
struct Capture {
    /// The way in which rows get their stamps and ids.
    enum Kind {
        /// An application's edits.
        case edits
        /// What was there before: it loses to any edit, and ids are made of content.
        case seed
        /// What came with a new schema, on each device alike: new rows are as those of a seed.
        case migration
    }

    struct Options {
        /// Whether most rows of a table may be gone.
        var acceptsChanges = false
        /// Whether everything is a seed, as when the store begins to take part.
        var seeds = false
        /// What differences mean.
        var meaning = Rejoining.edits
        /// Whether new rows may be rows of the state that the shadow has lost sight of.
        var matches = false

        /// What of the schema and the map is new.
        var change = SchemaChange()
        /// How rows are found among the group's besides by their ids, as the store joins it.
        var match: JoinMatch?
        /// The most rows of a table that are in memory at a time, of which none was there before.
        var partRows = ViewLook.partRows

        /// Whether rows that are here and were deleted elsewhere come back everywhere.
        var revives = false

        /// Whether the shadow cannot be trusted.
        var isAfterAccident: Bool { matches || meaning != .edits }
    }

    /// What a capture found.
    struct Result: Equatable {
        /// Rows that were inserted, changed or deleted, and are to be told.
        var changes = 0
        /// Rows whose shadow is new.
        var shadowed = 0
    }

    let tables: [TableMapping]
    let access: SidecarAccess
    /// The stamp of this capture's edits.
    let stamp: Stamp
    let options: Options
    /// Takes each delta.
    private let outgoing: Outgoing
    /// Those that rows may name.
    private let files: ExternalFiles
    /// Twelve random bytes, and how many ids were made of them.
    private let random: (high: UInt64, low: UInt32)
    private var idCount: UInt32 = 0
    var result = Result()
    /// Finds rows of the store.
    private(set) var finder: RowFinder?
    /// Rows of this store for which others are shown, since they are alike.
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
        for group in TableOrder(tables).groups { try run(group, snapshot) }
        for table in tables { try access.setSeeded(table.name) }
    }

    private mutating func run(_ group: TableOrder.Group, _ snapshot: StoreSnapshot) throws {
        let captured = try group.tables.map { try TableCapture($0, kind(of: $0), self) }
        let first = try captured.filter { try $0.isFirst(self) }
        let others = captured.filter { capture in !first.contains { $0 === capture } }
        for capture in others { try capture.scan(snapshot, &self) }
        for capture in first {
            try capture.takeFirst(snapshot, &self, isCyclic: group.isCyclic)
        }
        for capture in others { try capture.identify(&self, isCyclic: group.isCyclic) }
        if group.isCyclic { for capture in first { try capture.tellFirst(snapshot, &self) } }
        for capture in others { try capture.finish(&self) }
    }

    /// A table that was not there before starts as a seed.
    private func kind(of table: TableMapping) throws -> Kind {
        if try options.seeds || !access.isSeeded(table.name) { return .seed }
        return options.change.isMigration ? .migration : .edits
    }

    /// The rows of a table that the schema has no more are no deletions: they are held.
    private func leaveMissingTables() throws {
        let names = Set(tables.map(\.name))
        let map = try access.map
        let excluded = Set(map.exclude.map { map.tables[$0]?.was ?? $0 })
        for name in try access.seededTables() where !names.contains(name) {
            try access.leave(name, keepsIDs: excluded.contains(name))
        }
    }

    /// Shows rows again that the map had left out, so that they are the same rows.
    ///
    /// What was edited meanwhile is an edit of now. Rows that went are no deletions, and come back.
    private func bringBack(_ table: TableMapping, _ snapshot: StoreSnapshot) throws {
        guard try access.hasParked(table.name) else { return }
        var cursor = try snapshot.rows(of: table.schema, order: table.order, rowIDs: nil)
        while try cursor.next() { try access.bringBack(cursor.key, in: table.name) }
        try access.endReturn(of: table.name)
    }

    /// Makes an id that nobody has.
    mutating func makeID() -> RowID {
        defer { idCount += 1 }
        return RowID(randomHigh: random.high, randomLow: random.low, count: idCount)
    }

    // MARK: - Values

    /// Returns a value as it travels: a reference as the id of the row that it names.
    func wire(_ value: StoredValue, of column: ColumnMapping) throws -> Value {
        guard let parent = column.parent else {
            if column.holdsFiles, let reference = ExternalReference(value),
                let content = try files.content(of: reference)
            {
                return .file(name: Array(reference.name.utf8), content: content)
            }
            // A reference to a file that is not here is one to a file that is nowhere.
            return (column.entities?.name(value) ?? value).wire
        }
        switch value {
        case .null: return .null
        case .integer(let number):
            // A reference to no row travels as the id that nobody shows.
            return .row(try access.id(at: .rowID(number), in: parent) ?? .zero)
        default: return .row(.zero)
        }
    }

    /// Tells a delta, and joins it with the state; long values become blobs.
    mutating func tell(_ delta: RowDelta, in table: TableName) throws {
        let delta = try delta.movingLongValues(to: outgoing.keep)
        for cell in delta.state.cells {
            if case .file(let name, let content) = cell.value { try keepFile(name, content) }
        }
        guard let joined = try access.join(delta, in: table) else { return }
        // What is known besides, or wins, is not in the store.
        if joined.old != nil {
            try access.markDirty(delta.id)
        } else if try needsLook(delta, in: table) {
            try access.markAltered(delta.id)
        }
        result.changes += 1
        try outgoing.add(delta, to: table)
    }

    /// Whether a new row may not be shown as the store has it, or others wait for it.
    private func needsLook(_ delta: RowDelta, in name: TableName) throws -> Bool {
        if try access.hasTies { return true }
        guard let table = tables.first(where: { $0.name == name }) else { return true }
        // Whether a row is there that is named by values is not known.
        return table.references.contains(where: \.isByValue)
            || delta.state.cells.contains { $0.value == .row(.zero) }
    }

    /// Sends the content of a file along, as that of a long value.
    private func keepFile(_ name: [UInt8], _ content: BlobReference) throws {
        guard let reference = ExternalReference(name: name),
            let bytes = try files.read(reference),
            bytes.withUnsafeBytes({ Digest(of: $0) }) == content.digest
        else {
            let name = String(decoding: name, as: UTF8.self)
            throw StoreError.unreadable(name, reason: "it changed while it was read")
        }
        try outgoing.keep(content, bytes)
    }
}
