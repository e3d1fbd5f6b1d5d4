internal import Files
public import Stores
public import Sync
public import SystemPackage

/// Has a store leave its group: it stays as it is, or gets the content that it had before.
///
/// Nothing in the container is removed, and the copy from before stays on this machine.
public struct DisableSync: Sendable {
    /// What was done.
    public struct Outcome: Sendable {
        /// The store's path below the stores directory.
        public var store: String
        /// The group that it left; `nil` if it had left before, and what was kept is removed now.
        public var group: String?
        /// Changes that were not sent.
        public var unsent: Int64
        /// Whether the store has the content from before again.
        public var isAsBefore: Bool
        /// The copy from before.
        public var before: FilePath?
    }

    private let places: SyncPlaces
    private let context: OperationContext

    public init(in places: SyncPlaces, context: OperationContext) {
        self.places = places
        self.context = context
    }

    /// Leaves.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - asBefore: whether it gets the content that it had before; it must not be open then.
    ///   - confirm: asks, knowing what is kept of the store.
    /// - Returns: `nil` if the person did not want to.
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
            let overview = try SyncOverview(of: sidecar)
            let before = try sidecar.copyBefore
            if asBefore {
                guard before != nil else {
                    throw SyncError.nothingBefore(store: store.path.description)
                }
                // A file that is gone comes back; one that is no store is somebody's.
                switch places.trouble(with: store, in: overview.group) {
                case nil, .storeGone: try refuseIfInUse(store)
                case let trouble?: throw trouble
                }
            }
            guard try confirm(overview) else { return nil }
            if asBefore {
                try await context.withLock(on: store.directory) {
                    try refuseIfInUse(store)
                    // First: killed after this, no run takes what the store has then for edits.
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
                before: before
            )
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
