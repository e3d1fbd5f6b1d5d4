package import Age
internal import Files
package import Foundation
internal import Remotes

/// The backup that a restore uses if none is named.
///
/// Several machines, and several stores directories of one machine, may share a folder, and others may write to it. The
/// newest backup in the folder may thus be of other data than a restore replaces.
public struct ImpliedBackup: Sendable {
    /// A backup of the own origin with a trusted signature, else one of the origin that this one may continue.
    public var backup: Backup
    /// The newest backup of the own origin without known damage, if `backup` has some.
    public var whole: Backup?
    /// Whether the backup is of another origin, the only one in the folder.
    public var isOfAnother = false
    /// The newer backups that were skipped, newest first.
    public var skipped: [Backup] = []
    /// A warning that the folder's newest backup is older than before.
    public var warning: String?

    /// The newer backups that cannot be read, or are not as they were: each may be the newest of the own origin.
    public var unreadable: [Backup] { skipped.filter { $0.isUnreadable || $0.hasOtherSize } }
}

extension ImpliedBackup {
    /// Returns the newest own backup, including waiting ones.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - now: the current time. A backup from the future is chosen only if there is no other.
    ///   - fetching: called with an archive's size in bytes before the whole archive is fetched.
    /// - Returns: the backup with the skipped ones, and the error if the folder is unreachable and only waiting ones
    ///   are known.
    /// - Throws: see `BackupFolder.find`; `BackupFolderError.ofOthers`, `RemoteError`, `FileError`.
    package static func latest(
        in folder: BackupFolder,
        now: Date,
        fetching: (Int64) -> Void
    ) async throws -> (Self, unreachable: (any Error)?) {
        let (listing, unreachable) = try await folder.listWithWaiting()
        do {
            var choice = try await latest(
                in: folder,
                among: listing.backups,
                now: now,
                fetching: fetching
            )
            if unreachable == nil {
                choice.warning = await folder.losses.lagWarning(beside: listing.backups)
            }
            return (choice, unreachable)
        } catch {
            throw unreachable ?? error
        }
    }

    /// Returns the newest own backup of a list, newest first; see `latest(now:fetching:)`.
    ///
    /// - Throws: `BackupFolderError.onlySafetyBackups`, `.noBackups`, `RemoteError`, `FileError`.
    package static func latest(
        in folder: BackupFolder,
        among backups: [Backup],
        now: Date,
        fetching: (Int64) -> Void
    ) async throws -> Self {
        let newest = try backups.matching("latest", address: folder.address, now: now)
        let all = backups.perhapsOrdinary.withoutReplaced.real(at: now)
        return try await choose(in: folder, among: all, else: newest, fetching)
    }

    /// Returns the newest own backup that was made at a moment or before it; see `latest` and
    /// `[Backup].newest(until:)`.
    ///
    /// - Throws: `BackupFolderError.noneUntil`, `.noBackups`, `RemoteError`, `FileError`.
    package static func newest(
        in folder: BackupFolder,
        until moment: Date,
        saying text: String,
        fetching: (Int64) -> Void
    ) async throws -> (Self, unreachable: (any Error)?) {
        let (listing, unreachable) = try await folder.listWithWaiting()
        do {
            let backups = listing.backups
            let newest = try backups.newest(until: moment, saying: text, address: folder.address)
            let all = backups.perhapsOrdinary.withoutReplaced.filter { backup in
                backup.ownTime.map { $0 <= moment } ?? false
            }
            var choice = try await choose(in: folder, among: all, else: newest, fetching)
            if unreachable == nil {
                choice.warning = await folder.losses.lagWarning(beside: listing.backups)
            }
            return (choice, unreachable)
        } catch {
            throw unreachable ?? error
        }
    }

    /// Returns the backup that undoes the last restore of the own stores directory, including waiting ones.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - now: the current time; see `latest`.
    ///   - futile: the identities of the safety backups of restores that changed nothing.
    ///   - fetching: called with an archive's size in bytes before the whole archive is fetched.
    /// - Returns: the backup, and the error if the folder is unreachable and only waiting ones are known.
    /// - Throws: `BackupFolderError.nothingToUndo`; `.undoneElsewhere` if all safety backups are of other stores
    ///   directories, `.unknownUndo` if several may be meant; `RemoteError`, `FileError`.
    package static func newestSafety(
        in folder: BackupFolder,
        now: Date,
        passingOver futile: Set<String> = [],
        fetching: (Int64) -> Void
    ) async throws -> (backup: Backup, unreachable: (any Error)?) {
        let (listing, unreachable) = try await folder.listWithWaiting()
        do {
            let newest = try listing.backups.newestSafety(address: folder.address, now: now)
            var (candidates, isFutile) = ([Backup](), false)
            for one in listing.backups.filter(\.isSafety).real(at: now) {
                let known = try await knowing(one, in: folder, fetching)
                if let id = known.id, futile.contains(id.rawValue) {
                    isFutile = true
                    continue
                }
                guard known.origin != nil else {
                    if known.distrust == nil || known.isAnonymous { candidates.append(known) }
                    continue
                }
                guard folder.origin.owns(known) else { continue }
                candidates.append(known)
                // This restore already undid the older ones.
                break
            }
            guard let first = candidates.first else {
                if isFutile { throw BackupFolderError.nothingToUndo(folder.address) }
                let named = newest.distrust == nil ? newest.displayName : nil
                throw BackupFolderError.undoneElsewhere(folder.address, newest: named)
            }
            guard candidates.count == 1 || first.origin != nil else {
                throw BackupFolderError.unknownUndo(folder.address, candidates.map(\.displayName))
            }
            return (first, unreachable)
        } catch {
            throw unreachable ?? error
        }
    }

    /// Returns the first own backup, else the first of the origin that this one may continue.
    private static func choose(
        in folder: BackupFolder,
        among backups: [Backup],
        else newest: Backup,
        _ fetching: (Int64) -> Void
    ) async throws -> Self {
        var skipped: [Backup] = []
        for backup in backups {
            let known = try await knowing(backup, in: folder, fetching)
            if known.isSafety { continue }
            if folder.origin.owns(known) {
                // A copy that is not known to be damaged is the same backup.
                let whole = backups.first {
                    known.id != nil && $0.id == known.id && $0.archiveDamage == nil
                        && $0.distrust == known.distrust
                }
                var choice = Self(backup: known.archiveDamage == nil ? known : whole ?? known)
                choice.skipped = skipped
                if choice.backup.damage != nil {
                    choice.whole = backups.first {
                        folder.origin.owns($0) && !$0.isSafety && $0.damage == nil
                    }
                }
                return choice
            }
            skipped.append(known)
        }
        return try Self(amongOthers: skipped, than: folder.origin, in: folder.address)
            ?? Self(backup: newest)
    }

    /// Returns a backup with the facts from its archive, if that is elsewhere and was not read yet.
    private static func knowing(
        _ backup: Backup,
        in folder: BackupFolder,
        _ fetching: (Int64) -> Void
    ) async throws -> Backup {
        guard backup.isUnknown, backup.file.location == nil else { return backup }
        return try await folder.lookAlone(at: backup, fetching: fetching) ?? backup
    }
}

extension ImpliedBackup {
    /// Chooses the newest backup of the origin that this one may continue, as on a new machine: it has the same name, or
    /// the folder has no other.
    ///
    /// - Throws: `BackupFolderError.ofOthers` if the folder has the backups of several others.
    fileprivate init?(
        amongOthers backups: [Backup],
        than origin: Origin?,
        in address: String
    ) throws {
        let trusted = backups.filter { $0.distrust == nil }
        let all = trusted.isEmpty ? backups : trusted
        let isNamesake = { (backup: Backup) in origin?.mayContinue(backup) ?? false }
        guard let first = all.first(where: isNamesake) ?? all.first else { return nil }
        // One that cannot be read may be of this origin.
        isOfAnother = first.origin != nil && !isNamesake(first)
        let names = Set(backups.compactMap { $0.originName ?? $0.origin })
        if isOfAnother, names.count > 1 {
            throw BackupFolderError.ofOthers(address, names.sorted())
        }
        backup = first
        skipped = Array(backups.prefix { $0.name.exact != first.name.exact })
    }
}

extension Origin? {
    /// Returns whether a backup has a trusted signature and is of the own origin.
    ///
    /// If signatures are not required, a backup that names no origin counts as own.
    fileprivate func owns(_ backup: Backup) -> Bool {
        backup.distrust == nil && !(self?.isOther(than: backup) ?? false)
    }
}

/// The newest backup of an earlier system with the own origin's name, or of this system's earlier key.
package struct Predecessor {
    package let backup: Backup
    /// The name of its origin.
    package let name: String
    /// Whether its origin has another identity, so that this one needs its name to continue it.
    package let isOther: Bool
    /// The key to trust, unless it is trusted.
    package let key: SSHPublicKey?

    /// Finds the backup that the next one may continue; `nil` if a backup counts as its own.
    package init?(in folder: BackupFolder, among backups: [Backup]) {
        guard let origin = folder.origin, !backups.contains(where: folder.owns) else { return nil }
        let found = backups.first {
            $0.originName != nil && origin.mayContinue($0)
                && ($0.distrust == nil || $0.signer == nil && $0.signerKey != nil)
        }
        guard let found, let name = found.originName else { return nil }
        backup = found
        self.name = name
        isOther = origin.isOther(than: found)
        key = found.distrust == nil ? nil : found.signerKey
    }
}
