internal import Files
internal import Stores
internal import Sync
internal import SystemPackage

// Stores that take part, and whose files are not there any more.
extension SyncPlaces {
    /// Returns them, in no order.
    ///
    /// - Throws: `FileError`.
    static func gone(
        from stores: FilePath,
        _ present: [Store],
        _ sidecars: FilePath
    ) throws -> [Store] {
        guard try FileInfo.ifPresent(sidecars) != nil else { return [] }
        let known = Set(present.map(\.location))
        return try Directory.open(sidecars).names().compactMap { name in
            guard let location = try Sidecar.store(in: sidecars.appending(name.description)),
                !known.contains(location), try FileInfo.ifPresent(location) == nil
            else { return nil }
            var rest = location
            guard rest.removePrefix(stores), rest.isRelative, !rest.isEmpty,
                let path = try? RelativePath(validating: Array(rest.string.utf8))
            else { return nil }
            return Store(
                path: path,
                directory: stores,
                identity: FileInfo.Identity(device: 0, inode: 0)
            )
        }
    }

    /// Whether a store takes part, and its file is not there any more.
    func isGone(_ store: Store) -> Bool { gone.contains(store) }

    /// Marks what is kept of the stores of a directory that were replaced, perhaps only in a part of it: the
    /// next exchange asks what that means.
    ///
    /// Should a crash keep it from that, the stores are other files, which an exchange notices.
    static func markReplaced(
        _ stores: FilePath,
        sidecars: FilePath,
        of part: RestoredPart? = nil,
        _ context: OperationContext
    ) {
        do {
            let places = try SyncPlaces(stores, sidecars: sidecars, context: context)
            for store in try places.enabled() where part?.contains(store.path) ?? true {
                try Sidecar.markReplaced(in: places.sidecar(of: store))
            }
        } catch {
            let reason = explain(error)
            context.warn("the next sync may not notice that the stores were replaced: \(reason)")
        }
    }
}
