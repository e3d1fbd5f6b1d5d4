internal import Files
public import Stores
public import Sync

/// Tells how stores that take part are, without a look into the container.
public struct ShowSync: Sendable {
    /// One store.
    public struct Outcome: Sendable {
        /// Its path below the stores directory.
        public var store: String
        public var overview: SyncOverview
        /// What of it syncs; `nil` if it cannot be read, which was told.
        public var preview: SyncPreview?
        /// How it is.
        public var state: StoreState
    }

    private let places: SyncPlaces
    private let context: OperationContext

    public init(in places: SyncPlaces, context: OperationContext) {
        self.places = places
        self.context = context
    }

    /// Looks at stores.
    ///
    /// - Throws: `SidecarError`, `FileError`, `CancellationError`.
    public func run(_ stores: [Store]) throws -> [Outcome] {
        try stores.map { store in
            let overview = try places.overview(of: store)
            guard overview.group != nil else {
                throw SyncError.notEnabled(store.path.description)
            }
            let (preview, error) = try look(at: store, overview)
            return Outcome(
                store: store.path.description,
                overview: overview,
                preview: preview,
                state: StoreState(overview, after: error)
            )
        }
    }

    /// Returns what of a store syncs, and what is wrong with its file, which is told.
    private func look(
        at store: Store,
        _ overview: SyncOverview
    ) throws -> (SyncPreview?, SyncError?) {
        do {
            if let trouble = places.trouble(with: store, in: overview.group) { throw trouble }
            let preview = try store.withSnapshot(context) { snapshot in
                try SyncPreview(
                    of: snapshot,
                    map: overview.map,
                    checkCancellation: context.checkCancellation
                )
            }
            guard let table = preview.tables.first(where: { $0.rows == nil }) else {
                return (preview, nil)
            }
            let error = SyncError.damagedStore(
                store.path.description,
                reason: "the rows of '\(table.name)' cannot be read"
            )
            context.warn(explain(error))
            return (preview, error)
        } catch let error as SyncError {
            context.warn(explain(error))
            return (nil, error)
        } catch let error as StoreError {
            // Such as one that is locked for now.
            context.warn(explain(error))
            return (nil, nil)
        }
    }
}

extension Store {
    /// Lends a snapshot of the store.
    ///
    /// - Throws: `SyncError.damagedStore`, `StoreError`; what `body` throws.
    func withSnapshot<Result>(
        _ context: OperationContext,
        _ body: (StoreSnapshot) throws -> Result
    ) throws -> Result {
        do {
            let cut = try StoresCut(
                of: [self],
                scratchParent: context.scratch,
                busyTimeout: .seconds(5)
            )
            if let failure = cut.failures.first { throw failure.error }
            guard let member = cut.members.first else { throw SyncError.noStores(directory) }
            return try withExtendedLifetime(cut) { try body(member.snapshot) }
        } catch StoreError.damaged(let name, let reason) {
            throw SyncError.damagedStore(name, reason: reason)
        }
    }
}
