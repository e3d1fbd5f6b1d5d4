internal import Files
package import Foundation
package import Remotes
internal import SystemPackage

// Archives that come from another place. The caller of each of these methods holds the lock on the staging directory.
extension BackupFolder {
    /// Returns the backup of an archive, with the facts from the archive alone.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError` if its manifest cannot be read and the archive is not known to
    ///   be damaged.
    package func backup(
        _ file: RemoteFile,
        of archived: ArchivedBackup,
        damaged: Bool = false
    ) throws -> Backup {
        var backup = Backup(file, timeZone: timeZone)
        backup.id = archived.id
        backup.isForeign = archived.header == nil
        guard let header = archived.header else { return backup }
        backup.take(header, archived.signature)
        keys.judge(&backup)
        do {
            backup.summary.content = try archived.trailer()?.content
        } catch  where damaged {}
        return backup
    }

    /// Finds the backup of this folder that is the same as another folder's.
    ///
    /// - Parameters:
    ///   - other: the backup of the other folder, whose identity is known.
    ///   - content: the digest of its content, if known.
    ///   - backups: the backups of this folder.
    ///   - ofAnySize: whether the sizes may differ, since the archive may be encrypted for other recipients.
    ///   - opening: opens a backup of this folder that may be the same and whose identity is unknown.
    /// - Returns: the backup of the same identity, size and content. It has no known damage unless the other has.
    /// - Throws: `RemoteError`, `CancellationError`.
    package func backup(
        sameAs other: Backup,
        content: String?,
        among backups: [Backup],
        ofAnySize: Bool = false,
        opening: (Backup) async throws -> ArchivedBackup
    ) async throws -> Backup? {
        guard let id = other.id else { return nil }
        for var backup in backups
        where (ofAnySize ? backup.isEncrypted : backup.size == other.size)
            && (backup.archiveDamage == nil || other.archiveDamage != nil)
        {
            if backup.id == nil {
                do {
                    backup = try await self.backup(backup.file, of: opening(backup))
                } catch let error where error is RemoteError || error is CancellationError {
                    throw error
                } catch {
                    // A file that is no archive cannot be the same backup.
                    continue
                }
            }
            guard backup.id == id else { continue }
            let found = self.content(of: backup)
            if found == content || found == nil || content == nil { return backup }
        }
        return nil
    }

    /// Gives a backup the name of another one, which moves to the trash.
    ///
    /// At every moment one of the two is listed, complete. The other one can come back under its name.
    /// - Parameters:
    ///   - other: the backup with the wanted name.
    ///   - backup: a backup of the folder with another name.
    ///   - date: now.
    /// - Returns: the backup with its new name, and problems if a loss of power may undo the change.
    /// - Throws: `RemoteError`. The backup keeps its old name, and the other one comes back if the folder allows it.
    package func replace(
        _ other: Backup,
        by backup: Backup,
        at date: Date
    ) async throws -> (backup: Backup, problems: [Problem]) {
        var problems = [try await remove(other, at: date, keepingTrash: .seconds(1))]
        do {
            problems.append(
                try await RemoteError.problem {
                    try await remote.move(backup.name, to: remote, as: other.name)
                }
            )
        } catch {
            _ = try? await trash.bringBack(other.name)
            throw error
        }
        var renamed = backup
        renamed.file.name = other.name
        renamed.file.location = backup.file.location?.removingLastComponent().appending(other.name)
        memory.catalog.remember(backup.name, isTaken: true, in: address)
        memory.catalog.remember(other.name, isTaken: false, in: address)
        memory.catalog.remember(in: address) { $0.replace(other.name, at: date) }
        memory.catalog.remember(renamed, in: address)
        return (renamed, problems.compactMap(\.self))
    }
}
