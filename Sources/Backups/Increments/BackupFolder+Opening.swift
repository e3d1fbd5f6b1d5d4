internal import Archives
internal import Files
internal import Remotes
internal import SystemPackage

extension BackupFolder {
    /// Opens a backup, fetching its archive first if that is elsewhere.
    ///
    /// - Parameters:
    ///   - backup: one of this folder.
    ///   - limits: limits to hold the archive to; `nil` for one that is only looked at.
    ///   - fetching: called before the archive is fetched, with its size in bytes.
    /// - Returns: the opened backup; a fetched archive goes with its last reference.
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `RemoteError`, `FileError`; `BackupFolderError.missingNeed`
    ///   if an archive is gone that an increment needs.
    package func open(
        _ backup: Backup,
        holdingTo limits: RestoreLimits?,
        fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        let archived = try await openAlone(backup, holdingTo: limits, fetching: fetching)
        try await openNeeds(of: archived, fetching: fetching)
        return archived
    }

    /// Opens a backup to read a little of it: of archives elsewhere only as much is fetched as is read.
    ///
    /// Whoever reads it waits for what is fetched, and does so on a thread of its own: see `WorkThread.run`.
    /// Of a server that knows no ranges, and of another program's archive, all is fetched at once.
    /// - Parameters:
    ///   - backup: one of this folder.
    ///   - limits: limits to hold the archive to.
    ///   - fetching: called before all of an archive is fetched, with its size in bytes.
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

    /// Opens the archive of a backup, and none of those that an increment needs; see `open`.
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
        let path = scratch.path.appending(backup.name)
        try await remote.download(backup.name, to: path)
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

    /// Throws if no key opens a backup, which its first bytes tell.
    private func refuseWithoutKey(_ backup: Backup) async throws {
        guard backup.isEncrypted else { return }
        do {
            try await checkKey(of: backup)
        } catch let error where error.isOfKeys || error is CancellationError {
            throw error
        } catch {
            // Some servers know no ranges: the whole archive tells.
        }
    }

    // MARK: - Needs

    /// Opens the archives that an increment is built on, and has it keep them.
    ///
    /// Each is looked for by its name and size, then by what it says of itself: it may have been renamed, or a
    /// whole backup of the same state may have taken its place, which needs no other. A deleted one is good
    /// as long as it is in the trash.
    /// - Throws: `BackupFolderError.missingNeed`; see `open`.
    func openNeeds(
        of archived: ArchivedBackup,
        inPlace isInPlace: Bool = false,
        fetching: (Int64) -> Void
    ) async throws {
        guard let header = archived.header, let needs = header.needs, !needs.isEmpty else { return }
        var parts: [ArchivedBackup] = []
        let places = try await Places(of: self)
        for need in needs.reversed() {
            guard let part = try await open(need, of: header, in: places, isInPlace, fetching)
            else {
                throw BackupFolderError.missingNeed(
                    BackupName.display(archived.name),
                    need: BackupName.display(need.name),
                    address: address
                )
            }
            parts.insert(part, at: 0)
            if part.header?.isIncrement == false { break }
        }
        archived.needs = parts
    }

    /// Opens a backup of which only a part may be there, with as much of what it is built on as can be used.
    ///
    /// - Returns: the opened backup, with those just before it that could be opened, and the name of the first one
    ///   that could not.
    /// - Throws: see `open`; not that something is missing.
    package func openToSalvage(
        _ backup: Backup,
        fetching: (Int64) -> Void
    ) async throws -> (archived: ArchivedBackup, missing: String?) {
        let archived = try await openAlone(backup, holdingTo: nil, fetching: fetching)
        guard let header = archived.header, let needs = header.needs, !needs.isEmpty else {
            return (archived, nil)
        }
        let places = try await Places(of: self)
        var parts: [ArchivedBackup] = []
        var missing: String?
        for need in needs.reversed() {
            do {
                guard let part = try await open(need, of: header, in: places, false, fetching)
                else {
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

    /// Returns the backups that an increment is built on, and that are neither in the folder nor in its trash.
    ///
    /// - Parameter header: the increment's.
    /// - Returns: those without which it cannot be put together, the whole one first.
    /// - Throws: `RemoteError`.
    package func missingNeeds(of header: ManifestHeader) async throws -> [Need] {
        let places = try await Places(of: self)
        var missing: [Need] = []
        for need in header.needs?.reversed() ?? [] {
            let (named, alike) = places.candidates(for: need, of: header)
            let known = alike.filter { $0.time == Timestamp.date(rfc3339: need.created) }
            let isTrashed = places.trashed.contains { $0.name == need.name && $0.size == need.size }
            if (named + known).isEmpty, !isTrashed { missing.append(need) }
            // A whole one needs no other.
            if (named + known).contains(where: { !$0.isIncrement }) { break }
        }
        return missing.reversed()
    }

    /// Everything in a folder that may be an archive which another needs.
    private struct Places {
        var backups: [Backup]
        var trashed: [TrashedBackup]

        init(of folder: BackupFolder) async throws {
            backups = try await folder.remote.list()
                .filter { BackupName.suffix(of: $0.name) != nil }
                .map {
                    folder.memory.catalog.backup($0, in: folder.address, timeZone: folder.timeZone)
                }
            trashed = (try? await folder.trash.entries()) ?? []
        }

        /// Returns the backups that may be one that is needed: those of its name and size, and others that say
        /// to have its place in the lineage.
        func candidates(
            for need: Need,
            of header: ManifestHeader
        ) -> (named: [Backup], alike: [Backup]) {
            let named = backups.filter { $0.name == need.name && $0.size == need.size }
            // A whole one that was made of it has its name, and may not have been looked at here.
            let whole = "\(BackupName.display(need.name)) \(BackupName.suffix)"
            let alike = backups.filter {
                $0.name != need.name
                    && ($0.lineage == header.lineage && $0.number == need.number
                        || $0.lineage == nil && $0.name == whole)
            }
            return (named, alike)
        }
    }

    private func open(
        _ need: Need,
        of header: ManifestHeader,
        in places: Places,
        _ isInPlace: Bool,
        _ fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup? {
        func isIt(_ archived: ArchivedBackup) -> Bool {
            archived.header?.lineage == header.lineage && archived.header?.number == need.number
                && archived.header?.created == need.created
        }
        let (named, alike) = places.candidates(for: need, of: header)
        // A whole one needs no other.
        for backup in alike.filter({ !$0.isIncrement }) + named + alike.filter(\.isIncrement) {
            let open = isInPlace ? openAloneInPlace : openAlone
            let archived = try await open(backup, nil, fetching)
            if isIt(archived) { return archived }
        }
        for entry in places.trashed where entry.name == need.name && entry.size == need.size {
            let archived = try await open(entry, fetching)
            if isIt(archived) { return archived }
        }
        return nil
    }

    private func open(
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
