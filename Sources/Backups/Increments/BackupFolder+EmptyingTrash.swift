package import Foundation
internal import Remotes

/// The deleted backups that have been in the trash for long enough.
public struct TrashPlan: Sendable {
    /// One that stays all the same.
    public struct Kept: Sendable {
        public var backup: TrashedBackup
        public var reason: String
    }

    /// Those that go for good, each before those that it needs.
    public var remove: [TrashedBackup] = []
    public var keep: [Kept] = []

    package init() {}
}

extension BackupFolder {
    /// Removes for good every backup that was deleted before a moment, and forgets its annotation; but none
    /// that another needs which is there or can come back.
    ///
    /// - Parameters:
    ///   - date: the moment.
    ///   - now: one that others may be built on stays a day, whatever the moment, unless it has a twin in the folder.
    /// - Returns: what went and what stayed, and a problem for each backup that could not be removed.
    /// - Throws: `RemoteError`, `FileError`.
    package func emptyTrash(
        before date: Date,
        now: Date
    ) async throws -> (plan: TrashPlan, problems: [Problem]) {
        var plan = try await trashPlan(before: date, now: now)
        guard !plan.remove.isEmpty else { return (plan, []) }
        let (removed, problems) = try await trash.remove(plan.remove)
        plan.remove = removed
        guard !removed.isEmpty else { return (plan, problems) }
        let left = try await Set(trash.entries().map(\.name))
        let gone = Set(removed.map(\.name)).subtracting(left)
        let problem = try await forget(gone)
        memory.catalog.remember(in: address) { $0.forgetReplaced(Array(gone)) }
        return (plan, problems + [problem].compactMap(\.self))
    }

    /// Finds out which of the backups that were deleted before a moment may go for good; see `emptyTrash`.
    ///
    /// - Throws: `RemoteError`.
    package func trashPlan(before date: Date, now: Date) async throws -> TrashPlan {
        var plan = TrashPlan()
        let entries = try await trash.entries()
        guard entries.contains(where: { $0.deleted < date }) else { return plan }
        let trashed = entries.map { (entry: $0, backup: backup($0)) }
        let listed = try await list().backups
        let needs = Dependence(
            of: trashed.map(\.backup),
            by: listed + trashed.map(\.backup),
            listed: listed
        )
        // The same backup may be there, or have been deleted twice.
        var gone: Set<String> = []
        let hasIncrements = (listed + trashed.map(\.backup)).contains(where: \.isIncrement)
        let deeds = memory.catalog.deeds(in: address)
        /// Whether the folder has the same under the same name: nothing needs this one, nor is built on it.
        func hasTwin(_ entry: TrashedBackup, _ backup: Backup) -> Bool {
            guard let twin = listed.first(where: { $0.name == entry.name && $0.damage == nil })
            else { return false }
            return deeds.hasReplaced(entry) || backup.id != nil && backup.id == twin.id
        }
        for backup in trashed.map(\.backup).dependantsFirst {
            let same = trashed.filter { $0.backup.name == backup.name }
            let needing = needs.dependants(of: backup).first { !gone.contains($0.name) }
            for (entry, backup) in same
            where entry.deleted < date && !plan.remove.contains(entry) {
                // Of an archive elsewhere, it may not be known.
                let isInLineage =
                    backup.isInLineage || hasIncrements && entry.file.location == nil
                let least = isInLineage ? Double(Backup.leastTrash.components.seconds) : 0
                if hasTwin(entry, backup) {
                    plan.remove.append(entry)
                } else if let needing {
                    plan.keep(entry, "needed by '\(needing.displayName)'")
                } else if entry.deleted < now - least {
                    plan.remove.append(entry)
                } else {
                    plan.keep(entry, "another machine may be building on it; it stays a day")
                }
            }
            let areAll = same.allSatisfy { plan.remove.contains($0.entry) }
            if areAll, !listed.contains(where: { $0.name == backup.name }) {
                gone.insert(backup.name)
            }
        }
        return plan
    }
}

extension TrashPlan {
    /// Keeps one; of a name that is there twice, each is asked about again.
    fileprivate mutating func keep(_ backup: TrashedBackup, _ reason: String) {
        guard !keep.contains(where: { $0.backup == backup }) else { return }
        keep.append(Kept(backup: backup, reason: reason))
    }
}
