public import Files
internal import SystemPackage

extension Store {
    /// Finds processes that have the store open: by SQLite's own locks, and if the system tells,
    /// by their open files, since an idle connection in a rollback mode has no lock.
    ///
    /// Nothing is opened for writing, and no lock is taken.
    public func users() throws -> [LockHolder] {
        var holders: [LockHolder] = []
        let ranges: [(FilePath, Int64, Int64)] = [
            (location, LockBytes.first, LockBytes.length),
            (sidecar("-shm"), LockBytes.index, LockBytes.indexLength),
        ]
        for (path, start, length) in ranges where try FileInfo.ifPresent(path)?.kind == .file {
            if let holder = try File.open(path).recordLockHolder(from: start, length: length),
                !holders.contains(holder)
            {
                holders.append(holder)
            }
        }
        return holders
    }
}
