internal import Files
internal import Stores
internal import Sync
internal import SystemPackage

// Stores that take part, but were not found.
extension SyncPlaces {
    /// Returns these stores, in no particular order.
    ///
    /// - Throws: `FileError`.
    static func gone(
        from stores: FilePath,
        _ present: [Store],
        _ sidecars: FilePath
    ) throws -> [Store] {
        let known = Set(present.map(\.location))
        return try located(in: sidecars).compactMap { _, location in
            var rest = location
            guard !known.contains(location), rest.removePrefix(stores), rest.isRelative,
                !rest.isEmpty,
                let path = try? RelativePath(validating: Array(rest.string.utf8))
            else { return nil }
            return Store(
                path: path,
                directory: stores,
                identity: FileInfo.Identity(device: 0, inode: 0)
            )
        }
    }

    /// Returns the sidecars that record their stores, and the stores' paths, in the order of the sidecars' names.
    private static func located(
        in sidecars: FilePath
    ) throws -> [(sidecar: FilePath, store: FilePath)] {
        guard try FileInfo.ifPresent(sidecars) != nil else { return [] }
        return try Directory.open(sidecars).names().sorted().compactMap { name in
            let sidecar = sidecars.appending(name.description)
            return try Sidecar.store(in: sidecar).map { (sidecar, $0) }
        }
    }

    /// Returns another existing store of this user that takes part in a group through a container.
    ///
    /// - Throws: `SidecarError`, `FileError`.
    func other(than store: Store, in group: String, _ container: String) throws -> FilePath? {
        for (directory, location) in try Self.located(in: sidecars)
        where try location != store.location && FileInfo.ifPresent(location) != nil {
            let sidecar = try Sidecar(in: directory)
            defer { try? sidecar.close() }
            let overview = try SyncOverview(of: sidecar)
            if overview.group == group, overview.container == container { return location }
        }
        return nil
    }

    /// Returns the reason why a store that takes part in a group was not found.
    ///
    /// - Returns: the error; `nil` if the store was found.
    func trouble(with store: Store, in group: String?) -> SyncError? {
        guard gone.contains(store) else { return nil }
        let (name, group) = (store.path.description, group ?? "")
        do {
            let file = try File.open(store.location)
            let first = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) {
                try file.read(into: $0, at: 0)
            }
            let reason = first == 0 ? "it is empty" : "it does not begin as one"
            return .noStoreAnyMore(name, group: group, reason: reason)
        } catch FileError.notA {
            return .noStoreAnyMore(name, group: group, reason: "it is no regular file")
        } catch let error as FileError where error.isMissing {
            return .storeGone(name, group: group)
        } catch {
            return .unreadableStore(name, group: group, reason: explain(error))
        }
    }

    /// Marks the sidecars of stores that a restore replaced, fully or in part, so that the next exchange asks what the
    /// data mean.
    ///
    /// If a crash prevents that, the exchange notices that the stores are other files.
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
