internal import Foundation
internal import Remotes

extension BackupFolder {
    /// Finds out which backups are needed by others.
    ///
    /// - Parameters:
    ///   - backups: those of the folder.
    ///   - isForGood: whether those in the trash count too, which may come back.
    /// - Throws: `RemoteError`.
    package func dependence(
        among backups: [Backup],
        goneForGood isForGood: Bool
    ) async throws -> Dependence {
        let trashed = isForGood ? try await trash.entries().map(backup) : []
        return Dependence(of: backups, by: backups + trashed)
    }

    /// Returns a deleted backup with what its manifest says, if its archive is on this machine.
    func backup(_ entry: TrashedBackup) -> Backup {
        var file = entry.file
        file.name = entry.name
        var backup = Backup(file, timeZone: timeZone)
        if let location = entry.file.location, backup.isIncrement || backup.lineage == nil,
            let header = try? ArchivedBackup.glance(at: location, name: entry.name).header
        {
            backup.take(header)
        }
        return backup
    }
}
