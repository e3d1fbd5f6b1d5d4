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
        /// Whether its file is not there any more.
        public var isGone = false
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
            return Outcome(
                store: store.path.description,
                overview: overview,
                preview: try preview(of: store, overview),
                isGone: places.isGone(store)
            )
        }
    }

    private func preview(of store: Store, _ overview: SyncOverview) throws -> SyncPreview? {
        if places.isGone(store) {
            let error = SyncError.storeGone(store.path.description, group: overview.group ?? "")
            context.warn(explain(error))
            return nil
        }
        do {
            return try store.withSnapshot(context) { snapshot in
                try SyncPreview(
                    of: snapshot,
                    map: overview.map,
                    checkCancellation: context.checkCancellation
                )
            }
        } catch let error as StoreError {
            context.warn(explain(error))
            return nil
        }
    }
}

extension Store {
    /// Lends a snapshot of the store.
    ///
    /// - Throws: `StoreError`; what `body` throws.
    func withSnapshot<Result>(
        _ context: OperationContext,
        _ body: (StoreSnapshot) throws -> Result
    ) throws -> Result {
        let cut = try StoresCut(
            of: [self],
            scratchParent: context.scratch,
            busyTimeout: .seconds(5)
        )
        if let failure = cut.failures.first { throw failure.error }
        guard let member = cut.members.first else { throw SyncError.noStores(directory) }
        return try withExtendedLifetime(cut) { try body(member.snapshot) }
    }
}
