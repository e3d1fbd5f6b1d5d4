public import Backups
internal import Files
public import SystemPackage

extension FetchBackup {
    /// Fetches a backup with all that it is built on: whoever has these files can restore it.
    ///
    /// All of it is verified together, and then gets its names, those first that others need. A needed
    /// archive that is there already stays.
    ///
    /// - Parameters:
    ///   - backup: the backup; a whole one needs no other.
    ///   - directory: the directory for the files.
    /// - Returns: what was fetched.
    /// - Throws: `FileError.exists` if another file has one of the names; `BackupFolderError.missingNeed`;
    ///   see `run(_:into:)`.
    public func runWithNeeds(_ backup: Backup, into directory: FilePath) async throws -> Outcome {
        guard backup.isIncrement else { return try await run(backup, into: directory) }
        let path = directory.appending(backup.name)
        _ = try Directory.open(directory)
        guard try FileInfo.ifPresent(path) == nil else { throw FileError.exists(path) }
        // A killed run leaves it; the next one here removes it.
        let scratch = try ScratchDirectory(in: directory)
        defer { withExtendedLifetime(scratch) {} }
        let archived = try await context.open(backup, in: folder.fetching(to: scratch.path))
        let damage = try damage(of: backup) { archived }
        let missing = try archived.needs.map { part in
            (part, isThere: try isThere(part, in: directory))
        }
        var needs: [Needed] = []
        for (part, isThere) in missing {
            if !isThere { try put(part, into: directory, through: scratch.path) }
            let place = directory.appending(part.name)
            let size = try FileInfo(of: place).size
            needs.append(Needed(path: place, size: size, wasThere: isThere))
        }
        try put(archived, into: directory, through: scratch.path)
        let size = try FileInfo(of: path).size
        var outcome = Outcome(backup: backup, path: path, size: size, damage: damage)
        outcome.needs = needs
        return sync(outcome, directory)
    }

    /// Returns whether the same archive is there.
    ///
    /// - Throws: `FileError.exists` if another file has its name.
    private func isThere(_ part: ArchivedBackup, in directory: FilePath) throws -> Bool {
        let place = directory.appending(part.name)
        guard let info = try FileInfo.ifPresent(place) else { return false }
        guard try info.size == FileInfo(of: part.path).size,
            try digest(of: place) == digest(of: part.path)
        else { throw FileError.exists(place) }
        return true
    }

    private func digest(of path: FilePath) throws -> Digest {
        try Digest(contentsOf: path) { _ in try context.checkCancellation() }
    }

    /// Gives an archive its name in a directory, once it is on the disk.
    private func put(
        _ part: ArchivedBackup,
        into directory: FilePath,
        through scratch: FilePath
    ) throws {
        let fileSystem = LocalFileSystem()
        var file = part.path
        // One that was fetched is where it can be moved from.
        if !file.starts(with: scratch) {
            file = scratch.appending(part.name)
            try context.copy(part.path, to: file)
        }
        try fileSystem.sync(file)
        try fileSystem.move(file, to: directory.appending(part.name))
    }
}
