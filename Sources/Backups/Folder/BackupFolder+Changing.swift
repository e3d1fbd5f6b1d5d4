internal import Files
package import Foundation
internal import Remotes

// The caller of each of these methods holds the lock on the staging directory.
extension BackupFolder {
    /// Returns the name that a backup of a given moment will most likely get.
    package func likelyName(
        at date: Date,
        beside backups: [Backup],
        isIncrement: Bool = false,
        isEncrypted: Bool = false
    ) -> String {
        let taken = givenNames.union(backups.map(\.name.exact))
        for number in 1... {
            let (name, others) = BackupName.makeAll(
                date,
                in: timeZone,
                number: number,
                isIncrement: isIncrement,
                isEncrypted: isEncrypted
            )
            if !taken.contains(name.exact), taken.isDisjoint(with: others.map(\.exact)) {
                return name
            }
        }
        preconditionFailure("numbers do not end")
    }

    /// Moves a backup into the trash, or removes it permanently.
    ///
    /// - Returns: a problem if a loss of power may undo the removal.
    /// - Throws: `RemoteError` if it was not removed.
    package func remove(
        _ backup: Backup,
        at date: Date,
        keepingTrash duration: Duration
    ) async throws -> Problem? {
        let problem = try await RemoteError.problem {
            if duration > .zero {
                try await trash.put(backup.name, at: date)
            } else {
                try await remote.delete(backup.name)
            }
        }
        memory.catalog.remember(backup.name, isTaken: true, in: address)
        let newName = duration > .zero ? Trash.name(of: backup.name, at: date) : nil
        if let newName { memory.catalog.remember(in: address) { $0.trash(newName) } }
        if backup.noted != nil {
            var annotations = try? await annotations()
            await annotations?.moveDamage(of: backup, from: backup.name, to: newName, at: date)
        }
        return problem
    }

    /// Returns the deleted backups that can come back, most recently deleted first.
    public func trashed() async throws -> [TrashedBackup] {
        // A folder elsewhere lists its hidden subfolders with it.
        if remote.directory == nil { _ = try await remote.list() }
        return try await trash.entries()
    }
}
