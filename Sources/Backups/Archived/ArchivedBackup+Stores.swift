package import Archives
internal import Files
internal import Stores

extension ArchivedBackup {
    /// Counts the stores in the backup: those in its manifest, or else the files that begin as an SQLite database does.
    ///
    /// - Throws: `ArchiveError`.
    package func countStores() throws -> Int {
        if let header { return header.stores.count }
        var count = 0
        try forEachStore {
            count += 1
            return true
        }
        return count
    }

    /// Returns whether a file in the backup begins as an SQLite database does, whatever the manifest says.
    ///
    /// - Throws: `ArchiveError`.
    package func hasStores() throws -> Bool {
        var isFound = false
        try forEachStore {
            isFound = true
            return false
        }
        return isFound
    }

    /// Returns whether a file is SQLite's journal or log beside a store that the manifest names.
    ///
    /// The store is complete without it. Before 2026-11-25, a journal or log of a later moment could get into an
    /// archive. SQLite would play it back into the restored store.
    ///
    /// - Throws: `ArchiveError`, `FileError`.
    package func isStray(_ item: ArchiveItem) throws -> Bool {
        guard let header, item.attributes.kind == .file, EntrySource.canRead(item),
            let store = Store.database(ofFileBeside: item.attributes.path)?.description,
            header.stores.contains(where: { $0.path.exact == store.exact })
        else { return false }
        let source = try EntrySource(item, cache: SegmentCache(limit: 0))
        return try Store.isSidecar(source, at: item.attributes.path)
    }

    /// Calls a closure for each file that begins as an SQLite database does, until the closure returns `false`.
    private func forEachStore(_ body: () -> Bool) throws {
        for index in 0..<reader.count {
            let entry = try reader.entry(at: index)
            guard entry.attributes.kind == .file, !entry.isSpecial else { continue }
            if try beginsAsStore(entry), !body() { return }
        }
    }
}
