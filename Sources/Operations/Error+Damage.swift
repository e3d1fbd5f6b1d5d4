internal import Age
internal import Archives
internal import Backups
internal import Files
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
