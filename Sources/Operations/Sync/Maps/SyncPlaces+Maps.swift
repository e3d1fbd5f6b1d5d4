public import Changes
internal import Files
public import Foundation
public import Stores
public import Sync

extension SyncPlaces {
    /// Returns the map of a store's group; for a store that takes part in none, the proposed one.
    ///
    /// - Returns: the map, and what the store's rows show.
    /// - Throws: `StoreError`, `SidecarError`, `FileError`, `CancellationError`.
    public func map(
        of store: Store
    ) throws -> (map: SyncMap, findings: [MapProposal.Finding]) {
        let overview = try self.overview(of: store)
        guard overview.group == nil else { return (overview.map, []) }
        let proposal = try MapProposal(for: store, SyncMap(), context)
        return (proposal.map, proposal.findings)
    }

    /// Records a map; the next exchange publishes it to the others.
    ///
    /// - Parameters:
    ///   - map: the content of the map.
    ///   - store: the store whose group gets the map; it must be able to sync by it.
    ///   - date: the current time.
    ///   - program: the program and its version, as files record it.
    /// - Throws: `SyncError`, such as `.refused`; `StoreError`, `SidecarError`, `FileError`.
    public func publish(
        _ map: SyncMap,
        of store: Store,
        at date: Date,
        program: String
    ) async throws {
        let name = store.path.description
        try await withSidecar(of: store) { sidecar in
            let group = try SyncOverview(of: sidecar).group
            if let trouble = trouble(with: store, in: group) { throw trouble }
            let preview = try store.preview(by: map, context)
            guard !preview.tables.isEmpty else {
                throw SyncError.nothingToSync(store: name, preview.leftOut)
            }
            for unknown in preview.unknownNames {
                context.warn("the map names '\(unknown)', which '\(name)' does not have")
            }
            try sidecar.publish(map, at: date, program: program)
        }
    }
}
