internal import Files
public import Foundation
public import Remotes

/// Pins a backup, so that nothing removes it, or takes its pin away.
///
/// Its archive stays as it is.
public struct PinBackup: Sendable {
    private let remote: any RemoteFolder
    private let catalog: BackupCatalog
    private let timeZone: TimeZone
    private let context: OperationContext

    public init(
        in remote: any RemoteFolder,
        catalog: BackupCatalog,
        timeZone: TimeZone,
        context: OperationContext
    ) {
        self.remote = remote
        self.catalog = catalog
        self.timeZone = timeZone
        self.context = context
    }

    /// Changes the pin of the backup that a person means.
    ///
    /// - Returns: the backup, as it is now.
    /// - Throws: `OperationError.noBackup` and its like, `.badAnnotations`; `RemoteError`,
    ///   `FileError.locked`.
    public func run(_ name: String, isPinned: Bool, at date: Date) async throws -> Backup {
        let lock = try await context.lock(remote.staging)
        defer { withExtendedLifetime(lock) {} }
        var backup = try await ListBackups(in: remote, catalog: catalog, timeZone: timeZone).find(
            name,
            now: date
        )
        var annotations = try await Annotations(of: remote)
        try await annotations.change(backup.name, size: backup.size, at: date) {
            $0.isPinned = isPinned
        }
        annotations.annotate(&backup)
        return backup
    }
}
