internal import Age
public import Backups
internal import Files
internal import Remotes
internal import SystemPackage

extension OperationContext {
    /// Runs `body` while folders are locked.
    ///
    /// Every run locks folders in the same order, whichever comes first here. So a run from one folder to the other and
    /// a run back cannot deadlock.
    /// - Throws: `MovingError.sameFolder`; `RemoteError.missing` if a folder is missing; `FileError.locked`.
    func withLocks<Result>(
        on folders: BackupFolder...,
        body: () async throws -> Result
    ) async throws -> Result {
        let ranked = folders.map { (folder: $0, identity: $0.identity) }.sorted {
            ($0.identity?.device ?? 0, $0.identity?.inode ?? 0)
                < ($1.identity?.device ?? 0, $1.identity?.inode ?? 0)
        }
        for (one, other) in zip(ranked, ranked.dropFirst())
        where one.identity != nil && one.identity == other.identity {
            throw MovingError.sameFolder(one.folder.address)
        }
        guard Set(folders.map(\.address.exact)).count == folders.count else {
            throw MovingError.sameFolder(folders[0].address)
        }
        return try await withLocks(on: ranked.map(\.folder)[...], body)
    }

    private func withLocks<Result>(
        on folders: ArraySlice<BackupFolder>,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard let first = folders.first else { return try await body() }
        return try await withLock(first) { try await withLocks(on: folders.dropFirst(), body) }
    }

    /// Warns that only the backups that wait on this machine are known.
    public func warnOfUnknown(_ error: any Error) {
        warn("only backups that wait for upload are known: \(explain(error))")
    }

    /// Warns that data of another origin is restored.
    public func warn(ofAnother backup: String, _ origin: String?) {
        let made = origin.map { ": '\($0)'" } ?? ""
        warn("'\(backup)' is a backup of another machine, or of another stores directory\(made)")
    }

    /// Removes the remains of a killed run from a locked folder: no other run is writing.
    ///
    /// - Throws: `FileError`.
    func removeLeftovers(of folder: BackupFolder) throws {
        for path in Set([folder.staging, folder.workplace]) {
            // A scratch directory may contain a fetched archive.
            ScratchDirectory.removeAbandoned(in: path)
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

    /// Removes the remains of killed uploads from the remote folder, so that they take no space.
    func removeRemoteLeftovers(of folder: BackupFolder) async {
        do {
            for name in try await folder.remote.removeLeftovers() {
                note("removed '\(name)', which an interrupted run had uploaded")
            }
        } catch is CancellationError {
            // The next step also notices the cancellation.
        } catch {
            note("uploads of interrupted runs were not removed: \(explain(error))")
        }
    }

    /// Copies a file of this machine to a new one, and reports progress.
    ///
    /// - Throws: `FileError`; the caller must remove an incomplete copy.
    func copy(_ path: FilePath, to newPath: FilePath) throws {
        let source = try File.open(path)
        report(.began(.fetching, total: try source.info().size))
        let target = try File.create(newPath)
        try source.forEachPart { bytes, offset in
            try target.write(bytes, at: offset)
            try advance(Int64(bytes.count))
        }
    }

    /// Removes everything that this machine has of a folder: its staging directory, and the records about it.
    ///
    /// Nothing in the folder itself is touched.
    ///
    /// - Returns: the staging directory's printable path, if it contains something other than remains of a run; it is
    ///   then left as it is.
    /// - Throws: `FileError`; `.locked` if another run uses the folder.
    public func unlink(_ folder: BackupFolder) async throws -> String? {
        folder.memory.catalog.forget(folder.address)
        try await folder.memory.catalog.save()
        // For a local folder, the staging directory is the folder itself.
        guard folder.remote.directory == nil, (try? Directory.open(folder.staging)) != nil else {
            return nil
        }
        return try await withLock(on: folder.staging) {
            let names = try Directory.open(folder.staging).names().map(\.description)
            let areRemains = names.allSatisfy {
                PartialName.matches($0) || $0.hasPrefix(ScratchDirectory.prefix)
            }
            guard areRemains else { return printable(folder.staging) }
            try LocalFileSystem().remove(folder.staging)
            return nil
        }
    }

    /// Copies the archive of a folder's backup to a new file of this machine.
    ///
    /// - Throws: `RemoteError`, `FileError`; the caller must remove an incomplete copy.
    func fetch(_ backup: Backup, from folder: BackupFolder, to path: FilePath) async throws {
        if let location = backup.file.location { return try copy(location, to: path) }
        report(.began(.fetching, total: backup.size))
        try await folder.remote.download(backup.name, to: path)
    }

    /// Writes bytes into a new file that only the recipients can read.
    ///
    /// - Parameters:
    ///   - source: the bytes.
    ///   - recipients: the recipients who may read them.
    ///   - path: the new file.
    /// - Returns: the size of the file in bytes.
    /// - Throws: `AgeError`, `FileError`, `CancellationError`; errors of the source.
    func encrypt(
        _ source: any ByteSource,
        for recipients: [Recipient],
        to path: FilePath
    ) throws -> Int64 {
        let size = try source.size
        report(.began(.encrypting, total: size))
        let sink = try EncryptingSink(to: File.create(path), for: recipients, threads: threads)
        defer { sink.close() }
        let buffer = UnsafeMutableRawBufferPointer.aligned(byteCount: 1 << 20)
        defer { buffer.deallocate() }
        for offset in stride(from: 0, to: size, by: buffer.count) {
            let count = Int(min(Int64(buffer.count), size - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            try source.readExactly(into: part, at: offset)
            try sink.write(UnsafeRawBufferPointer(part), at: offset)
            try advance(Int64(count))
        }
        return try sink.finish()
    }
}
