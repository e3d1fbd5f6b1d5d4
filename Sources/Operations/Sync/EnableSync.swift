public import Changes
internal import Files
internal import Remotes
public import Stores
public import Sync
public import SystemPackage

/// Makes a store take part in a group, which it begins or joins.
///
/// It looks first, and asks. Then it keeps a copy of the store, records the enrolment on this machine, and exchanges
/// once. It may be killed at any point: repeating a step changes nothing.
public struct EnableSync: Sendable {
    public struct Options: Sendable {
        /// The address of the container.
        public var container: String
        /// The container's address as it is shown and recorded.
        var address: String { RemoteAddress(container).shown }
        /// The group's name; `nil` for one derived from the store's name.
        public var group: String?
        /// This device's name, as users see it.
        public var device: String
        /// The content of the group's map.
        public var map = SyncMap()
        /// The tables that do not sync, in addition to those in the map.
        public var exclude: [String] = []
        /// The way to match rows with those of a joined group, beyond their ids.
        public var match: JoinMatch?
        /// Whether to only report what would be done.
        public var isDryRun = false

        public init(container: String, device: String) {
            self.container = container
            self.device = device
        }
    }

    /// The plan of an enrolment.
    public struct Plan: Sendable {
        /// The store's path below the stores directory.
        public var store: String
        public var group: String
        public var container: String
        public var device: String
        /// The state found in the container.
        public var look: Enrolment.Look
        public var preview: SyncPreview
        /// The map of the group that the store begins, with what its rows show; `nil` if it joins one.
        public var proposal: MapProposal?
        /// The preview of the join; `nil` if the store begins the group.
        public var join: JoinPreview?
        /// The way to match rows with the group's, beyond their ids.
        public var match: JoinMatch?
    }

    /// The result of an enrolment.
    public struct Outcome: Sendable {
        public var plan: Plan
        /// The copy of the store from before.
        public var before: FilePath?
        /// The first exchange; `nil` for a dry run.
        public var synced: SyncedStore?
    }

    private let places: SyncPlaces
    private let options: Options
    private let running: RunSync.Options
    private var context: OperationContext { places.context }

    /// - Parameters:
    ///   - places: the stores.
    ///   - options: the options of the enrolment.
    ///   - running: the options of the first exchange.
    public init(in places: SyncPlaces, options: Options, running: RunSync.Options) {
        self.places = places
        self.options = options
        self.running = running
    }

    /// Begins or joins the group.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - confirm: shows the plan, and returns whether to go on.
    /// - Returns: the outcome; `nil` if the user declined.
    /// - Throws: `SyncError`, `RemoteError`, `StoreError`, `SidecarError`, `FileError`, `CancellationError`.
    public func run(_ store: Store, confirm: (Plan) throws -> Bool) async throws -> Outcome? {
        do {
            return try await enable(store, confirm)
        } catch StoreError.damaged(let name, let reason) {
            throw SyncError.damagedStore(name, reason: reason)
        }
    }

    private func enable(_ store: Store, _ confirm: (Plan) throws -> Bool) async throws -> Outcome? {
        let group = try group(of: store)
        try refusePlaces()
        let container = try places.container(of: group, at: options.container)
        let directory = places.sidecar(of: store)
        if options.isDryRun {
            try refuseEnabled(places.overview(of: store), store, group)
            let plan = try await plan(store, container)
            return try confirm(plan) ? Outcome(plan: plan) : nil
        }
        // The directory is accessible to this user only.
        try LocalFileSystem().createDirectories(directory)
        return try await context.withLock(on: directory) {
            try refuseEnabled(places.overview(of: store), store, group)
            let plan = try await plan(store, container)
            guard try confirm(plan) else { return nil }
            // Remove what remains of a run that left, or that was killed before it took part.
            if try places.overview(of: store).group == nil { try Sidecar.remove(in: directory) }
            let sidecar = try Sidecar(in: directory)
            defer { try? sidecar.close() }
            try enrol(store, sidecar, container, plan)
            let synced = try await RunSync(in: places, options: running).exchange(store, sidecar)
            return Outcome(plan: plan, before: try sidecar.copyBefore, synced: synced)
        }
    }

    private func enrol(
        _ store: Store,
        _ sidecar: Sidecar,
        _ container: Container,
        _ plan: Plan
    ) throws {
        // If an earlier run was killed after this, go on from there, with the copy that it kept.
        guard try SyncOverview(of: sidecar).group == nil else { return }
        try store.withSnapshot(context) { snapshot in
            try sidecar.keepBefore(snapshot, checkCancellation: context.checkCancellation)
        }
        try Enrolment(in: container).enrol(
            sidecar,
            as: options.device,
            plan.look,
            map: plan.proposal?.map ?? SyncMap(),
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
        let proposal = look.begins ? try MapProposal(for: store, map, context) : nil
        let agreed = try proposal?.map ?? agreedMap(look, container)
        let preview = try store.preview(by: agreed, context)
        let name = store.path.description
        let excluded = Set(options.exclude.compactMap { TableName($0)?.description.exact })
        if let unknown = preview.unknownNames.first(where: { excluded.contains($0.exact) }) {
            throw SyncError.noTable(unknown, store: name)
        }
        for unknown in preview.unknownNames {
            context.warn("the map names '\(unknown)', which '\(name)' does not have")
        }
        guard !preview.tables.isEmpty else {
            throw SyncError.nothingToSync(store: name, preview.leftOut)
        }
        let match = self.match(for: look)
        let join = look.begins ? nil : try await join(store, container, look, match)
        return Plan(
            store: name,
            group: container.group.description,
            container: container.address,
            device: options.device,
            look: look,
            preview: preview,
            proposal: proposal,
            join: join,
            match: match
        )
    }

    private func join(
        _ store: Store,
        _ container: Container,
        _ look: Enrolment.Look,
        _ match: JoinMatch?
    ) async throws -> JoinPreview {
        var exchange = StoreExchange.Options(scratch: context.scratch, program: running.program)
        exchange.check = context.checkCancellation
        return try await JoinPreview(
            of: store,
            joining: container,
            look,
            excluded: map.exclude,
            match: match,
            at: running.date,
            options: exchange
        )
    }

    /// Returns the way to match rows with the group's.
    ///
    /// If the group knows a device with this name, this device took part before and lost the ids of its rows. Rows
    /// without keys would then be duplicated, unless they still have their first content.
    private func match(for look: Enrolment.Look) -> JoinMatch? {
        guard !look.begins else { return nil }
        return options.match ?? (look.devices.contains(options.device) ? .again : nil)
    }

    /// Returns the map that this device will use.
    ///
    /// A joining device uses the group's map, and may exclude more tables.
    private func agreedMap(_ look: Enrolment.Look, _ container: Container) throws -> SyncMap {
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

    /// Throws if a store already takes part, unless an unfinished enrolment in the same group goes on.
    private func refuseEnabled(
        _ overview: SyncOverview,
        _ store: Store,
        _ group: GroupName
    ) throws {
        guard let present = overview.group, let container = overview.container else { return }
        guard !overview.isEnabling || present != group.description || container != options.address
        else { return }
        throw SyncError.alreadyEnabled(
            store: store.path.description,
            group: present,
            container: container
        )
    }

    /// Throws if the group belongs to another store of this user that only has the same name.
    private func refuseNamesake(
        of store: Store,
        _ look: Enrolment.Look,
        _ container: Container
    ) throws {
        let group = container.group.description
        guard options.group == nil, !look.begins,
            let other = try places.other(than: store, in: group, options.address)
        else { return }
        throw SyncError.groupOfOther(store: store.path.description, group: group, other: other)
    }

    /// Throws if a backup or a restore would include the container, or if another program synchronises the stores.
    private func refusePlaces() throws {
        let stores = places.directory
        if let around = SynchronisedFolder(around: stores) {
            throw SyncError.synchronisedFolder(
                stores: stores,
                folder: around.path,
                program: around.program
            )
        }
        guard let directory = try places.folder(options.container).directory,
            let path = try? directory.resolved()
        else { return }
        if path.starts(with: stores) {
            throw SyncError.containerInsideStores(options.address, stores)
        }
        if stores.starts(with: path) {
            throw SyncError.storesInsideContainer(stores, options.address)
        }
        guard try FileInfo(of: path).kind == .directory else {
            throw SyncError.containerIsNoFolder(options.address)
        }
        guard path.allowsChanges else {
            throw RemoteError.readOnly(options.address, reason: "it may not be changed")
        }
    }
}

extension SyncMap {
    /// Whether the map is empty, except for excluded tables.
    fileprivate var isSilent: Bool { tables.isEmpty && triggers.isEmpty }
}
