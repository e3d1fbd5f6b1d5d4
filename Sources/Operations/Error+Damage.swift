internal import Age
internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import Stores

extension Error {
    /// Whether the error means that an archive is damaged, not that it could not be read.
    var tellsDamage: Bool {
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

    /// Whether the error means that an archive's compression cannot be read here, so that nobody knows if it is whole.
    var isOfCompression: Bool {
        if case ArchiveError.unsupported = self as any Error { true } else { false }
    }

    /// The damage of an archive that ended a restore; `nil` for any other reason, such as a store that was damaged
    /// before it was saved.
    fileprivate var archiveDamage: (any Error)? {
        switch self as any Error {
        case RestoreError.restoreFailed(let error), RestoreError.rolledBack(let error, _),
            LookingError.damaged(let error):
            error.archiveDamage
        case is StoreError, ArchiveError.unsupported: nil
        default: tellsDamage ? self : nil
        }
    }
}

extension OperationContext {
    /// Runs a restore, and records the damage of the backup that it meets, so that no policy counts that as good.
    func notingDamage<Result>(
        of backup: Backup,
        in folder: BackupFolder,
        at date: Date,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            guard let damage = error.archiveDamage else { throw error }
            let home = folder.home(of: backup)
            do {
                try await withLock(home) {
                    await rememberCheck(of: backup, in: home, damage: explain(damage), at: date)
                }
            } catch let refusal {
                warn("the damage of '\(backup.displayName)' was not noted: \(explain(refusal))")
            }
            throw error
        }
    }
}
