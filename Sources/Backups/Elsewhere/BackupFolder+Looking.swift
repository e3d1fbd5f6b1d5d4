internal import Age
internal import Archives
internal import Files
internal import Remotes

extension BackupFolder {
    /// Looks at the directory and the manifest of a backup.
    ///
    /// Of an archive elsewhere only these are fetched, in one part or a few. What is wrong with them may be
    /// the server's fault, which knows no ranges, or the archive was replaced in between: then all of it is
    /// fetched, and looked at again.
    ///
    /// - Parameters:
    ///   - backup: one of this folder.
    ///   - limits: limits to hold the archive to; `nil` for one that is only looked at.
    ///   - fetching: called before all of the archive is fetched, with its size in bytes.
    ///   - body: looks; what it does is done once more if something had to be fetched.
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
                    // It is to be seen with what it needs.
                    if archived.header?.isIncrement == true {
                        throw archived.bad("it is but a part")
                    }
                    return (archived, try body(archived))
                }
                remember(archived, backup)
                return result
            } catch let error where Self.asksForAll(error) {
                // It is read as a whole instead.
            }
        }
        return try body(await open(backup, holdingTo: limits, fetching: fetching))
    }

    /// Opens the archive of a backup to read a little of it; see `openInPlace`.
    func openAloneInPlace(
        _ backup: Backup,
        holdingTo limits: RestoreLimits?,
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
                    // All of the manifest comes at once, and stays.
                    if archived.isDescribed { _ = try archived.forEachRecord { _, _ in } }
                    return archived
                }
                if archived.isDescribed {
                    remember(archived, backup)
                    source.beginWaiting()
                    return archived
                }
            } catch let error where Self.asksForAll(error) {
                // It is read as a whole instead.
            }
        }
        return try await openAlone(backup, holdingTo: limits, fetching: fetching)
    }

    private static func asksForAll(_ error: any Error) -> Bool {
        error is ArchiveError || error is ArchivedBackupError || error is RemoteRange.Failure
            || (error as? AgeError)?.isDamage == true
    }

    /// Remembers what an archive says of itself.
    func remember(_ archived: ArchivedBackup, _ backup: Backup) {
        memory.catalog.remember(backup.knowing(archived), in: address)
    }
}

extension Backup {
    /// Returns the same with what its archive says of it.
    func knowing(_ archived: ArchivedBackup) -> Backup {
        var known = self
        known.id = archived.id
        known.isForeign = archived.header == nil
        if let header = archived.header { known.take(header) }
        return known
    }
}
