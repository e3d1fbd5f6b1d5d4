public import Backups

/// Waits for a backup whose archive is still being copied into its folder.
public struct WaitForBackup: Sendable {
    /// The longest wait between two listings: the watch does not notice changes by another machine.
    private static let interval = Duration.seconds(2)

    private let folder: BackupFolder
    private let context: OperationContext

    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Waits until a backup's archive is complete.
    ///
    /// - Parameters:
    ///   - backup: the backup as it was listed.
    ///   - limit: how long to wait at most; `.zero` for not at all.
    /// - Returns: the backup as it is listed after the wait.
    /// - Throws: `RestoreError.restoreFailed` if it is not complete within the limit; `BackupFolderError.noBackup`
    ///   if it disappears; `RemoteError`; `CancellationError`.
    public func run(_ backup: Backup, atMost limit: Duration) async throws -> Backup {
        guard backup.trouble == .notReady else { return backup }
        let start = ContinuousClock.now
        if limit > .zero { context.note("waiting for '\(backup.displayName)': \(Backup.notReady)") }
        while true {
            let watch = FolderWatch(of: folder)
            let found = try await folder.list().backups
                .matching(backup.name, address: folder.address)
            guard found.trouble == .notReady else { return found }
            let left = limit - start.duration(to: .now)
            guard left > .zero else {
                throw RestoreError.restoreFailed(BackupFolderError.notReady(backup.displayName))
            }
            try watch.wait(
                atMost: min(left, Self.interval),
                checkCancellation: context.checkCancellation
            )
        }
    }
}
