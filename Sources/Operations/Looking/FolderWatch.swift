public import Backups
internal import Files
internal import Remotes
internal import SystemPackage

/// A watch for changes of a backup folder, including its notes and its trash.
public struct FolderWatch: Sendable {
    /// The interval between checks for cancellation, in milliseconds.
    private static let step: Int32 = 100

    private let directories: DirectoryWatch

    /// Starts to watch.
    ///
    /// In a folder on another machine, it notices no changes.
    public init(of folder: BackupFolder) {
        let path = folder.remote.directory
        let subfolders = [Annotations.subfolder, Trash.subfolder]
        directories = DirectoryWatch(
            path.map { path in [path] + subfolders.map { path.appending($0) } } ?? []
        )
    }

    /// Waits for a change.
    ///
    /// - Parameters:
    ///   - limit: how long to wait at most.
    ///   - checkCancellation: called often; throws to stop.
    /// - Returns: whether there was a change.
    /// - Throws: what `checkCancellation` throws.
    @discardableResult
    public func wait(
        atMost limit: Duration,
        checkCancellation: () throws -> Void
    ) throws -> Bool {
        let start = ContinuousClock.now
        while start.duration(to: .now) < limit {
            try checkCancellation()
            if directories.wait(milliseconds: Self.step) { return true }
        }
        try checkCancellation()
        return false
    }
}

extension OperationContext {
    /// The longest wait between two listings: a watch does not notice changes by another machine.
    private static let listingPace = Duration.seconds(2)

    /// Waits until the archive of a backup, which is still being copied into its folder, is complete.
    ///
    /// - Parameters:
    ///   - backup: the backup as it was listed.
    ///   - folder: the backup's folder.
    ///   - limit: how long to wait at most; `.zero` for not at all.
    /// - Returns: the backup as it is listed after the wait.
    /// - Throws: `RestoreError.restoreFailed` if it is not complete within the limit; `BackupFolderError.noBackup`
    ///   if it disappears; `RemoteError`; `CancellationError`.
    public func wait(
        for backup: Backup,
        in folder: BackupFolder,
        atMost limit: Duration
    ) async throws -> Backup {
        guard backup.trouble == .notReady else { return backup }
        let start = ContinuousClock.now
        if limit > .zero { note("waiting for '\(backup.displayName)': \(Backup.notReady)") }
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
                atMost: min(left, Self.listingPace),
                checkCancellation: checkCancellation
            )
        }
    }
}
