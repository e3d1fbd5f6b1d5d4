internal import Files
internal import Stores

/// Files that SQLite keeps beside a store: they may come and go while the archive is written.
extension BackupWriter {
    /// Whether SQLite would take a file with this path for a part of a store of the cut.
    func isBesideStore(_ path: RelativePath) -> Bool {
        Store.database(ofFileBeside: path).map(cutStores.contains) ?? false
    }

    /// Returns whether a file beside a store of the cut is SQLite's own, by its content.
    ///
    /// The archive has that store without it: a journal of a later transaction would be rolled back into the
    /// store as soon as somebody opens what was restored.
    ///
    /// - Throws: `FileError`.
    func isSidecar(_ file: File, _ info: FileInfo, at path: RelativePath) throws -> Bool {
        let start = try file.readExactly(count: Int(min(info.size, 8)), at: 0)
        return Store.isSidecar(start, size: info.size, at: path)
    }
}
