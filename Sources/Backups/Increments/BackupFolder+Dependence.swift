package import Foundation
internal import Remotes

extension BackupFolder {
    /// Finds out which backups are needed by others.
    ///
    /// - Parameters:
    ///   - backups: those of the folder.
    ///   - isForGood: whether those in the trash count too, which may come back.
    /// - Returns: who needs whom.
    /// - Throws: `RemoteError`.
    package func dependence(
        among backups: [Backup],
        goneForGood isForGood: Bool
    ) async throws -> Dependence {
        let trashed = isForGood ? try await trash.entries().map(backup) : []
        return Dependence(of: backups, by: backups + trashed)
    }

    /// Removes for good every backup that was deleted before a moment, and forgets its annotation; but none
    /// that another needs which is there or can come back.
    ///
    /// - Returns: a problem for each backup that could not be removed.
    /// - Throws: `RemoteError`, `FileError`.
    package func emptyTrash(before date: Date) async throws -> [Problem] {
        let due = try await notNeeded(before: date)
        guard !due.isEmpty else { return [] }
        let (removed, problems) = try await trash.remove(due)
        guard !removed.isEmpty else { return problems }
        let left = try await Set(trash.entries().map(\.name))
        let problem = try await forget(Set(removed.map(\.name)).subtracting(left))
        return problems + [problem].compactMap(\.self)
    }

    /// Returns the deleted backups that may go for good, each before those that it needs.
    private func notNeeded(before date: Date) async throws -> [TrashedBackup] {
        let entries = try await trash.entries()
        guard entries.contains(where: { $0.deleted < date }) else { return [] }
        let trashed = entries.map { (entry: $0, backup: backup($0)) }
        let listed = try await list().backups
        let needs = Dependence(
            of: trashed.map(\.backup),
            by: listed + trashed.map(\.backup)
        )
        // The same backup may be there, or have been deleted twice.
        var due: [TrashedBackup] = []
        var gone: Set<String> = []
        for backup in trashed.map(\.backup).dependantsFirst {
            let these = trashed.filter { $0.backup.name == backup.name && $0.entry.deleted < date }
            let isNeeded = needs.dependants(of: backup).contains { !gone.contains($0.name) }
            guard !isNeeded || these.isEmpty else { continue }
            due += these.map(\.entry).filter { !due.contains($0) }
            let areAll = these.count == trashed.count { $0.backup.name == backup.name }
            if areAll, !listed.contains(where: { $0.name == backup.name }) {
                gone.insert(backup.name)
            }
        }
        return due
    }

    /// Returns a deleted backup with what its manifest says, if its archive is on this machine.
    func backup(_ entry: TrashedBackup) -> Backup {
        var file = entry.file
        file.name = entry.name
        var backup = Backup(file, timeZone: timeZone)
        if let location = entry.file.location, backup.isIncrement || backup.lineage == nil,
            let header = try? ArchivedBackup.glance(
                at: location,
                name: entry.name,
                keys: keys
            ).header
        {
            backup.take(header)
        }
        return backup
    }
}
