internal import Backups
internal import Files
internal import Operations

extension Invocation {
    /// The name of the stores directory where a backup's name may stand.
    static let live = "live"

    /// Returns the place that a person names: a backup, or the stores directory.
    ///
    /// - Throws: see `OpenedBackup`.
    func storePlace(_ name: String) async throws -> any StorePlace {
        if name == Self.live { return LiveStores(absolute(stores), context: context) }
        return try await opened(name)
    }

    /// Opens a backup to look into it.
    ///
    /// - Throws: see `find`, `OpenedBackup`.
    func opened(_ name: String) async throws -> OpenedBackup {
        MemoryArenas.limit()
        let folder = try folder()
        return try await OpenedBackup(find(name, in: folder), in: folder, context: context)
    }
}
