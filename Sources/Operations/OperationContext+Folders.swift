internal import Backups
internal import Files
internal import Remotes
internal import SystemPackage

extension OperationContext {
    /// Runs `body` while two folders are locked.
    ///
    /// They are locked in an order that is the same for every run, whichever comes first here: a run from
    /// one to the other and a run back never wait for each other.
    /// - Throws: `MovingError.sameFolder`; `RemoteError.missing` if one is not there; `FileError.locked`.
    func withLocks<Result>(
        on first: BackupFolder,
        _ second: BackupFolder,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let (one, other) = (first.identity, second.identity)
        guard one != other || one == nil, first.address != second.address else {
            throw MovingError.sameFolder(first.address)
        }
        func rank(_ identity: FileInfo.Identity?) -> (UInt64, UInt64) {
            (identity?.device ?? 0, identity?.inode ?? 0)
        }
        let isFirst = rank(one) < rank(other)
        return try await withLock(isFirst ? first : second) {
            try await withLock(isFirst ? second : first, body)
        }
    }

    /// Says that only the backups that wait on this machine are known.
    public func warnOfUnknown(_ error: any Error) {
        warn("only backups that wait for upload are known: \(explain(error))")
    }

    /// Removes what a killed run left in a folder that is locked: nobody else is writing.
    ///
    /// - Throws: `FileError`.
    func removeLeftovers(of folder: BackupFolder) throws {
        for path in Set([folder.staging, folder.workplace]) {
            let directory = try Directory.open(path)
            for name in try directory.names() {
                let text = name.description
                guard PartialName.matches(text), try directory.info(name).kind == .file else {
                    continue
                }
                try directory.removeFile(name)
                note("removed '\(text)', which an interrupted run left")
            }
        }
    }

    /// Removes what killed uploads left in the remote folder, so that it takes no space.
    func removeRemoteLeftovers(of folder: BackupFolder) async {
        do {
            for name in try await folder.remote.removeLeftovers() {
                note("removed '\(name)', which an interrupted run had uploaded")
            }
        } catch is CancellationError {
            // The next step notices it, too.
        } catch {
            note("what interrupted runs had uploaded was not removed: \(explain(error))")
        }
    }

    /// Copies a file of this machine to a new one, and tells of its bytes.
    ///
    /// - Throws: `FileError`; a copy that failed half-way is left to the caller.
    func copy(_ path: FilePath, to newPath: FilePath) throws {
        let source = try File.open(path)
        report(.began(.fetching, total: try source.info().size))
        let target = try File.create(newPath)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try source.read(into: buffer, at: offset)
            try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += Int64(count)
            try advance(Int64(count))
            if count < buffer.count { return }
        }
    }

    /// Copies the archive of a folder's backup to a new file of this machine.
    ///
    /// - Throws: `RemoteError`, `FileError`; a copy that failed half-way is left to the caller.
    func fetch(_ backup: Backup, from folder: BackupFolder, to path: FilePath) async throws {
        if let location = backup.file.location { return try copy(location, to: path) }
        report(.began(.fetching, total: backup.size))
        try await folder.remote.download(backup.name, to: path)
    }
}
