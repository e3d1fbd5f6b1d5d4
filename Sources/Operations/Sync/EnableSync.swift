public import Changes
internal import Files
public import Remotes
public import Stores
public import Sync
public import SystemPackage

/// Has a store take part in a group, which it begins or joins.
///
/// It looks first and asks; then a copy of the store is kept, this machine notes what it is, and exchanges
/// once. It can be killed anywhere: what is done twice changes nothing.
public struct EnableSync: Sendable {
    public struct Options: Sendable {
        /// The address of the container.
        public var container: String
        /// The group's name; `nil` for one made of the store's.
        public var group: String?
        /// This device's name, for people.
        public var device: String
        /// What the group's map says.
        public var map = SyncMap()
        /// Tables that do not sync, besides those that the map names.
        public var exclude: [String] = []
        /// How rows are found among those of a group that is joined, besides by their ids.
        public var match: JoinMatch?
        /// Whether nothing is changed.
        public var isDryRun = false

        public init(container: String, device: String) {
            self.container = container
            self.device = device
        }
    }

    /// What would be done.
    public struct Plan: Sendable {
        /// The store's path below the stores directory.
        public var store: String
        public var group: String
        public var container: String
        public var device: String
        /// What was found in the container.
        public var look: Enrolment.Look
        public var preview: SyncPreview
        /// What becomes of the rows; `nil` if the store begins the group.
        public var join: JoinPreview?
        /// How rows are found among the group's, besides by their ids.
        public var match: JoinMatch?
    }

    /// What was done.
    public struct Outcome: Sendable {
        public var plan: Plan
        /// The copy of the store from before.
        public var before: FilePath?
        /// The first exchange; `nil` of a dry run.
        public var synced: SyncedStore?
    }

    private let places: SyncPlaces
    private let folder: @Sendable (String) throws -> any RemoteFolder
    private let options: Options
    private let running: RunSync.Options
    private let context: OperationContext

    /// - Parameters:
    ///   - places: the stores.
    ///   - folder: names the remote folder of an address.
    ///   - options: how to take part.
    ///   - running: how to exchange for the first time.
    ///   - context: the world around it.
    public init(
        in places: SyncPlaces,
        folder: @escaping @Sendable (String) throws -> any RemoteFolder,
        options: Options,
        running: RunSync.Options,
        context: OperationContext
    ) {
        self.places = places
        self.folder = folder
        self.options = options
        self.running = running
        self.context = context
    }

    /// Takes part.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - confirm: shows the plan, and returns whether to go on.
    /// - Returns: `nil` if the person did not want to.
    /// - Throws: `SyncError`, `RemoteError`, `StoreError`, `SidecarError`, `FileError`, `CancellationError`.
    public func run(_ store: Store, confirm: (Plan) throws -> Bool) async throws -> Outcome? {
        let group = try group(of: store)
        try refusePlaces()
        let container = Container(
            try folder(options.container),
            group: group,
            scratch: context.scratch
        )
        let directory = places.sidecar(of: store)
        if options.isDryRun {
            try refuseEnabled(places.overview(of: store), store, group)
            let plan = try await plan(store, container)
            return try confirm(plan) ? Outcome(plan: plan) : nil
        }
        // Of this user alone.
        try LocalFileSystem().createDirectories(directory)
        return try await context.withLock(on: directory) {
            try refuseEnabled(places.overview(of: store), store, group)
            let plan = try await plan(store, container)
            guard try confirm(plan) else { return nil }
            // What a run that left, or was killed before it took part, could not remove.
            if try places.overview(of: store).group == nil { try Sidecar.remove(in: directory) }
            let sidecar = try Sidecar(in: directory)
            defer { try? sidecar.close() }
            try enrol(store, sidecar, container, plan)
            let run = RunSync(in: places, folder: folder, options: running, context: context)
            let synced = try await run.exchange(store, sidecar)
            return Outcome(plan: plan, before: try sidecar.copyBefore, synced: synced)
        }
    }

    private func enrol(
        _ store: Store,
        _ sidecar: Sidecar,
        _ container: Container,
        _ plan: Plan
    ) throws {
        // Killed after this: it goes on where it was, with the copy that was kept.
        guard try SyncOverview(of: sidecar).group == nil else { return }
        try store.withSnapshot(context) { snapshot in
            try sidecar.keepBefore(snapshot, checkCancellation: context.checkCancellation)
        }
        try Enrolment(in: container).enrol(
            sidecar,
            as: options.device,
            plan.look,
            map: plan.look.begins ? map : SyncMap(),
            excluded: plan.look.begins ? [] : map.exclude,
            match: plan.match,
            at: running.date,
            program: running.program
        )
    }

    // MARK: - Looking

    private func plan(_ store: Store, _ container: Container) async throws -> Plan {
        guard store.location.allowsWriting, store.location.removingLastComponent().allowsChanges
        else { throw SyncError.readOnlyStore(store.path.description) }
        let look = try await Enrolment(in: container).look()
        try refuseNamesake(of: store, look, container)
        let agreed = try agreedMap(look, container)
        let preview = try store.preview(by: agreed, context)
        let name = store.path.description
        let excluded = Set(options.exclude.compactMap { TableName($0)?.description })
        if let unknown = preview.unknownNames.first(where: excluded.contains) {
            throw SyncError.noTable(unknown, store: name)
        }
        for unknown in preview.unknownNames {
            context.warn("the map tells of '\(unknown)', which '\(name)' has not")
        }
        guard !preview.tables.isEmpty else {
            throw SyncError.nothingToSync(store: name, preview.leftOut)
        }
        var join: JoinPreview?
        let match = self.match(for: look)
        if !look.begins {
            var exchange = StoreExchange.Options(scratch: context.scratch, program: running.program)
            exchange.check = context.checkCancellation
            join = try await JoinPreview(
                of: store,
                joining: container,
                look,
                excluded: map.exclude,
                match: match,
                at: running.date,
                options: exchange
            )
        }
        return Plan(
            store: name,
            group: container.group.description,
            container: container.address,
            device: options.device,
            look: look,
            preview: preview,
            join: join,
            match: match
        )
    }

    /// Returns how rows are found among the group's.
    ///
    /// A device that the group knows by its name has its rows, and has lost their ids. Without keys they would
    /// be doubled, unless they are still as they were at first.
    private func match(for look: Enrolment.Look) -> JoinMatch? {
        guard !look.begins else { return nil }
        return options.match ?? (look.devices.contains(options.device) ? .again : nil)
    }

    /// Returns what this device will go by: who joins a group goes by its map, and may leave out more.
    private func agreedMap(_ look: Enrolment.Look, _ container: Container) throws -> SyncMap {
        guard !look.begins else { return map }
        var (agreed, own) = (look.map?.content ?? SyncMap(), map)
        own.exclude = agreed.exclude
        guard own == agreed || own.isSilent else {
            throw SyncError.otherMap(group: container.group.description)
        }
        agreed.exclude.formUnion(map.exclude)
        return agreed
    }

    private var map: SyncMap {
        var map = options.map
        map.exclude.formUnion(options.exclude.compactMap { TableName($0) })
        return map
    }

    // MARK: - Refusals

    private func group(of store: Store) throws -> GroupName {
        guard let name = options.group else {
            return GroupName(ofStore: store.path.name.description)
        }
        guard let group = GroupName(name) else { throw SyncError.badGroup(name) }
        return group
    }

    /// Refuses a store that takes part elsewhere, or has done so for long.
    private func refuseEnabled(
        _ overview: SyncOverview,
        _ store: Store,
        _ group: GroupName
    ) throws {
        guard let present = overview.group, let container = overview.container else { return }
        guard !overview.isEnabling || present != group.description || container != options.container
        else { return }
        throw SyncError.alreadyEnabled(
            store: store.path.description,
            group: present,
            container: container
        )
    }

    /// Refuses to join the group of another store of this user that is only called the same.
    private func refuseNamesake(
        of store: Store,
        _ look: Enrolment.Look,
        _ container: Container
    ) throws {
        let group = container.group.description
        guard options.group == nil, !look.begins,
            let other = try places.other(than: store, in: group, options.container)
        else { return }
        throw SyncError.groupOfOther(store: store.path.description, group: group, other: other)
    }

    /// Refuses a container that a backup or a restore would take along, and stores that others copy.
    private func refusePlaces() throws {
        let stores = places.directory
        if let around = SynchronisedFolder(around: stores) {
            throw SyncError.synchronisedFolder(
                stores: stores,
                folder: around.path,
                program: around.program
            )
        }
        guard try folder(options.container) is LocalFolder,
            let path = try? FilePath(options.container).resolved()
        else { return }
        if path.starts(with: stores) {
            throw SyncError.containerInsideStores(options.container, stores)
        }
        if stores.starts(with: path) {
            throw SyncError.storesInsideContainer(stores, options.container)
        }
        guard try FileInfo(of: path).kind == .directory else {
            throw SyncError.containerIsNoFolder(options.container)
        }
        guard path.allowsChanges else {
            throw RemoteError.readOnly(options.container, reason: "it may not be changed")
        }
    }
}

extension SyncMap {
    /// Whether it says nothing, but perhaps which tables do not sync.
    fileprivate var isSilent: Bool { tables.isEmpty && triggers.isEmpty }
}
