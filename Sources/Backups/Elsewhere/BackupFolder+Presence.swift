internal import Remotes

extension BackupFolder {
    /// The names that this machine gave to backups, which a list may not show yet; on this machine one
    /// always does.
    var givenNames: Set<String> {
        remote is LocalFolder ? [] : Set(memory.catalog.deeds(in: address).names)
    }

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
