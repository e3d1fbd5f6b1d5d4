package import Foundation

// The folder together with what waits for it on this machine. Only who looks or restores takes them
// together: what waits is not in the folder, and no policy may count it.
extension BackupFolder {
    /// Reads the folder, and adds the backups that wait for it.
    ///
    /// - Returns: all backups, and why the folder cannot be reached, if only those that wait are known.
    /// - Throws: `RemoteError`, `FileError` if nothing waits, or for another reason than that.
    public func listWithWaiting() async throws -> (listing: Listing, unreachable: (any Error)?) {
        let waiting = try await outbox?.waiting() ?? []
        var listing = Listing()
        var unreachable: (any Error)?
        do {
            listing = try await list()
        } catch let error where error.isUnreachable && !waiting.isEmpty {
            unreachable = error
        }
        // One that was sent by a run that was killed then is in both.
        let there = Set(listing.backups.compactMap(\.id))
        listing.backups += waiting.filter { $0.id.map { !there.contains($0) } ?? true }
        listing.backups.sortNewestFirst()
        return (listing, unreachable)
    }

    /// Returns the backup that a person means, in the folder or waiting for it.
    ///
    /// - Returns: the backup, and why the folder cannot be reached, if only those that wait are known.
    /// - Throws: see `find`; `BackupFolderError.ambiguous` if one of each has the name.
    package func findWithWaiting(
        _ text: String,
        now: Date? = nil
    ) async throws -> (backup: Backup, unreachable: (any Error)?) {
        let (listing, unreachable) = try await listWithWaiting()
        let backups = listing.backups
        let exact = backups.filter { $0.name == text || $0.displayName == text }.withoutReplaced
        // One that waits may have the very name of one that is there.
        _ = try exact.only(named: text)
        do {
            let backup = try backups.matching(text, address: address, now: now)
            return (backup, unreachable)
        } catch {
            throw unreachable ?? error
        }
    }

    /// Returns the folder that a backup is in: this one, or that of the backups that wait for it.
    package func home(of backup: Backup) -> BackupFolder {
        backup.isWaiting ? outbox?.folder ?? self : self
    }
}
