public import Files
internal import SystemPackage

extension Store {
    /// Returns the processes that have the store open, by SQLite's own locks.
    ///
    /// An idle connection in a rollback mode has none. No lock is taken here.
    public func users() throws -> [LockHolder] {
        var holders: [LockHolder] = []
        let ranges: [(FilePath, Int64, Int64)] = [
            (location, LockBytes.first, LockBytes.length),
            (sidecar("-shm"), LockBytes.index, LockBytes.indexLength),
        ]
        for (path, start, length) in ranges where try FileInfo.ifPresent(path)?.kind == .file {
            let holder = try File.open(path).recordLockHolder(from: start, length: length)
            if let holder, !holders.contains(holder) { holders.append(holder) }
        }
        return holders
    }
}
