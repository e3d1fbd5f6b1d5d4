internal import Files
package import Foundation
internal import Remotes
internal import SystemPackage

// The folder together with the backups that wait for it on this machine. Only lists and restores combine them: waiting
// backups are not in the folder, and no policy may count them.
extension BackupFolder {
    /// Reads the folder, and adds the backups that wait for it.
    ///
    /// - Returns: all backups, and the error if the folder is unreachable and only waiting backups are known.
    /// - Throws: `RemoteError`, `FileError` if no backup waits, or if the folder fails for another reason.
    public func listWithWaiting() async throws -> (listing: Listing, unreachable: (any Error)?) {
        let waiting = try await outbox?.waiting() ?? []
        var listing = Listing()
        var unreachable: (any Error)?
        do {
            listing = try await list()
        } catch let error where error.isUnreachable && !waiting.isEmpty {
            unreachable = error
        }
        // A backup is in both places if the run that uploaded it was killed.
        let there = Set(listing.backups.compactMap(\.id))
        listing.backups += waiting.filter { $0.id.map { !there.contains($0) } ?? true }
        listing.backups.arrange()
        return (listing, unreachable)
    }

    /// Returns the backup that a person means, in the folder or waiting for it.
    ///
    /// - Returns: the backup, and the error if the folder is unreachable and only waiting backups are known.
    /// - Throws: see `find`; `BackupFolderError.ambiguous` if a waiting and a stored backup have the name.
    package func findWithWaiting(
        _ text: String,
        now: Date? = nil
    ) async throws -> (backup: Backup, unreachable: (any Error)?) {
        let (listing, unreachable) = try await listWithWaiting()
        let backups = listing.backups
        // A waiting backup may have the same name as a stored one.
        _ = try backups.exactly(text)
        do {
            let backup = try backups.matching(text, address: address, now: now)
            return (backup, unreachable)
        } catch {
            throw unreachable ?? error
        }
    }

    /// Returns the folder that a backup is in: this one, or the outbox's.
    package func home(of backup: Backup) -> BackupFolder {
        backup.isWaiting ? outbox?.folder ?? self : self
    }
}

extension Error {
    /// Whether the error means that a remote folder is unreachable now, and says nothing about its content.
    package var isUnreachable: Bool {
        switch self as any Error {
        case RemoteError.missing, RemoteError.rclone, RemoteError.noRclone, RemoteError.unreachable,
            RemoteError.stalled, RemoteError.unsure:
            true
        case FileError.failed(_, _, let errno): absences.contains(errno)
        default: false
        }
    }
}

/// The system's errors for a mounted folder whose server or disk is away.
///
/// It reports none of these for an available disk.
private let absences: Set<Errno> = [
    .socketNotConnected, .staleNFSFileHandle, .hostIsDown, .noRouteToHost, .networkDown,
    .networkUnreachable, .timedOut, .operationNotSupportedByDevice, .noSuchAddressOrDevice,
]
