internal import Age
internal import Archives
internal import Files
package import Remotes
package import SystemPackage

extension BackupFolder {
    /// Opens a backup, and fetches its archive first if it is remote.
    ///
    /// - Parameters:
    ///   - backup: a backup of this folder.
    ///   - limits: the limits that the archive must not exceed; `nil` for one that is only inspected.
    ///   - fetching: called with the archive's size in bytes before it is fetched.
    /// - Returns: the opened backup. A fetched archive is deleted with the last reference.
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `RemoteError`, `FileError`; `BackupFolderError.missingNeed` if
    ///   an archive that an increment needs is gone.
    package func open(
        _ backup: Backup,
        holdingTo limits: RestoreLimits?,
        fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        let archived = try await openAlone(backup, holdingTo: limits, fetching: fetching)
        try await openNeeds(of: archived, fetching: fetching)
        return archived
    }

    /// Opens a backup to read a little of it.
    ///
    /// From remote archives only the parts that are read are fetched.
    ///
    /// Reads wait for the parts to be fetched, so the reader needs a thread of its own: see `WorkThread.run`. If the
    /// server does not support ranges, or if another program made the archive, the whole archive is fetched at once.
    /// - Parameters:
    ///   - backup: a backup of this folder.
    ///   - limits: the limits that the archive must not exceed.
    ///   - fetching: called with an archive's size in bytes before the whole archive is fetched.
    /// - Returns: the opened backup.
    /// - Throws: see `open`.
    package func openInPlace(
        _ backup: Backup,
        holdingTo limits: RestoreLimits,
        fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        let archived = try await openAloneInPlace(backup, holdingTo: limits, fetching: fetching)
        try await openNeeds(of: archived, inPlace: true, fetching: fetching)
        return archived
    }

    /// Opens a backup's own archive, but none of the archives that an increment needs; see `open`.
    package func openAlone(
        _ backup: Backup,
        holdingTo limits: RestoreLimits?,
        fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        if let location = backup.file.location {
            return try ArchivedBackup(
                location,
                name: backup.name,
                keys: keys,
                holdingTo: limits
            )
        }
        let available = try Directory.open(workplace).availableSpace()
        guard backup.size <= available else {
            throw BackupFolderError.noSpace(
                printable(workplace),
                needed: backup.size,
                available: available
            )
        }
        try await refuseWithoutKey(backup)
        fetching(backup.size)
        let scratch = try ScratchDirectory(in: workplace)
        try await remote.download(backup.name, to: scratch.path.appending(backup.name))
        return try open(backup, fetchedTo: scratch, holdingTo: limits)
    }

    /// Opens an archive that was fetched to a directory, which is deleted with the last reference.
    func open(
        _ backup: Backup,
        fetchedTo scratch: ScratchDirectory,
        holdingTo limits: RestoreLimits?
    ) throws -> ArchivedBackup {
        let path = scratch.path.appending(backup.name)
        let name = backup.name
        let archived = try ArchivedBackup(
            path,
            name: name,
            keys: keys,
            in: scratch,
            holdingTo: limits
        )
        remember(archived, backup)
        return archived
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

    /// Throws if no key opens a backup, according to its first bytes.
    private func refuseWithoutKey(_ backup: Backup) async throws {
        guard backup.isEncrypted else { return }
        do {
            try await checkKey(of: backup)
        } catch let error where error.isOfKeys || error is CancellationError {
            throw error
        } catch {
            // Some servers do not support ranges: the whole archive decides.
        }
    }

    // MARK: - Needs

    /// Opens the archives that an increment is built on, and stores them in it.
    ///
    /// `NeedSearch` decides which archives match. A deleted archive can be used while it is in the trash.
    /// - Throws: `BackupFolderError.missingNeed`; see `open`.
    func openNeeds(
        of archived: ArchivedBackup,
        inPlace isInPlace: Bool = false,
        fetching: (Int64) -> Void
    ) async throws {
        guard let header = archived.header, let needs = header.needs, !needs.isEmpty else { return }
        var parts: [ArchivedBackup] = []
        var search = try await NeedSearch(in: self)
        if !isInPlace { try await search.fetch(needs, of: header, fetching: fetching) }
        for need in needs.reversed() {
            let part = try await search.open(
                need,
                of: header,
                inPlace: isInPlace,
                fetching: fetching
            )
            guard let part else { throw await missing(need, of: archived) }
            parts.insert(part, at: 0)
            if part.header?.isIncrement == false { break }
        }
        archived.needs = parts
    }

    /// Opens a damaged backup, with as many of the backups that it is built on as can be used.
    ///
    /// - Returns: the opened backup with the available backups directly before it, and the name of the first one that
    ///   could not be opened.
    /// - Throws: see `open`; a missing backup is no error.
    package func openToSalvage(
        _ backup: Backup,
        fetching: (Int64) -> Void
    ) async throws -> (archived: ArchivedBackup, missing: String?) {
        let archived = try await openAlone(backup, holdingTo: nil, fetching: fetching)
        guard let header = archived.header, let needs = header.needs, !needs.isEmpty else {
            return (archived, nil)
        }
        var search = try await NeedSearch(in: self)
        var parts: [ArchivedBackup] = []
        var missing: String?
        for need in needs.reversed() {
            do {
                let part = try await search.open(
                    need,
                    of: header,
                    inPlace: false,
                    fetching: fetching
                )
                guard let part else {
                    missing = BackupName.display(need.name)
                    break
                }
                parts.insert(part, at: 0)
                if part.header?.isIncrement == false { break }
            } catch let error where error is ArchiveError || error is ArchivedBackupError {
                missing = BackupName.display(need.name)
                break
            }
        }
        archived.needs = parts
        return (archived, missing)
    }

    /// Returns a backup with the facts from its archive; `nil` if that cannot be read.
    package func lookAlone(
        at backup: Backup,
        mayFetchAll: Bool = true,
        fetching: (Int64) -> Void
    ) async throws -> Backup? {
        do {
            let archived = try await openAloneInPlace(
                backup,
                holdingTo: nil,
                mayFetchAll: mayFetchAll,
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

    /// Returns the backups that an increment is built on and that are neither in the folder nor in its trash.
    ///
    /// - Parameter header: the increment's header.
    /// - Returns: the missing backups, the full one first; the increment cannot be restored without them.
    /// - Throws: `RemoteError`, `FileError`.
    package func missingNeeds(of header: ManifestHeader) async throws -> [Need] {
        try await whereabouts(of: header).missing
    }

    /// Finds everything that an increment is built on.
    ///
    /// - Parameter header: the increment's header.
    /// - Returns: the backups that are only in the trash, those that are in neither place, and the files of those that
    ///   are in no list, since their names were altered, the full one first.
    /// - Throws: `RemoteError`, `FileError`.
    package func whereabouts(
        of header: ManifestHeader
    ) async throws -> (trashed: [TrashedBackup], missing: [Need], altered: [RemoteFile]) {
        guard let needs = header.needs, !needs.isEmpty else { return ([], [], []) }
        var search = try await NeedSearch(in: self)
        var (trashed, missing): ([TrashedBackup], [Need]) = ([], [])
        var altered: [RemoteFile] = []
        for need in needs.reversed() {
            guard let found = try await search.find(need, of: header) else {
                missing.insert(need, at: 0)
                continue
            }
            switch found {
            case .trashed(let entry): trashed.insert(entry, at: 0)
            case .listed(let backup) where BackupName.suffix(of: backup.name) == nil:
                altered.insert(backup.file, at: 0)
            case .listed: break
            }
            // A full backup needs no other.
            if found.isWhole { break }
        }
        return (trashed, missing, altered)
    }

    /// Finds everything that a deleted increment is built on; see `whereabouts(of:)`.
    package func whereabouts(
        of entry: TrashedBackup
    ) async throws -> (trashed: [TrashedBackup], missing: [Need], altered: [RemoteFile]) {
        guard BackupName.isIncrement(entry.name),
            let header = try await open(entry, { _ in }).header
        else { return ([], [], []) }
        return try await whereabouts(of: header)
    }

    /// Returns the error with the missing backup, the other backups that need it, and the newest usable full backup of
    /// the same origin.
    private func missing(_ need: Need, of archived: ArchivedBackup) async -> BackupFolderError {
        let backups = ((try? await list()) ?? Listing()).backups
        let hit = backups.filter {
            $0.name.exact != archived.name.exact && $0.lineage == archived.header?.lineage
                && $0.needs.contains { $0.number == need.number && $0.created == need.created }
        }
        // Another increment may need the missing backup too.
        let header = archived.header
        let isOwn = origin?.isOrigin(header?.origin, header?.originName) ?? false
        let whole = backups.ordinary.first {
            !$0.isIncrement && $0.damage == nil && $0.distrust == nil
                && ($0.origin == header?.origin || isOwn && owns($0))
        }
        return .missingNeed(
            BackupName.display(archived.name),
            need: BackupName.display(need.name),
            address: address,
            others: hit.map(\.displayName),
            whole: whole?.displayName
        )
    }

    /// Opens the archive of a deleted backup, but none of the archives that it is built on.
    func open(
        _ entry: TrashedBackup,
        _ fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        if let location = entry.file.location {
            return try ArchivedBackup(location, name: entry.name, keys: keys)
        }
        fetching(entry.size)
        let scratch = try ScratchDirectory(in: workplace)
        let path = scratch.path.appending(entry.name)
        try await trash.download(entry, to: path)
        return try ArchivedBackup(path, name: entry.name, keys: keys, in: scratch)
    }
}

extension ManifestHeader {
    /// Returns the archive in a directory that this increment is built on, whatever its name; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - need: the description of it.
    ///   - directory: the directory.
    ///   - folder: the folder whose keys open it.
    /// - Returns: the archive's path.
    /// - Throws: `RemoteError`, `FileError`.
    package func archiveBeside(
        for need: Need,
        in directory: FilePath,
        like folder: BackupFolder
    ) async throws -> FilePath? {
        let other = BackupFolder(
            LocalFolder(directory),
            memory: BackupMemory(catalog: folder.memory.catalog.withoutRecords),
            timeZone: folder.timeZone
        )
        var search = try await NeedSearch(in: other)
        guard case .listed(let backup) = try await search.find(need, of: self) else { return nil }
        return backup.file.location
    }
}
