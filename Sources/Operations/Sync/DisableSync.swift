internal import Files
public import Stores
public import Sync
public import SystemPackage

/// Makes a store leave its group: it stays as it is, or gets its content from before it took part.
///
/// Nothing in the container is removed, and the copy from before stays on this machine.
public struct DisableSync: Sendable {
    /// The result of leaving.
    public struct Outcome: Sendable {
        /// The store's path below the stores directory.
        public var store: String
        /// The group that it left; `nil` if it had left before, and only its sidecar is removed now.
        public var group: String?
        /// The number of changes that were not sent, also of those that no run has captured.
        public var unsent: Int64
        /// Whether the store has its earlier content again.
        public var isAsBefore: Bool
        /// The copy from before the store took part.
        public var before: FilePath?
        /// The copy of the content that was replaced by the earlier one; `nil` if none was.
        public var yielded: FilePath?
    }

    private let places: SyncPlaces
    private let context: OperationContext

    public init(in places: SyncPlaces, context: OperationContext) {
        self.places = places
        self.context = context
    }

    /// Leaves the group.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - asBefore: whether the store gets its earlier content; it must not be open then.
    ///   - confirm: asks the user, who sees what is known of the store.
    /// - Returns: the outcome; `nil` if the user declined.
    /// - Throws: `SyncError`, `StoreError`, `SidecarError`, `FileError`.
    public func run(
        _ store: Store,
        asBefore: Bool,
        confirm: (SyncOverview) throws -> Bool
    ) async throws -> Outcome? {
        let directory = places.sidecar(of: store)
        return try await context.withLock(on: directory) {
            let sidecar = try Sidecar(in: directory)
            defer { try? sidecar.close() }
            var overview = try SyncOverview(of: sidecar)
            let before = try sidecar.copyBefore
            if asBefore {
                guard before != nil else {
                    throw SyncError.nothingBefore(store: store.path.description)
                }
                // A missing file is restored; a file that is no store may be important to someone.
                switch places.trouble(with: store, in: overview.group) {
                case nil, .storeGone: try refuseIfInUse(store)
                case let trouble?: throw trouble
                }
            }
            overview.unsentChanges = unsentChanges(of: store, sidecar, overview)
            guard try confirm(overview) else { return nil }
            var yielded: FilePath?
            if asBefore {
                try await context.withLock(on: store.directory) {
                    try refuseIfInUse(store)
                    yielded = try keep(store, sidecar)
                    // Leave first: if this run is killed, no later run takes the restored content for edits.
                    try sidecar.leave()
                    try sidecar.putBack(store)
                }
            }
            try sidecar.close()
            try Sidecar.remove(in: directory)
            return Outcome(
                store: store.path.description,
                group: overview.group,
                unsent: overview.unsentChanges,
                isAsBefore: asBefore,
                before: before,
                yielded: yielded
            )
        }
    }

    /// Returns the number of changes that were not sent; those captured already, if the store cannot be read.
    private func unsentChanges(
        of store: Store,
        _ sidecar: Sidecar,
        _ overview: SyncOverview
    ) -> Int64 {
        var options = StoreExchange.Options(scratch: context.scratch, program: "")
        options.check = context.checkCancellation
        return (try? sidecar.unsentChanges(of: store, options)) ?? overview.unsentChanges
    }

    /// Keeps a copy of a store that is about to be replaced; `nil` if its file is gone.
    private func keep(_ store: Store, _ sidecar: Sidecar) throws -> FilePath? {
        guard try FileInfo.ifPresent(store.location) != nil else { return nil }
        return try store.withSnapshot(context) {
            try sidecar.keepYielded($0, checkCancellation: context.checkCancellation)
        }
    }

    private func refuseIfInUse(_ store: Store) throws {
        do {
            try Store.refuseIfInUse([store])
        } catch RestoreError.storesInUse(let store, let users) {
            throw SyncError.storeInUse(store: store, by: users)
        }
    }
}
