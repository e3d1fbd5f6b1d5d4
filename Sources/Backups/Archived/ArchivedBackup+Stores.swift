internal import Archives
internal import Stores

extension ArchivedBackup {
    /// Counts the stores in it: as its manifest says, else the files that begin as SQLite's do.
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

    /// Returns whether a file in it begins as a store does, whatever its manifest says.
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

    /// Calls a closure for each file that begins as a store does, until it returns `false`.
    private func forEachStore(_ body: () -> Bool) throws {
        for index in 0..<reader.count {
            let entry = try reader.entry(at: index)
            guard entry.attributes.kind == .file, entry.size > 0, !entry.isSpecial else { continue }
            var isStore = false
            try reader.read(entry) { start in
                isStore = DatabaseHeader.begins(start)
                return false
            }
            if isStore, !body() { return }
        }
    }
}
