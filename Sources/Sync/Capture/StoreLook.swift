internal import Files
public import Stores

extension Store {
    /// Returns a fingerprint of its files: as long as it is the same, no process has written to the store.
    ///
    /// It contains SQLite's own counters: that of changes in the database's header, and that of transactions in the
    /// header of the log's index (https://www.sqlite.org/fileformat2.html, 1.3.7 and
    /// https://www.sqlite.org/walformat.html, 2). It opens the files, so no connection of this process may be open
    /// to the store.
    ///
    /// - Returns: `nil` if it is unknown, for example if a log has no index.
    /// - Throws: `FileError`.
    func look() throws -> String? {
        guard let info = try FileInfo.ifPresent(location), info.kind == .file else { return nil }
        var parts = ["\(info.identity.inode) \(info.size) \(info.modified)"]
        parts.append(try Self.digits(File.open(location).readExactly(count: 4, at: 24)))
        let log = path.sibling(path.name.appending("-wal")).below(directory)
        guard let logInfo = try FileInfo.ifPresent(log) else { return parts.joined(separator: "/") }
        let index = path.sibling(path.name.appending("-shm")).below(directory)
        guard let indexInfo = try FileInfo.ifPresent(index), indexInfo.kind == .file,
            indexInfo.size >= 48
        else { return nil }
        parts.append("\(logInfo.identity.inode) \(logInfo.size) \(logInfo.modified)")
        parts.append(try Self.digits(File.open(index).readExactly(count: 48, at: 0)))
        return parts.joined(separator: "/")
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension Store {
    /// Returns the time of the last change of its files, in milliseconds since 1970; the edits are not later.
    ///
    /// - Throws: `FileError`.
    func modified() throws -> Int64 {
        try files.compactMap { try FileInfo.ifPresent($0.below(directory))?.modified }.max()
            .map { $0 / 1_000_000 } ?? 0
    }
}

extension Sidecar {
    /// Returns whether a store has changed since the last exchange; it may have edits that were not sent.
    ///
    /// - Throws: `SidecarError`, `FileError`.
    public func hasChanged(in store: Store) throws -> Bool {
        guard let last = try read({ try $0.text("exchanged look") }) else { return false }
        return try store.look() != last
    }
}
