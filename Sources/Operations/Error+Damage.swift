internal import Age
internal import Archives
internal import Backups
internal import Files
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
}
