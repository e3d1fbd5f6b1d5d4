internal import Changes
internal import Files
public import Foundation
public import Remotes
public import Stores
public import Sync

/// Reports the state of stores that take part.
///
/// It lists the container if that is a folder of this machine, and reads no file of it.
public struct ShowSync: Sendable {
    /// The status of one store.
    public struct Outcome: Sendable {
        /// The store's path below the stores directory.
        public var store: String
        public var overview: SyncOverview
        /// The tables that sync; `nil` if the store cannot be read, which was reported.
        public var preview: SyncPreview?
        /// The state of the store.
        public var state: StoreState
    }

    private let places: SyncPlaces
    private let folder: @Sendable (String) throws -> any RemoteFolder
    private let isOff: Bool
    private let context: OperationContext

    /// - Parameters:
    ///   - places: the stores.
    ///   - folder: returns the remote folder of an address.
    ///   - isOff: whether the settings switch sync off.
    ///   - context: the context of the operation.
    public init(
        in places: SyncPlaces,
        folder: @escaping @Sendable (String) throws -> any RemoteFolder,
        isOff: Bool,
        context: OperationContext
    ) {
        self.places = places
        self.folder = folder
        self.isOff = isOff
        self.context = context
    }

    /// Returns the status of stores.
    ///
    /// - Throws: `SidecarError`, `FileError`, `CancellationError`.
    public func run(_ stores: [Store], at date: Date) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for store in stores {
            let overview = try await overview(of: store, at: date)
            let (preview, error) = try look(at: store, overview)
            outcomes.append(
                Outcome(
                    store: store.path.description,
                    overview: overview,
                    preview: preview,
                    state: StoreState(overview, after: error)
                )
            )
        }
        return outcomes
    }

    private func overview(of store: Store, at date: Date) async throws -> SyncOverview {
        var overview = try places.overview(of: store)
        guard let group = overview.group.flatMap({ GroupName($0) }) else {
            throw SyncError.notEnabled(store.path.description)
        }
        overview.isOff = isOff
        do {
            let sidecar = try Sidecar(in: places.sidecar(of: store))
            defer { try? sidecar.close() }
            overview.fileTroubles = try sidecar.fileTroubles(of: store)
            overview.hasChanged = try sidecar.hasChanged(in: store)
            let container = Container(
                try folder(overview.container ?? ""),
                group: group,
                scratch: context.scratch
            )
            try await overview.compare(with: container, sidecar, at: date)
        } catch let error as any ExplainedError where error is RemoteError || error is FileError {
            overview.isAway = true
            context.warn(explain(error))
        }
        return overview
    }

    /// Returns the tables of a store that sync, and the error of its file, which it reports.
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
            // The error may be temporary, such as a lock.
            context.warn(explain(error))
            return (nil, nil)
        }
    }
}

extension Store {
    /// Calls a closure with a snapshot of the store.
    ///
    /// - Throws: `SyncError.damagedStore`, `StoreError`; errors of `body`.
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
