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
