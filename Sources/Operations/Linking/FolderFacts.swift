public import Backups
internal import Files
public import Remotes

/// Whose a remote folder is, and the space there, as far as it tells.
public struct FolderFacts: Sendable, Equatable {
    public var account: String?
    public var space: RemoteSpace?

    public init() {}

    /// Asks the folder's place; what it does not tell is not known.
    ///
    /// - Throws: `CancellationError`.
    public init(of folder: BackupFolder) async throws {
        if let remote = folder.remote as? RcloneFolder {
            async let account = remote.account()
            space = try await remote.space()
            self.account = try await account
        } else if let local = folder.remote as? LocalFolder,
            let free = try? Directory.open(local.path).availableSpace()
        {
            space = RemoteSpace(free: free)
        }
    }
}
