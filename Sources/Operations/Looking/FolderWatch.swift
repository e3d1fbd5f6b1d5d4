public import Backups
internal import Files
internal import Remotes
internal import SystemPackage

/// Notices changes of a folder of backups, with its notes and its trash.
public struct FolderWatch: Sendable {
    /// How often the user's wish to stop is asked for, in milliseconds.
    private static let step: Int32 = 100

    private let directories: DirectoryWatch

    /// Begins to watch; of a folder that is elsewhere, no changes are noticed.
    public init(of folder: BackupFolder) {
        let path = (folder.remote as? LocalFolder)?.path
        let subfolders = [Annotations.subfolder, BackupFolder.trashName]
        directories = DirectoryWatch(
            path.map { path in [path] + subfolders.map { path.appending($0) } } ?? []
        )
    }

    /// Waits for a change.
    ///
    /// - Parameters:
    ///   - limit: how long to wait at most.
    ///   - checkCancellation: asked often whether to go on.
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
