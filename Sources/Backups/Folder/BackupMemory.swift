internal import Foundation
public import History
internal import Remotes

/// Everything that this machine remembers about backups, outside of their folders.
///
/// Losing the catalog costs time: an archive on this machine is opened again when it is listed. A remote archive has
/// only the time in its name until it is fetched, and no policy removes or counts it.
///
/// Losing the log loses the depths and times of the checks. Known damage is not lost: checks also write it beside the
/// archives. So a damaged backup never becomes a reason to remove the last good one.
public struct BackupMemory: Sendable {
    public let catalog: BackupCatalog
    /// The log of checks; without it, only the damage in annotations is known.
    public let log: RunLog?
    /// A closure that throws `CancellationError` if the user wants to stop.
    ///
    /// A folder may have a hundred thousand backups.
    public var checkCancellation: @Sendable () throws -> Void = {}

    public init(catalog: BackupCatalog, log: RunLog? = nil) {
        self.catalog = catalog
        self.log = log
    }

    /// Returns the backups of some files, with everything known about them; see `BackupCatalog.backups`.
    ///
    /// - Throws: `CancellationError`.
    func backups(
        _ files: [RemoteFile],
        in address: String,
        timeZone: LocalZone
    ) async throws -> [Backup] {
        var backups = try await catalog.backups(
            files,
            in: address,
            timeZone: timeZone,
            checkCancellation: checkCancellation
        )
        catalog.correctRecipients(of: &backups, in: address)
        return backups
    }
}
