internal import Age
internal import Archives
internal import Files
internal import Remotes
internal import SystemPackage

extension BackupFolder {
    /// The part of an archive elsewhere that is fetched.
    package enum Access {
        /// All of it, before it is opened.
        case whole
        /// The parts that are read, or all if the server does not support ranges or another program made the archive.
        ///
        /// Reads wait for the parts to be fetched, so the reader needs a thread of its own: see `WorkThread.run`.
        case parts
        /// The parts that are read; any other archive cannot be opened.
        case partsOnly
    }

    /// Opens a backup, together with the archives that an increment is built on.
    ///
    /// - Parameters:
    ///   - backup: a backup of this folder.
    ///   - access: the part of its archive to fetch.
    ///   - isAlone: whether to open none of the archives that it is built on.
    ///   - limits: the limits that the archive must not exceed; `nil` for one that is only inspected.
    ///   - fetching: called with an archive's size in bytes before the whole archive is fetched.
    /// - Returns: the opened backup. A fetched archive is deleted with the last reference.
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `RemoteError`, `FileError`; `BackupFolderError.missingNeed` if
    ///   an archive that an increment needs is gone.
    package func open(
        _ backup: Backup,
        _ access: Access = .whole,
        alone isAlone: Bool = false,
        holdingTo limits: RestoreLimits?,
        fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        let opening = BackupOpening(folder: self, backup: backup, limits: limits)
        let archived = try await opening.open(access, fetching)
        if !isAlone {
            let isInPlace = access != .whole
            try await NeedSearch.openNeeds(
                of: archived,
                in: self,
                inPlace: isInPlace,
                fetching: fetching
            )
        }
        return archived
    }

    /// Inspects the central directory and the manifest of a backup.
    ///
    /// If the archive is elsewhere, only these are fetched, in one part or a few. They may be wrong because the server
    /// does not support ranges, or because the archive was replaced in between. Then the whole archive is fetched and
    /// inspected again.
    ///
    /// - Parameters:
    ///   - backup: a backup of this folder.
    ///   - limits: the limits that the archive must not exceed; `nil` for one that is only inspected.
    ///   - fetching: called with the archive's size in bytes before the whole archive is fetched.
    ///   - body: inspects the archive; called a second time if the whole archive had to be fetched.
    /// - Returns: what `body` returns.
    /// - Throws: see `open`; what `body` throws.
    package func look<Result>(
        at backup: Backup,
        holdingTo limits: RestoreLimits?,
        fetching: (Int64) -> Void,
        _ body: (ArchivedBackup) throws -> Result
    ) async throws -> Result {
        let opening = BackupOpening(folder: self, backup: backup, limits: limits)
        let found = try await opening.inspect { archived in
            // An increment has to be inspected together with the backups that it needs.
            if archived.header?.isIncrement == true { throw archived.bad("it is only a part") }
            return try body(archived)
        }
        if let found {
            remember(found.archived, backup)
            return found.result
        }
        return try body(await open(backup, holdingTo: limits, fetching: fetching))
    }

    /// Returns a backup with the facts from its archive; `nil` if that cannot be read.
    package func lookAlone(
        at backup: Backup,
        _ access: Access = .parts,
        fetching: (Int64) -> Void
    ) async throws -> Backup? {
        do {
            let archived = try await open(
                backup,
                access,
                alone: true,
                holdingTo: nil,
                fetching: fetching
            )
            return self.backup(backup, knowing: archived)
        } catch RemoteError.noFile {
            return nil
        } catch let error
            where error.isOfKeys || error is ArchiveError || error is ArchivedBackupError
            || error is AgeError || error is RemoteRange.Failure
        {
            return nil
        }
    }

    /// Throws unless a backup can be read: it is not encrypted, or a key opens it.
    ///
    /// - Throws: `AgeError`, `RemoteError`, `FileError`; what reading the keys throws.
    package func checkKey(of backup: Backup) async throws {
        guard backup.isEncrypted else { return }
        if let location = backup.file.location {
            return try keys.check(File.open(location), name: backup.name)
        }
        let source = RemoteRange(backup.file, in: remote)
        try await source.fetchBeginning()
        try await source.fetching(beyondTail: false) {
            try keys.check(source, name: backup.name)
        }
    }

    /// Remembers what an archive says about itself.
    func remember(_ archived: ArchivedBackup, _ backup: Backup) {
        memory.catalog.remember(backup.knowing(archived), in: address)
    }

    /// Returns a backup with the facts from its archive, and whether it counts.
    package func backup(_ backup: Backup, knowing archived: ArchivedBackup) -> Backup {
        var known = backup.knowing(archived)
        keys.judge(&known)
        // Only a listing knows the backups that it is built on.
        if known.distrust == nil, backup.distrust?.base != nil { known.distrust = backup.distrust }
        return known
    }
}

extension Backup {
    /// Returns this backup with the facts from its archive.
    func knowing(_ archived: ArchivedBackup) -> Backup {
        var known = self
        known.id = archived.id
        known.isForeign = archived.header == nil
        if let header = archived.header { known.take(header, archived.signature) }
        return known
    }
}

/// A backup's own archive that is to be opened.
struct BackupOpening {
    let folder: BackupFolder
    let backup: Backup
    /// The limits that the archive must not exceed; `nil` for one that is only inspected.
    let limits: RestoreLimits?

    /// Opens the archive; see `BackupFolder.open`.
    func open(
        _ access: BackupFolder.Access,
        _ fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        if let location = backup.file.location {
            return try ArchivedBackup(
                location,
                name: backup.name,
                keys: folder.keys,
                holdingTo: limits
            )
        }
        if access == .whole { return try await fetch(fetching) }
        let found = try await inspect(mustHold: access == .partsOnly) { archived in
            // The whole manifest is fetched at once, and kept.
            if archived.isDescribed { _ = try archived.forEachRecord { _, _ in } }
        }
        guard let found, found.archived.isDescribed else {
            if let found, access == .partsOnly { throw found.archived.bad("it has none") }
            return try await fetch(fetching)
        }
        folder.remember(found.archived, backup)
        found.source.beginWaiting()
        return found.archived
    }

    /// Fetches the archive, and opens it.
    private func fetch(_ fetching: (Int64) -> Void) async throws -> ArchivedBackup {
        let available = try Directory.open(folder.workplace).availableSpace()
        guard backup.size <= available else {
            throw BackupFolderError.noSpace(
                printable(folder.workplace),
                needed: backup.size,
                available: available
            )
        }
        try await refuseWithoutKey()
        fetching(backup.size)
        let scratch = try ScratchDirectory(in: folder.workplace)
        try await folder.remote.download(backup.name, to: scratch.path.appending(backup.name))
        return try open(fetchedTo: scratch)
    }

    /// Opens the archive that was fetched to a directory, which is deleted with the last reference.
    func open(fetchedTo scratch: ScratchDirectory) throws -> ArchivedBackup {
        let archived = try ArchivedBackup(
            scratch.path.appending(backup.name),
            name: backup.name,
            keys: folder.keys,
            in: scratch,
            holdingTo: limits
        )
        folder.remember(archived, backup)
        return archived
    }

    /// Throws if no key opens the backup, according to its first bytes.
    private func refuseWithoutKey() async throws {
        do {
            try await folder.checkKey(of: backup)
        } catch let error where error.isOfKeys || error is CancellationError {
            throw error
        } catch {
            // Some servers do not support ranges: the whole archive decides.
        }
    }

    /// Passes the archive to a closure, and fetches the parts that this reads.
    ///
    /// - Parameters:
    ///   - mustHold: whether to throw what is wrong with the parts.
    ///   - body: reads the archive; called again with more parts.
    /// - Returns: the archive with its source; `nil` if it is on this machine, or if the parts are wrong.
    /// - Throws: `AgeError`, `RemoteError`, `FileError`; what `body` throws.
    func inspect<Result>(
        mustHold: Bool = false,
        _ body: (ArchivedBackup) throws -> Result
    ) async throws -> (archived: ArchivedBackup, source: RemoteRange, result: Result)? {
        if backup.file.location != nil { return nil }
        let source = RemoteRange(backup.file, in: folder.remote)
        do {
            if backup.isEncrypted { try await source.fetchBeginning() }
            let (archived, result) = try await source.fetching {
                let archived = try ArchivedBackup(
                    folder.keys.opened(source, name: backup.name),
                    isAtHand: false,
                    name: backup.name,
                    holdingTo: limits
                )
                return (archived, try body(archived))
            }
            return (archived, source, result)
        } catch let error where !mustHold && Self.isWrongPart(error) {
            return nil
        }
    }

    private static func isWrongPart(_ error: any Error) -> Bool {
        error is ArchiveError || error is ArchivedBackupError || error is RemoteRange.Failure
            || (error as? AgeError)?.isDamage == true
    }
}
