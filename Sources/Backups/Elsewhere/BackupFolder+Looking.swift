internal import Age
internal import Archives
internal import Files
internal import Remotes

extension BackupFolder {
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
        if backup.file.location == nil {
            let source = RemoteRange(backup.file, in: remote)
            do {
                if backup.isEncrypted { try await source.fetchBeginning() }
                let (archived, result) = try await source.fetching {
                    let archived = try ArchivedBackup(
                        keys.opened(source, name: backup.name),
                        isAtHand: false,
                        name: backup.name,
                        holdingTo: limits
                    )
                    // An increment has to be inspected together with the backups that it needs.
                    if archived.header?.isIncrement == true {
                        throw archived.bad("it is only a part")
                    }
                    return (archived, try body(archived))
                }
                remember(archived, backup)
                return result
            } catch let error where Self.asksForAll(error) {
                // The whole archive is read instead.
            }
        }
        return try body(await open(backup, holdingTo: limits, fetching: fetching))
    }

    /// Opens a backup's own archive to read a little of it; see `openInPlace`.
    func openAloneInPlace(
        _ backup: Backup,
        holdingTo limits: RestoreLimits?,
        mayFetchAll: Bool = true,
        fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        if backup.file.location == nil {
            let source = RemoteRange(backup.file, in: remote)
            do {
                if backup.isEncrypted { try await source.fetchBeginning() }
                let archived = try await source.fetching {
                    let archived = try ArchivedBackup(
                        keys.opened(source, name: backup.name),
                        isAtHand: false,
                        name: backup.name,
                        holdingTo: limits
                    )
                    // The whole manifest is fetched at once, and kept.
                    if archived.isDescribed { _ = try archived.forEachRecord { _, _ in } }
                    return archived
                }
                if archived.isDescribed {
                    remember(archived, backup)
                    source.beginWaiting()
                    return archived
                }
                if !mayFetchAll { throw archived.bad("it has none") }
            } catch let error where mayFetchAll && Self.asksForAll(error) {
                // The whole archive is read instead.
            }
        }
        return try await openAlone(backup, holdingTo: limits, fetching: fetching)
    }

    private static func asksForAll(_ error: any Error) -> Bool {
        error is ArchiveError || error is ArchivedBackupError || error is RemoteRange.Failure
            || (error as? AgeError)?.isDamage == true
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

extension BackupFolder {
    /// The names that this machine gave to backups.
    ///
    /// A remote listing may not show them yet; a local folder always does.
    var givenNames: Set<ExactString> {
        remote.directory != nil ? [] : Set(memory.catalog.deeds(in: address).names.map(\.exact))
    }

    /// Returns whether a backup really exists, by reading one byte of it.
    ///
    /// A listing may still name a deleted backup, since some clouds update it late.
    package func isThere(_ backup: Backup) async throws -> Bool { try await isThere(backup.name) }

    func isThere(_ name: String) async throws -> Bool {
        do {
            return try await !remote.download(name, range: 0..<1).isEmpty
        } catch RemoteError.noFile {
            return false
        }
    }
}
