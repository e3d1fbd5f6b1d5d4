internal import Age
internal import Archives
public import Backups
internal import Files
public import Foundation
internal import Stores

extension Error {
    /// Whether the error means that an archive is damaged, not that it could not be read.
    var reportsDamage: Bool {
        switch self as any Error {
        case ArchivedBackupError.badManifest: true
        case let error as AgeError: error.isDamage
        case let error as ArchiveError:
            if case .encrypted = error { false } else { true }
        case StoreError.damaged, StoreError.damagedPage: true
        case is DamagedBytes: true
        default: false
        }
    }

    /// Whether the error means that an increment cannot be restored, because a backup that it needs is missing.
    var isOfMissingNeed: Bool {
        if case BackupFolderError.missingNeed = self as any Error { true } else { false }
    }

    /// Whether the error means that an archive's compression cannot be read here, so that nobody knows if it is whole.
    var isOfCompression: Bool {
        if case ArchiveError.unsupported = self as any Error { true } else { false }
    }
}

extension Error {
    /// The damage of an archive that ended a command; `nil` for any other reason, such as a store that was damaged
    /// before it was saved.
    fileprivate var damageMet: (any Error)? {
        switch self as any Error {
        case RestoreError.restoreFailed(let error), RestoreError.rolledBack(let error, _),
            LookingError.damaged(let error):
            error.damageMet
        // Only the bytes of an archive have such pages.
        case StoreError.damagedPage: self
        // An archive without its end may still be copied.
        case is StoreError, ArchiveError.unsupported, ArchiveError.notAnArchive, AgeError.wrongEnd:
            nil
        default: reportsDamage ? self : nil
        }
    }
}

extension OperationContext {
    /// Runs a command that reads a backup, and records the damage that it meets, so that no policy counts that backup
    /// as good.
    ///
    /// - Parameters:
    ///   - backup: the backup that is read.
    ///   - folder: the folder that has it.
    ///   - date: the current time; `nil` for a dry run, which records nothing.
    ///   - isLocked: whether the caller holds the folder's lock.
    ///   - body: the command.
    /// - Returns: the result of `body`.
    /// - Throws: the errors of `body`.
    public func notingDamage<Result>(
        of backup: Backup,
        in folder: BackupFolder,
        at date: Date?,
        isLocked: Bool = false,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            guard let date, let damage = error.damageMet else { throw error }
            await note(explain(damage), of: backup, in: folder, at: date, isLocked: isLocked)
            throw error
        }
    }

    /// Records the damage of a backup; a failure is reported.
    func note(
        _ damage: String,
        of backup: Backup,
        in folder: BackupFolder,
        at date: Date,
        isLocked: Bool = false
    ) async {
        let home = folder.home(of: backup)
        if isLocked { return await rememberCheck(of: backup, in: home, damage: damage, at: date) }
        do {
            try await withLock(home) {
                await rememberCheck(of: backup, in: home, damage: damage, at: date)
            }
        } catch {
            warn("the damage of '\(backup.displayName)' was not noted: \(explain(error))")
        }
    }
}
