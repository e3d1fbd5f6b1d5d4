public import Changes
internal import Files
public import Foundation
public import Stores
internal import SystemPackage

/// What becomes of the rows of a store that joins a group, and of the group's: found out on a copy of what
/// would be kept, so that nothing is changed.
public struct JoinPreview: Sendable {
    /// The rows of a table.
    public struct Table: Sendable, Equatable {
        /// Those that are in the store and in the group.
        public var alike: Int64 = 0
        /// Those of them with values that yield to the group's.
        public var yielding: Int64 = 0
        /// Those that the group has not.
        public var onlyHere: Int64 = 0
        /// Those that the store has not.
        public var onlyThere: Int64 = 0
        /// Those that were deleted elsewhere, and go from the store.
        public var deletedThere: Int64 = 0
        /// Those that are only here, and like rows that are only there.
        public var doubled: Int64 = 0
    }

    /// By the names of the store's tables.
    public private(set) var tables: [String: Table] = [:]

    /// Rows that go from the store.
    public var deletions: Int64 { tables.values.reduce(0) { $0 + $1.deletedThere } }

    /// Looks.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - container: the group's.
    ///   - look: what was found in it.
    ///   - excluded: tables that only this device leaves out.
    ///   - match: how rows are found among the group's besides by their ids.
    ///   - date: now.
    ///   - options: how to exchange.
    /// - Throws: `RemoteError`, `StoreError`, `SidecarError`, `FileError`; what `options.check` throws.
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
        try await Intake(sidecar: sidecar, container: container, now: exchange.now)
            .run(container.look(), options.check, &taken)
        try exchange.adoptMap()
        let (alive, dead) = try sidecar.read { try $0.rowsByLife() }
        try exchange.capture(seeds: true)
        for table in try exchange.mappings() {
            var counts = Table()
            try sidecar.read { access in
                var others = try access.contents(of: table, among: alive)
                try access.forEachShown(in: table.name) { row in
                    if try alive.contains(row.id) || access.isStoodFor(row.id) {
                        counts.alike += 1
                    } else if dead.contains(row.id) {
                        counts.deletedThere += 1
                    } else {
                        counts.onlyHere += 1
                        guard let state = try access.known(row.id)?.state else { return }
                        let content = table.values(of: state)
                        guard let count = others[content], count > 0 else { return }
                        others[content] = count - 1
                        counts.doubled += 1
                    }
                }
                counts.yielding = try access.yieldingCount(in: table.name)
                counts.onlyThere =
                    try access.aliveCount(in: table.name, among: alive) - counts.alike
            }
            tables[table.schema.name] = counts
        }
        withExtendedLifetime(directory) {}
    }
}

extension SidecarAccess {
    /// The rows that are alive, and those that were deleted.
    fileprivate func rowsByLife() throws -> (alive: Set<RowID>, dead: Set<RowID>) {
        var (alive, dead): (Set<RowID>, Set<RowID>) = ([], [])
        try forEachKnown { row in
            if row.state.isAlive { alive.insert(row.id) } else { dead.insert(row.id) }
        }
        return (alive, dead)
    }

    /// Whether another row is shown for one since both are alike.
    fileprivate func isStoodFor(_ id: RowID) throws -> Bool {
        try known(id)?.state.cell(.same) != nil
    }

    /// The contents of the rows that the store does not show, and how many have each; none of a table with
    /// keys.
    fileprivate func contents(
        of table: TableMapping,
        among alive: Set<RowID>
    ) throws -> [[Value]: Int] {
        guard table.identifyingPlaces == nil else { return [:] }
        var contents: [[Value]: Int] = [:]
        try forEachKnown { row in
            guard row.table == table.name, alive.contains(row.id), try shown(row.id) == nil
            else { return }
            contents[table.values(of: row.state), default: 0] += 1
        }
        return contents
    }

    fileprivate func aliveCount(in table: TableName, among alive: Set<RowID>) throws -> Int64 {
        var count: Int64 = 0
        try forEachKnown { row in
            if row.table == table, alive.contains(row.id) { count += 1 }
        }
        return count
    }
}

extension StoreExchange {
    /// Returns how the store's tables travel.
    fileprivate func mappings() throws -> [TableMapping] {
        let snapshot = try snapshot()
        return try withExtendedLifetime(snapshot) { try sidecar.tables(in: snapshot).1 }
    }
}
