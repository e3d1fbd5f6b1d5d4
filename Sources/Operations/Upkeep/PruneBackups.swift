public import Backups
internal import Files
public import Foundation
internal import History
internal import Remotes

/// Removes the backups that a retention policy does not keep.
///
/// Only backups that this program made and named are looked at. A backup that has another name or no known
/// manifest, is from the future or known to be damaged is kept, and is not counted. Safety backups have a
/// rule of their own, and no other counts them.
public struct PruneBackups: Sendable {
    /// The choices that a prune leaves.
    public struct Options: Sendable {
        public var policy: RetentionPolicy
        public var now: Date
        /// For how long a removed backup can come back; `.zero` for not at all.
        public var keepsTrash: Duration = .seconds(7 * 86_400)
        /// How long a safety backup is kept.
        public var keepsSafety: Duration = .seconds(7 * 86_400)
        /// Whether the trash is emptied though no policy says what to keep; then nothing else is removed.
        public var mayEmptyTrashAlone = false
        /// Whether the policy may remove all backups, the newest too.
        public var mayRemoveAll = false

        public init(policy: RetentionPolicy, now: Date) {
            self.policy = policy
            self.now = now
        }
    }

    /// The backups to keep, and those to remove.
    public struct Plan: Sendable {
        /// A backup and why it is kept or removed.
        public struct Item: Sendable, Equatable {
            public var backup: Backup
            public var reasons: [String]
        }

        /// Newest first.
        public var keep: [Item] = []
        public var remove: [Item] = []
        /// Why nothing is removed although the policy would; `nil` if nothing is in its way.
        public var refusal: String?
        /// Whether no policy was asked: only the trash is emptied.
        public var isOfTrashAlone = false
    }

    /// The result of a prune.
    public struct Outcome: Sendable {
        public var plan: Plan
        public var removed: [Backup] = []
        /// What became of the deleted backups that had been in the trash for long enough.
        public var trash = TrashPlan()
        /// The backups that could not be removed, and why.
        public var problems: [Problem] = []
    }

    /// Longer than any backup is built on a whole one.
    private static let liveLineage = IncrementOptions.mostFullEvery + .seconds(5 * 86_400)

    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext

    public init(in folder: BackupFolder, options: Options, context: OperationContext) {
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Finds out what the policy keeps; `run()` plans anew, since others may go on meanwhile.
    ///
    /// - Returns: the plan.
    /// - Throws: `OperationError.keepsNothing` if it says nothing, or would keep nothing;
    ///   `.badAnnotations` if pins are not known; `HistoryError` if damage is not; `RemoteError`.
    public func plan() async throws -> Plan {
        guard !options.policy.isEmpty || options.mayRemoveAll else {
            if options.mayEmptyTrashAlone {
                var plan = Plan()
                plan.isOfTrashAlone = true
                return plan
            }
            throw OperationError.keepsNothing("no policy says what to keep")
        }
        let list = try await folder.list()
        if let error = list.annotationsError ?? list.logError { throw error }
        var plan = plan(for: list.backups)
        plan.keepNeeded(try await folder.dependence(among: list.backups, goneForGood: isForGood))
        if !plan.remove.isEmpty, let (refusal, reason) = refusal(for: list.backups) {
            plan.refusal = refusal
            plan.keep += plan.remove.map { Plan.Item(backup: $0.backup, reasons: [reason]) }
            plan.keep.sort { ($0.backup.time ?? .distantPast) > ($1.backup.time ?? .distantPast) }
            plan.remove = []
        }
        return plan
    }

    /// Finds out which deleted backups would go for good.
    ///
    /// - Returns: those that have been in the trash for long enough.
    /// - Throws: `RemoteError`.
    public func trashPlan() async throws -> TrashPlan {
        try await folder.trashPlan(before: trashLimit, now: options.now)
    }

    private var trashLimit: Date {
        options.now - Double(options.keepsTrash.components.seconds)
    }

    /// Whether a removed backup cannot come back.
    private var isForGood: Bool { options.keepsTrash <= .zero }

    private func plan(for backups: [Backup]) -> Plan {
        var plan = Plan()
        let known = backups.filter { reasonToLeave($0) == nil }
        let candidates = known.ordinary
        let reasons = options.policy.reasons(
            for: candidates.compactMap { $0.moment(in: folder.timeZone) },
            now: options.now,
            timeZone: folder.timeZone
        )
        let named = zip(candidates.map(\.name), reasons)
        let reasonsByName = Dictionary(named, uniquingKeysWith: { first, _ in first })
        // The only ones that there are may all be safety backups.
        var newest: [String: String] = [:]
        if !options.mayRemoveAll {
            newest = reasonsOfNewest(candidates.isEmpty ? known : candidates)
                .merging(reasonsOfLineages(candidates)) { first, _ in first }
        }
        for backup in backups {
            var why = reasonsByName[backup.name] ?? []
            if let reason = reasonToLeave(backup) { why.append(reason) }
            if backup.isPinned { why.append("pinned") }
            if backup.isSafety, isYoung(backup) { why.append("made by a restore lately") }
            if why.isEmpty, let reason = newest[backup.name] { why = [reason] }
            if why.isEmpty {
                let reason = backup.isSafety ? "made by a restore long ago" : "no policy keeps it"
                plan.remove.append(Plan.Item(backup: backup, reasons: [reason]))
            } else {
                plan.keep.append(Plan.Item(backup: backup, reasons: why))
            }
        }
        return plan
    }

    /// Returns the backups that are kept since they are the newest, by name, with the reason.
    private func reasonsOfNewest(_ candidates: [Backup]) -> [String: String] {
        // Clocks differ a little: a backup that another machine has just made stays all the same.
        // Times are rounded to milliseconds.
        let real = candidates.filter { $0.time ?? .distantFuture < options.now + 0.001 }
        let whole = real.first { !$0.isPartial } ?? candidates.first { !$0.isPartial }
        var reasons: [String: String] = [:]
        if let whole { reasons[whole.name] = "newest complete" }
        for newest in [candidates.first, real.first].compactMap(\.self) {
            reasons[newest.name] = "newest"
        }
        return reasons
    }

    /// Returns the newest backup of each lineage, by name, with the reason for which it is kept: another machine
    /// may be building on it, or on what it needs.
    private func reasonsOfLineages(_ candidates: [Backup]) -> [String: String] {
        var seen: Set<String> = []
        var reasons: [String: String] = [:]
        for backup in candidates.withoutReplaced {
            guard let lineage = backup.lineage, seen.insert(lineage).inserted else { continue }
            // Nobody builds on an old one any more.
            guard let age = backup.age(at: options.now), age <= Self.liveLineage else { continue }
            reasons[backup.name] = "newest of its lineage"
        }
        return reasons
    }

    private func isYoung(_ backup: Backup) -> Bool {
        let age = Double(options.keepsSafety.components.seconds)
        return backup.time.map { options.now.timeIntervalSince($0) < age } ?? true
    }

    /// Returns why no policy is asked about a backup; `nil` if one is.
    private func reasonToLeave(_ backup: Backup) -> String? {
        if backup.isUnreadable { return "it cannot be read" }
        if let damage = backup.damage { return "damaged: \(damage)" }
        if BackupName.date(of: backup.name, in: folder.timeZone) == nil {
            return "not named by grocerydude"
        }
        if backup.isForeign { return "not made by grocerydude" }
        if backup.isFromFuture(at: options.now) { return "from the future" }
        // An archive elsewhere that this machine has neither made nor read.
        return backup.timeSource == .manifest ? nil : "not known to be made by grocerydude"
    }

    /// Returns why nothing may be removed, and that in short; `nil` if it may.
    ///
    /// While the newest backup has much less than before, the data may be in older ones alone.
    private func refusal(for backups: [Backup]) -> (String, String)? {
        let real = backups.ordinary.notFromFuture(options.now)
        let unknown = real.first {
            $0.damage == nil && !$0.isForeign
                && BackupName.date(of: $0.name, in: folder.timeZone) != nil
        }
        if let unknown, unknown.timeSource != .manifest {
            return (
                "whether '\(unknown.displayName)' has much less than the backups before it is not known here: check that backup first",
                "it is not known what the newest backup has"
            )
        }
        guard real.isGuarded, let newest = real.newestKnown else { return nil }
        return (
            "'\(newest.displayName)' has much less than the backups before it",
            "the newest backup has much less"
        )
    }

    /// Plans and removes, while the folder is locked: nobody on this machine takes away what the plan keeps.
    ///
    /// - Returns: what was done; the failure of one backup is a problem in it.
    /// - Throws: `FileError.locked`, `CancellationError`; see `plan()`.
    public func run() async throws -> Outcome {
        try await context.withLock(folder) {
            try await noteDamage()
            var outcome = Outcome(plan: try await plan())
            try await carryOut(&outcome)
            do {
                let problems: [Problem]
                (outcome.trash, problems) = try await folder.emptyTrash(
                    before: trashLimit,
                    now: options.now
                )
                outcome.problems += problems
            } catch {
                outcome.problems.append(notRemoved(BackupFolder.trashName, explain(error)))
            }
            context.tell(outcome.problems)
            return outcome
        }
    }

    /// Writes beside the archives the damage that only the log knows of, before it may be lost.
    private func noteDamage() async throws {
        for backup in try await folder.list().backups where backup.notedDamage == nil {
            if let check = backup.checks.damaged { try await folder.note(check, of: backup) }
        }
    }

    /// Carries the plan out, as long as one of the backups is left that it keeps.
    private func carryOut(_ outcome: inout Outcome) async throws {
        let kept = outcome.plan.keep.map(\.backup).filter { reasonToLeave($0) == nil }
        for backup in outcome.plan.remove.map(\.backup).dependantsFirst {
            try context.checkCancellation()
            do {
                guard try await isAnyLeft(of: kept) else {
                    let reason = "what was to be kept is gone meanwhile"
                    outcome.problems.append(notRemoved(backup.name, reason))
                    break
                }
                let problem = try await folder.remove(
                    backup,
                    at: options.now,
                    keepingTrash: backup.trashTime(options.keepsTrash)
                )
                outcome.removed.append(backup)
                outcome.problems += problem.map { [$0] } ?? []
            } catch {
                outcome.problems.append(notRemoved(backup.name, explain(error)))
            }
        }
        let gone = outcome.removed.filter { $0.trashTime(options.keepsTrash) <= .zero }
        guard !gone.isEmpty else { return }
        do {
            try await folder.forget(Set(gone.map(\.name)))
        } catch {
            outcome.problems.append(notRemoved(Annotations.subfolder, explain(error)))
        }
    }

    private func notRemoved(_ path: String, _ reason: String) -> Problem {
        Problem(kind: .notRemoved, path: path, reason: reason)
    }

    /// Whether one of the backups is still there: our lock does not keep other machines from deleting them.
    private func isAnyLeft(of backups: [Backup]) async throws -> Bool {
        if options.mayRemoveAll { return true }
        for backup in backups where try await folder.isThere(backup) { return true }
        return false
    }
}

extension PruneBackups.Plan {
    /// Keeps what others need that are kept.
    fileprivate mutating func keepNeeded(_ dependence: Dependence) {
        var kept = Set(keep.map(\.backup.name))
        // Those that need others come first: each that is kept for one may need some itself.
        for backup in remove.map(\.backup).dependantsFirst {
            let removed = Set(remove.map(\.backup.name))
            let needing = dependence.dependants(of: backup).first {
                kept.contains($0.name) || !removed.contains($0.name)
            }
            guard let needing else { continue }
            remove.removeAll { $0.backup.name == backup.name }
            keep.append(Item(backup: backup, reasons: ["needed by '\(needing.displayName)'"]))
            kept.insert(backup.name)
        }
        let time = BackupOrder(of: keep.map(\.backup))
        keep.sort { time.isNewer($0.backup, $1.backup) }
    }
}

extension Backup {
    /// The facts that a policy looks at.
    fileprivate func moment(in timeZone: TimeZone) -> RetentionPolicy.Moment? {
        time.map {
            let offset = offset ?? timeZone.secondsFromGMT(for: $0)
            return RetentionPolicy.Moment(date: $0, offset: offset, tags: Set(tags))
        }
    }
}
