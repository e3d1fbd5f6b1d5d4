internal import Backups
internal import Files
internal import SystemPackage

extension FetchBackup {
    /// Fetches an increment with all its base backups, so that the files suffice to restore it.
    ///
    /// It verifies all of them together, and then moves them into place, base backups first. A base backup that is
    /// already there stays. If no key opens the backup, the files are fetched unverified, if the base backups are
    /// remembered.
    func runWithNeeds(
        _ backup: Backup,
        to path: FilePath,
        _ scratch: FilePath
    ) async throws -> Outcome {
        let directory = path.removingLastComponent()
        let (parts, finding) = try await collect(backup, in: scratch)
        let missing = try parts.dropLast().map { part in
            (part, isThere: try isThere(part, in: directory))
        }
        var needs: [Needed] = []
        for (part, isThere) in missing {
            let place = directory.appending(part.name)
            if !isThere { try put(part, at: place, through: scratch) }
            let size = try FileInfo(of: place).size
            needs.append(Needed(path: place, size: size, wasThere: isThere))
        }
        for part in parts.suffix(1) { try put(part, at: path, through: scratch) }
        let size = try FileInfo(of: path).size
        var outcome = Outcome(backup: backup, path: path, size: size).with(finding)
        outcome.needs = needs
        return sync(outcome)
    }

    /// An archive on this machine, and the name that it will get.
    private struct Part {
        var name: String
        var path: FilePath
        /// The opened archive, which keeps the fetched file alive.
        var archived: ArchivedBackup?

        init(_ archived: ArchivedBackup) {
            (name, path, self.archived) = (archived.name, archived.path, archived)
        }

        init(_ name: String, at path: FilePath) { (self.name, self.path) = (name, path) }
    }

    /// Collects and verifies an increment with all its base backups; base backups come first.
    private func collect(
        _ backup: Backup,
        in scratch: FilePath
    ) async throws -> (parts: [Part], Finding) {
        let archived: ArchivedBackup
        do {
            archived = try await context.open(backup, in: folder.fetching(to: scratch))
        } catch let error where error.isOfKeys && !backup.needs.isEmpty {
            // The base backups are remembered, so fetch the archives as they are.
            let needs = try await NeedSearch.remembered(by: backup, in: folder)
            context.warn("'\(backup.displayName)' is not verified: \(explain(error))")
            var parts: [Part] = []
            for one in needs + [backup] {
                let part = Part(one.name, at: scratch.appending(one.name))
                try await context.fetch(one, from: folder, to: part.path)
                parts.append(part)
            }
            return (parts, .unread)
        }
        let finding = try verify(backup) { archived }
        return (archived.needs.map(Part.init) + [Part(archived)], finding)
    }

    /// Returns whether the same archive is already there.
    ///
    /// - Throws: `FileError.exists` if another file has its name.
    private func isThere(_ part: Part, in directory: FilePath) throws -> Bool {
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

    /// Moves an archive to its place, after flushing it to the disk.
    private func put(_ part: Part, at place: FilePath, through scratch: FilePath) throws {
        let fileSystem = LocalFileSystem()
        var file = part.path
        // A fetched archive is in the scratch directory, and can be moved.
        if !file.starts(with: scratch) {
            file = scratch.appending(part.name)
            try context.copy(part.path, to: file)
        }
        try fileSystem.sync(file)
        try fileSystem.move(file, to: place)
    }
}
