public import Backups
public import Foundation

/// The result of trying the available keys on a backup.
public struct KeyCheck: Sendable {
    public var backup: Backup
    /// The reason why it cannot be opened; `nil` if it can.
    public var failure: (any Error)?
}

extension OperationContext {
    /// Finds the backups that the available keys open; only the beginning of each archive is read.
    ///
    /// - Parameters:
    ///   - names: see `[Backup].matching`; `nil` for all.
    ///   - folder: the backups' folder, with the keys.
    ///   - now: the current time.
    /// - Returns: a check of each backup, the newest first; and the error if the folder is unreachable and only
    ///   waiting backups are known.
    /// - Throws: `BackupFolderError`, `RemoteError`, `CancellationError`.
    public func checkKeys(
        of names: [String]?,
        in folder: BackupFolder,
        now: Date
    ) async throws -> (checks: [KeyCheck], unreachable: (any Error)?) {
        let (listing, unreachable) = try await folder.listWithWaiting()
        if let unreachable { warnOfUnknown(unreachable) }
        let all = listing.backups
        guard !all.isEmpty else { throw BackupFolderError.noBackups(folder.address) }
        let wanted =
            try names.map { names in
                try names.map { try all.matching($0, address: folder.address, now: now) }
            } ?? all
        var checks: [KeyCheck] = []
        for backup in wanted {
            try checkCancellation()
            do {
                for needed in all.withNeeds(of: [backup]) {
                    try await folder.home(of: needed).checkKey(of: needed)
                }
                checks.append(KeyCheck(backup: backup))
            } catch  where !(error is CancellationError) {
                checks.append(KeyCheck(backup: backup, failure: error))
            }
        }
        return (checks, unreachable)
    }
}
