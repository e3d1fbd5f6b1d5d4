public import Changes
internal import Files
public import Foundation
public import Stores
internal import SystemPackage

/// The effects on the rows of a store that joins a group, and on the group's.
///
/// They are determined with a scratch sidecar, so that nothing is changed.
public struct JoinPreview: Sendable {
    /// The numbers of rows of a table.
    public struct Table: Sendable, Equatable {
        /// The rows that are both in the store and in the group.
        public var alike: Int64 = 0
        /// The rows in both with values that yield to the group's.
        public var yielding: Int64 = 0
        /// The rows that are only in the store.
        public var onlyHere: Int64 = 0
        /// The rows that are only in the group.
        public var onlyThere: Int64 = 0
        /// The rows that were deleted elsewhere, and will be deleted from the store.
        public var deletedThere: Int64 = 0
        /// The rows only in the store with the same content as rows only in the group.
        public var doubled: Int64 = 0
        /// The rows among them that differ only in their files, which are missing here, or are others.
        public var fileless: Int64 = 0
    }

    /// The numbers, by the names of the store's tables.
    public private(set) var tables: [String: Table] = [:]

    /// The number of tables of which the group has rows.
    public private(set) var there = 0
    /// The number of those that the store has too.
    public private(set) var shared = 0

    /// Whether the group may be another application's: the store lacks more than half of its tables.
    ///
    /// Tables of the store that the group has no rows of say nothing: they may be empty elsewhere.
    public var isDoubtful: Bool { shared * 2 < there }

    /// The number of rows that would be there twice, since they differ only in their files.
    public var fileless: Int64 { tables.values.reduce(0) { $0 + $1.fileless } }

    /// The number of rows that will be deleted from the store.
    public var deletions: Int64 { tables.values.reduce(0) { $0 + $1.deletedThere } }

    /// Determines the effects.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - container: the group's container.
    ///   - look: the findings in the container.
    ///   - excluded: the tables that only this device leaves out.
    ///   - match: the way to match rows with the group's beyond their ids.
    ///   - date: the current time.
    ///   - options: the options of the exchange.
    /// - Throws: `RemoteError`, `StoreError`, `SidecarError`, `FileError`; any error of `options.check`.
    public init(
        of store: Store,
        joining container: Container,
        _ look: Enrolment.Look,
        excluded: Set<TableName>,
        match: JoinMatch?,
        at date: Date,
        options: StoreExchange.Options
    ) async throws {
        let directory = try ScratchDirectory(in: options.scratch)
        let sidecar = try Sidecar(in: directory.path.appending("sync"))
        defer { try? sidecar.close() }
        try Enrolment(in: container).enrol(
            sidecar,
            as: "",
            look,
            map: SyncMap(),
            excluded: excluded,
            match: match,
            at: date,
            program: options.program
        )
        let exchange = StoreExchange(
            of: store,
            sidecar: sidecar,
            container: container,
            now: date,
            options: options
        )
        var taken = Intake.Taken()
        try await Intake(of: exchange).run(container.look(), options.check, &taken)
        try GroupMap.adopt(in: sidecar, accepts: options.acceptsChanges)
        try sidecar.write { try $0.keepLives() }
        let known = try sidecar.read { try Self.livingTables($0) }
        there = known.count
        try exchange.capture(seeds: true)
        for table in try exchange.mappings() {
            tables[table.schema.name] = try sidecar.read { try $0.preview(of: table) }
            if known.contains(table.name) { shared += 1 }
        }
        withExtendedLifetime(directory) {}
    }

    /// Returns the tables with rows that are alive.
    private static func livingTables(_ access: SidecarAccess) throws -> Set<TableName> {
        let statement = try access.ownStatement("SELECT t FROM tab WHERE alive > 0")
        try statement.begin([])
        var tables: Set<TableName> = []
        while try statement.step() { tables.insert(try access.table(statement.integer(0))) }
        return tables
    }
}

extension SidecarAccess {
    /// Records which rows are known, and alive, before the store's rows are captured.
    fileprivate func keepLives() throws {
        try perform("CREATE TEMP TABLE life (id BLOB PRIMARY KEY, t, alive) WITHOUT ROWID")
        try perform("INSERT INTO temp.life SELECT id, t, cl % 2 FROM row WHERE cl > 0 ORDER BY id")
    }

    /// Counts the rows of a captured table.
    fileprivate func preview(of table: TableMapping) throws -> JoinPreview.Table {
        let number = SidecarValue.integer(try number(of: table.name))
        var counts = JoinPreview.Table()
        /// The rows that are only here, by their content.
        var contents: [Digest: [RowState]] = [:]
        let others = try ownStatement(
            """
            SELECT s.id, l.alive FROM shown s LEFT JOIN temp.life l ON l.id = s.id
            WHERE s.t = ? AND l.alive IS NOT 1
            """
        )
        try others.begin([number])
        while try others.step() {
            guard let id = others.id(0) else { continue }
            let state = try states.known(id)?.state
            // Another row is shown in its place, since both have the same content.
            if state?.cell(.same) != nil { continue }
            if others.optionalInteger(1) != nil {
                counts.deletedThere += 1
            } else {
                counts.onlyHere += 1
                guard let state, table.identifyingPlaces == nil else { continue }
                contents[table.content(of: state), default: []].append(state)
            }
        }
        counts.alike = try shadow.count(in: table.name) - counts.deletedThere - counts.onlyHere
        if !contents.isEmpty {
            try states.forEachUnshown(in: table.name) { row in
                let content = table.content(of: row.state)
                guard let states = contents[content], !states.isEmpty else { return }
                let place = states.firstIndex { $0.files == row.state.files }
                contents[content]?.remove(at: place ?? 0)
                counts.doubled += 1
                if place == nil { counts.fileless += 1 }
            }
        }
        counts.yielding = try removed.yieldingCount(in: table.name)
        let alive = try first("SELECT count(*) FROM temp.life WHERE t = ? AND alive", number) {
            $0.integer(0)
        }
        counts.onlyThere = (alive ?? 0) - counts.alike
        return counts
    }
}

extension RowState {
    /// The values that are files beside the store.
    fileprivate var files: [Value] { cells.map(\.value).filter(\.isFile) }
}

extension TableMapping {
    /// Returns a hash of a state's values for the columns.
    fileprivate func content(of state: RowState) -> Digest {
        var writer = ByteWriter()
        for value in values(of: state) { writer.value(value) }
        return writer.bytes.withUnsafeBytes { Digest(of: $0) }
    }
}

extension StoreExchange {
    /// Returns the mappings of the store's tables.
    fileprivate func mappings() throws -> [TableMapping] {
        let snapshot = try snapshot()
        return try withExtendedLifetime(snapshot) { try sidecar.tables(in: snapshot).1 }
    }
}
