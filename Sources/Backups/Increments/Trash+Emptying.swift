internal import Files
package import Foundation
internal import Remotes

/// The deleted backups to remove from the trash, and those that stay.
public struct TrashPlan: Sendable {
    /// A backup that stays in spite of its age.
    public struct Kept: Sendable {
        public var backup: TrashedBackup
        public var reason: String
    }

    /// The backups to remove permanently, each before the backups that it needs.
    public var remove: [TrashedBackup] = []
    public var keep: [Kept] = []

    package init() {}

    /// The longest time without any backup or deletion that counts in full.
    ///
    /// After a longer one the clock may be wrong, and a clock that is years ahead must not empty the trash.
    private static let longestSilence: TimeInterval = 31 * 86_400

    /// Returns the moment before which a deleted backup was in the trash for long enough.
    ///
    /// - Parameters:
    ///   - date: the moment if the clock is right.
    ///   - now: the current time.
    ///   - moments: the times of backups and deletions. A silence between two of them that is too long counts as at
    ///     most half the time for which the trash is kept.
    /// - Returns: the moment, which is the given one or earlier.
    fileprivate static func limit(_ date: Date, now: Date, _ moments: [Date]) -> Date {
        let whole = now.timeIntervalSince(date)
        var (left, later) = (whole, now)
        for moment in moments.filter({ $0 < now }).sorted(by: >) {
            let silence = later.timeIntervalSince(moment)
            let counted = silence > longestSilence ? min(silence, whole / 2) : silence
            guard counted < left else { break }
            (left, later) = (left - counted, moment)
        }
        return later - left
    }

    /// Returns the reason to keep a deleted backup in spite of its age; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - entry: the deleted backup.
    ///   - needing: a backup that needs it.
    ///   - limit: see `limit`.
    ///   - latest: the moment before which others may have begun to build on it.
    /// - Returns: the reason.
    fileprivate static func reason(
        toKeep entry: TrashedBackup,
        neededBy needing: Backup?,
        _ limit: Date,
        _ latest: Date
    ) -> String? {
        if let needing { return "needed by '\(needing.displayName)'" }
        if entry.deleted >= limit {
            return "nothing happened here for long, and the clock may be wrong"
        }
        return entry.deleted < latest
            ? nil : "another machine may be building on it; it stays a day"
    }
}

extension Trash {
    /// Permanently removes every backup that was deleted before a moment, and forgets its annotation.
    ///
    /// It keeps backups that another existing or deleted backup needs.
    ///
    /// - Parameters:
    ///   - date: the moment; it is earlier if nothing happened in the folder for long, see `TrashPlan`.
    ///   - now: the current time. A backup that others may be built on stays for a day in any case, unless it has a
    ///     twin in the folder.
    ///   - reasonToLeave: returns the reason why a deleted backup is not this run's to remove; `nil` if it is. This
    ///     machine may remove all that it deleted itself.
    /// - Returns: the removed and the kept backups, and a problem for each backup that could not be removed.
    /// - Throws: `RemoteError`, `FileError`.
    package func empty(
        before date: Date,
        now: Date,
        leaving reasonToLeave: (Backup) -> String? = { _ in nil }
    ) async throws -> (plan: TrashPlan, problems: [Problem]) {
        var plan = try await plan(before: date, now: now, leaving: reasonToLeave)
        guard !plan.remove.isEmpty else { return (plan, []) }
        let (removed, problems) = await remove(plan.remove) {
            (try? folder.memory.checkCancellation()) == nil
        }
        plan.remove = removed
        guard !removed.isEmpty else { return (plan, problems) }
        let left = try await Set(entries().map(\.name.exact))
        let gone = Set(removed.map(\.name.exact)).subtracting(left)
        let problem = try await folder.notes.forget(gone)
        let files = Set(removed.map(\.file.name.exact))
        folder.memory.catalog.remember(in: folder.address) {
            $0.forgetReplaced(gone)
            $0.forgetTrashed(files)
        }
        try folder.memory.checkCancellation()
        return (plan, problems + [problem].compactMap(\.self))
    }

    /// Determines which backups that were deleted before a moment may be removed permanently; see `empty`.
    ///
    /// - Throws: `RemoteError`.
    package func plan(
        before date: Date,
        now: Date,
        leaving reasonToLeave: (Backup) -> String? = { _ in nil }
    ) async throws -> TrashPlan {
        var plan = TrashPlan()
        let entries = try await self.entries()
        let deeds = folder.memory.catalog.deeds(in: folder.address)
        guard entries.contains(where: { $0.deleted < date }) else { return plan }
        let trashed = entries.map { (entry: $0, backup: backup($0)) }
        let namesakes = Dictionary(grouping: trashed, by: \.entry.name.exact)
        let listed = try await folder.list().backups
        let others = try await listed + Dependence.outsiders(in: folder, beside: listed, true)
        let needs = Dependence(of: trashed.map(\.backup), by: others, listed: listed)
        let there = Dictionary(listed.map { ($0.name.exact, $0) }) { first, _ in first }
        // The same backup may exist in the folder, or may have been deleted twice.
        var gone: Set<ExactString> = []
        // These are keyed by the names of the files in the trash.
        var (going, kept): (Set<ExactString>, Set<ExactString>) = ([], [])
        let hasIncrements = others.contains(where: \.isIncrement)
        let moments = listed.compactMap(\.time) + entries.map(\.deleted)
        let limit = TrashPlan.limit(date, now: now, moments)
        for backup in trashed.map(\.backup).dependantsFirst {
            try folder.memory.checkCancellation()
            let same = namesakes[backup.name.exact] ?? []
            let needing = needs.newestDependant(of: backup) { !gone.contains($0.name.exact) }
            for (entry, backup) in same
            where entry.deleted < date && !going.contains(entry.file.name.exact) {
                // The lineage of a remote archive may be unknown.
                let isBase = backup.isInLineage || hasIncrements && entry.file.location == nil
                let latest = isBase ? now - Double(Backup.leastTrash.components.seconds) : now
                let reason =
                    deeds.reason(toLeave: entry, reasonToLeave(backup), of: backup, folder.origin)
                    ?? (deeds.hasTwin(of: entry, backup, among: there)
                        ? nil
                        : TrashPlan.reason(toKeep: entry, neededBy: needing, limit, latest))
                if reason == nil, going.insert(entry.file.name.exact).inserted {
                    plan.remove.append(entry)
                }
                // Backups of the same name are visited several times.
                if let reason, kept.insert(entry.file.name.exact).inserted {
                    plan.keep.append(TrashPlan.Kept(backup: entry, reason: reason))
                }
            }
            let areAll = same.allSatisfy { going.contains($0.entry.file.name.exact) }
            if areAll, there[backup.name.exact] == nil { gone.insert(backup.name.exact) }
        }
        return plan
    }
}
