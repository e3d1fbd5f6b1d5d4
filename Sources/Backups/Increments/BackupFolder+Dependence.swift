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

    /// Returns the backups of the folder that cannot be restored without one, the newest first.
    ///
    /// - Throws: `RemoteError`.
    package func dependants(of backup: Backup) async throws -> [Backup] {
        let backups = try await list().backups
        return Dependence(of: backups, by: backups).dependants(of: backup)
    }

    /// Removes for good every backup that was deleted before a moment, and forgets its annotation; but none
    /// that another needs which is there or can come back.
    ///
    /// - Parameters:
    ///   - date: the moment.
    ///   - now: one that others may be built on stays a day, whatever the moment.
    /// - Returns: a problem for each backup that could not be removed.
    /// - Throws: `RemoteError`, `FileError`.
    package func emptyTrash(before date: Date, now: Date) async throws -> [Problem] {
        let due = try await notNeeded(before: date, now: now)
        guard !due.isEmpty else { return [] }
        let (removed, problems) = try await trash.remove(due)
        guard !removed.isEmpty else { return problems }
        let left = try await Set(trash.entries().map(\.name))
        let problem = try await forget(Set(removed.map(\.name)).subtracting(left))
        return problems + [problem].compactMap(\.self)
    }

    /// Returns the deleted backups that may go for good, each before those that it needs.
    private func notNeeded(before date: Date, now: Date) async throws -> [TrashedBackup] {
        let entries = try await trash.entries()
        guard entries.contains(where: { $0.deleted < date }) else { return [] }
        let trashed = entries.map { (entry: $0, backup: backup($0)) }
        let listed = try await list().backups
        let needs = Dependence(
            of: trashed.map(\.backup),
            by: listed + trashed.map(\.backup),
            listed: listed
        )
        // The same backup may be there, or have been deleted twice.
        var due: [TrashedBackup] = []
        var gone: Set<String> = []
        let hasIncrements = (listed + trashed.map(\.backup)).contains(where: \.isIncrement)
        func isDue(_ entry: TrashedBackup, _ backup: Backup) -> Bool {
            // Of an archive elsewhere, it may not be known.
            let isInLineage =
                backup.isInLineage || hasIncrements && entry.file.location == nil
            let least = isInLineage ? Backup.leastTrash : .zero
            return entry.deleted < min(date, now - Double(least.components.seconds))
        }
        for backup in trashed.map(\.backup).dependantsFirst {
            let these = trashed.filter {
                $0.backup.name == backup.name && isDue($0.entry, $0.backup)
            }
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
}
