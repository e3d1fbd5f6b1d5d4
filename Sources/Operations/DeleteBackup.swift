internal import Files
public import Foundation
public import Remotes

/// Removes a backup from a remote folder, for good.
public struct DeleteBackup: Sendable {
    private let remote: any RemoteFolder
    private let catalog: BackupCatalog
    private let timeZone: TimeZone
    private let context: OperationContext

    public init(
        from remote: any RemoteFolder,
        catalog: BackupCatalog,
        timeZone: TimeZone,
        context: OperationContext
    ) {
        self.remote = remote
        self.catalog = catalog
        self.timeZone = timeZone
        self.context = context
    }

    /// The backup that a person means, for asking before it is deleted.
    public func find(_ name: String) async throws -> Backup {
        try await ListBackups(in: remote, catalog: catalog, timeZone: timeZone).find(name)
    }

    /// Deletes a backup that was found.
    ///
    /// - Throws: `RemoteError`, `FileError.locked`.
    public func run(_ backup: Backup) async throws {
        let lock = try await context.lock(remote.staging)
        defer { withExtendedLifetime(lock) {} }
        try await remote.delete(backup.name)
    }
}
