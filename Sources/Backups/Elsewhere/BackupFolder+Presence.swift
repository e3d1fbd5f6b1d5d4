internal import Remotes

extension BackupFolder {
    /// Returns whether a backup is really there, by reading a byte of it.
    ///
    /// A list may name what is gone: not every cloud forgets it at once.
    package func isThere(_ backup: Backup) async throws -> Bool { try await isThere(backup.name) }

    func isThere(_ name: String) async throws -> Bool {
        do {
            return try await !remote.download(name, range: 0..<1).isEmpty
        } catch RemoteError.noFile {
            return false
        }
    }
}
