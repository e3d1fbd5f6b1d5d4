package import Foundation
internal import Remotes

// Several machines, and several stores directories of one, may share a folder: the newest backup of all is then
// not the newest of the data that a restore replaces.
extension BackupFolder {
    /// The backup that a restore takes if none is named.
    public struct Choice: Sendable {
        public var backup: Backup
        /// The newer ones, the newest first: they are of other stores directories.
        public var passedOver: [Backup] = []
    }

    /// Returns the newest backup of a stores directory, which may wait, and the reason that only those that wait
    /// are known; the newest of all if none is of that directory.
    ///
    /// One that does not tell what it is of may be of it.
    /// - Parameters:
    ///   - origin: the stores directory; see `ManifestHeader.origin`.
    ///   - now: a later backup is the newest only if there is no other.
    ///   - fetching: called before all of an archive is fetched that is looked into, with its size in bytes.
    /// - Returns: the backup with those that were passed over, and the reason.
    /// - Throws: see `find`; `RemoteError`, `FileError`.
    package func latest(
        of origin: String,
        now: Date,
        fetching: (Int64) -> Void
    ) async throws -> (Choice, unreachable: (any Error)?) {
        let (listing, unreachable) = try await listWithWaiting()
        do {
            let newest = try listing.backups.matching("latest", address: address, now: now)
            let all = listing.backups.ordinary.withoutReplaced.real(at: now)
            let choice = try await choose(of: origin, among: all, fetching)
            return (choice ?? Choice(backup: newest), unreachable)
        } catch {
            throw unreachable ?? error
        }
    }

    /// Returns the newest backup of a stores directory that was made until a moment; see `latest` and
    /// `[Backup].newest(until:)`.
    ///
    /// - Throws: `BackupFolderError.noneUntil`, `.noBackups`, `RemoteError`, `FileError`.
    package func newest(
        until moment: Date,
        saying text: String,
        of origin: String,
        fetching: (Int64) -> Void
    ) async throws -> (Choice, unreachable: (any Error)?) {
        let (listing, unreachable) = try await listWithWaiting()
        do {
            let backups = listing.backups
            let newest = try backups.newest(until: moment, saying: text, address: address)
            let all = backups.ordinary.withoutReplaced.filter { backup in
                backup.ownTime.map { $0 <= moment } ?? false
            }
            let choice = try await choose(of: origin, among: all, fetching)
            return (choice ?? Choice(backup: newest), unreachable)
        } catch {
            throw unreachable ?? error
        }
    }

    /// Returns the backup that undoes the last restore of a stores directory, which may wait, and the reason that
    /// only those that wait are known.
    ///
    /// - Parameters: see `latest`.
    /// - Throws: `BackupFolderError.nothingToUndo`; `.undoneElsewhere` if all are of other stores directories,
    ///   `.unknownUndo` if it cannot be told which of several is meant; `RemoteError`, `FileError`.
    package func newestSafety(
        of origin: String,
        now: Date,
        fetching: (Int64) -> Void
    ) async throws -> (backup: Backup, unreachable: (any Error)?) {
        let (listing, unreachable) = try await listWithWaiting()
        do {
            let newest = try listing.backups.newestSafety(address: address, now: now)
            var candidates: [Backup] = []
            for one in listing.backups.filter(\.isSafety).real(at: now) {
                let known = try await knowing(one, fetching)
                guard let other = known.origin else {
                    candidates.append(known)
                    continue
                }
                guard other == origin else { continue }
                candidates.append(known)
                // What is older is undone by it already.
                break
            }
            guard let first = candidates.first else {
                throw BackupFolderError.undoneElsewhere(address, newest: newest.displayName)
            }
            guard candidates.count == 1 || first.origin != nil else {
                throw BackupFolderError.unknownUndo(address, candidates.map(\.displayName))
            }
            return (first, unreachable)
        } catch {
            throw unreachable ?? error
        }
    }

    /// Returns the first of some backups that is of a stores directory, or may be; `nil` if none is.
    private func choose(
        of origin: String,
        among backups: [Backup],
        _ fetching: (Int64) -> Void
    ) async throws -> Choice? {
        var passedOver: [Backup] = []
        for backup in backups {
            let known = try await knowing(backup, fetching)
            if known.origin == nil || known.origin == origin {
                return Choice(backup: known, passedOver: passedOver)
            }
            passedOver.append(known)
        }
        return nil
    }

    /// Returns a backup with what its archive says of it, if that is elsewhere and was not read yet.
    private func knowing(_ backup: Backup, _ fetching: (Int64) -> Void) async throws -> Backup {
        guard backup.isUnknown, backup.file.location == nil else { return backup }
        return try await lookAlone(at: backup, fetching: fetching) ?? backup
    }
}
