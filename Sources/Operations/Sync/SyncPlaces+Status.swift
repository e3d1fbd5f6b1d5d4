internal import Changes
internal import Files
public import Foundation
internal import Remotes
public import Stores
public import Sync

/// The status of one store that takes part.
public struct SyncStatus: Sendable {
    /// The store's path below the stores directory.
    public var store: String
    public var overview: SyncOverview
    /// The tables that sync; `nil` if the store cannot be read, which was reported.
    public var preview: SyncPreview?
    /// The state of the store.
    public var state: StoreState
}

extension SyncPlaces {
    /// Returns the status of stores that take part.
    ///
    /// It lists the container if that is a folder of this machine, and reads no file of it.
    ///
    /// - Parameters:
    ///   - stores: the stores.
    ///   - isOff: whether the settings switch sync off.
    ///   - date: the current time.
    /// - Returns: the status of each store.
    /// - Throws: `SidecarError`, `FileError`, `CancellationError`.
    public func status(
        of stores: [Store],
        isOff: Bool,
        at date: Date
    ) async throws -> [SyncStatus] {
        var statuses: [SyncStatus] = []
        for store in stores {
            var overview = try await comparedOverview(of: store, at: date)
            overview.isOff = isOff
            let (preview, error) = try look(at: store, overview)
            statuses.append(
                SyncStatus(
                    store: store.path.description,
                    overview: overview,
                    preview: preview,
                    state: StoreState(overview, after: error)
                )
            )
        }
        return statuses
    }

    /// Returns what is known of a store, and of its container if that can be listed.
    private func comparedOverview(of store: Store, at date: Date) async throws -> SyncOverview {
        var overview = try self.overview(of: store)
        guard let group = overview.group.flatMap({ GroupName($0) }) else {
            throw SyncError.notEnabled(store.path.description)
        }
        do {
            let sidecar = try Sidecar(in: sidecar(of: store))
            defer { try? sidecar.close() }
            overview.fileTroubles = try sidecar.fileTroubles(of: store)
            overview.hasChanged = try sidecar.hasChanged(in: store)
            let container = try container(of: group, at: overview.container ?? "")
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
            if let trouble = trouble(with: store, in: overview.group) { throw trouble }
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
            try member.snapshot.requireWholePages()
            return try withExtendedLifetime(cut) { try body(member.snapshot) }
        } catch StoreError.damaged(let name, let reason) {
            throw SyncError.damagedStore(name, reason: reason)
        }
    }
}
