public import Backups
internal import Files
public import Foundation
internal import History
internal import Remotes

/// Removes the backups that a retention policy does not keep.
///
/// It considers only backups that this program made and named. It always keeps, and does not count, backups with
/// another name, without a known manifest, from the future or known to be damaged. Safety backups have their own
/// rule, and no other rule counts them.
public struct PruneBackups: Sendable {
    /// The groups in which a policy counts backups; backups without a trusted signature are in none.
    public enum Scope: Sendable {
        /// Only the backups of this machine's origin; others stay.
        case ownOrigin
        /// The backups of each origin separately.
        case eachOrigin
        /// All backups together.
        case allOrigins
    }

    /// The options of a prune.
    public struct Options: Sendable {
        public var policy: RetentionPolicy
        public var now: Date
        /// The time for which a removed backup can be brought back; `.zero` for none.
        public var keepsTrash: Duration = .seconds(7 * 86_400)
        /// The time for which a safety backup is kept.
        public var keepsSafety: Duration = .seconds(7 * 86_400)
        /// Whether the trash is emptied even without a policy; then nothing else is removed.
        public var mayEmptyTrashAlone = false
        /// The scope of the policy.
        public var scope = Scope.eachOrigin
        /// Whether the policy may remove all backups, even the newest.
        public var mayRemoveAll = false

        public init(policy: RetentionPolicy, now: Date) {
            self.policy = policy
            self.now = now
        }
    }

    /// The backups to keep, and those to remove.
    public struct Plan: Sendable {
        /// A backup, and the reasons to keep or remove it.
        public struct Item: Sendable, Equatable {
            public var backup: Backup
            public var reasons: [String]
        }

        /// The backups to keep, the newest first.
        public var keep: [Item] = []
        public var remove: [Item] = []
        /// The reason why nothing is removed although the policy says so; `nil` if there is none.
        public var refusal: String?
        /// Whether there is no policy, so that only the trash is emptied.
        public var isOfTrashAlone = false
        /// Whether the policy keeps no backup, so that only what is always kept would stay.
        var isOfNoRule = false
    }

    /// The result of a prune.
    public struct Outcome: Sendable {
        public var plan: Plan
        public var removed: [Backup] = []
        /// The result for the deleted backups that were in the trash for long enough.
        public var trash = TrashPlan()
        /// The backups that could not be removed, with the reasons.
        public var problems: [Problem] = []
    }

    /// A time longer than that for which backups are built on a full one.
    private static let liveLineage = IncrementOptions.mostFullEvery + .seconds(5 * 86_400)

    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext

    public init(in folder: BackupFolder, options: Options, context: OperationContext) {
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Determines the backups that the policy keeps; `run()` plans again, because other runs may change the folder
    /// meanwhile.
    ///
    /// - Returns: the plan.
    /// - Throws: `OperationError.keepsNothing` if the policy is empty, or would keep nothing; `.badAnnotations` if pins
    ///   are unknown; `HistoryError` if damage is unknown; `RemoteError`; what reading the trusted keys throws.
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
        if let error = list.annotationsError ?? list.logError ?? list.signersError { throw error }
        if let warning = await folder.losses.warning(beside: list.backups) { context.warn(warning) }
        var plan = Plan()
        for group in groups(of: list.backups) {
            var part = try self.plan(for: group)
            if !part.remove.isEmpty,
                let (refusal, reason) = part.isOfNoRule
                    ? Self.ofNoRule : refusal(for: group, among: list.backups)
            {
                plan.refusal = plan.refusal ?? refusal
                part.keep += part.remove.map { Plan.Item(backup: $0.backup, reasons: [reason]) }
                part.remove = []
            }
            plan.keep += part.keep
            plan.remove += part.remove
        }
        try plan.keepNeeded(
            await Dependence(in: folder, among: list.backups, goneForGood: isForGood),
            context.checkCancellation
        )
        return plan
    }

    /// Determines the deleted backups that would be removed for good.
    ///
    /// - Returns: the backups that were in the trash for long enough.
    /// - Throws: `RemoteError`.
    public func trashPlan() async throws -> TrashPlan {
        try await folder.trash.plan(
            before: trashLimit,
            now: options.now,
            leaving: reasonToLeaveInTrash
        )
    }

    /// Returns the reason why a deleted backup stays in the trash however old it is; `nil` if there is none.
    ///
    /// Its own machine may keep deleted backups for longer. Without a policy, the user means all.
    private func reasonToLeaveInTrash(_ backup: Backup) -> String? {
        if options.policy.isEmpty, !options.mayRemoveAll { return nil }
        if let distrust = backup.distrust { return distrust.description }
        guard options.scope == .ownOrigin, folder.origin?.isOther(than: backup) ?? false else {
            return nil
        }
        return Self.ofAnother
    }

    /// The reason why nothing is removed if no rule keeps any backup, in full and in short.
    private static let ofNoRule = (
        "no rule keeps any backup: is a tag misspelt? to remove all the same, use '--unsafe-allow-remove-all'",
        "no rule keeps any"
    )
    private static let ofAnother = "of another machine or another stores directory"

    private var trashLimit: Date {
        options.now - Double(options.keepsTrash.components.seconds)
    }

    /// Whether a removed backup cannot be brought back.
    private var isForGood: Bool { options.keepsTrash <= .zero }

    /// Returns the backups grouped by origin within the scope, and one group of all others, which always stay.
    private func groups(of backups: [Backup]) -> [[Backup]] {
        Dictionary(grouping: backups) { backup -> String? in
            guard reasonToLeave(backup) == nil else { return nil }
            return switch options.scope {
            case .allOrigins: ""
            case .ownOrigin, .eachOrigin: isOwn(backup) ? "" : "of \(backup.origin ?? "")"
            }
        }.sorted { ($0.key ?? "") < ($1.key ?? "") }.map(\.value)
    }

    private func isOwn(_ backup: Backup) -> Bool { folder.origin?.has(backup) ?? false }

    private func plan(for backups: [Backup]) throws -> Plan {
        var plan = Plan()
        let known = backups.filter { reasonToLeave($0) == nil }
        let copies = Self.copies(among: known.ordinary)
        let candidates = known.ordinary.filter { copies[$0.name.exact] == nil }
        let reasons = options.policy.reasons(
            for: candidates.compactMap { $0.moment(in: folder.timeZone) },
            now: options.now,
            timeZone: folder.timeZone
        )
        plan.isOfNoRule = !options.mayRemoveAll && !reasons.isEmpty && reasons.allSatisfy(\.isEmpty)
        let named = zip(candidates.map(\.name.exact), reasons)
        let reasonsByName = Dictionary(named, uniquingKeysWith: { first, _ in first })
        // If there are only safety backups, keep the newest of them.
        var newest: [ExactString: String] = [:]
        if !options.mayRemoveAll {
            newest = reasonsOfNewest(candidates.isEmpty ? known : candidates)
                .merging(reasonsOfLineages(candidates)) { first, _ in first }
        }
        for backup in backups {
            try context.checkCancellation()
            var why = reasonsByName[backup.name.exact] ?? []
            if let reason = reasonToLeave(backup) { why.append(reason) }
            if backup.isPinned { why.append("pinned") }
            if backup.isSafety, isYoung(backup) { why.append("made by a restore lately") }
            if why.isEmpty, let reason = newest[backup.name.exact] { why = [reason] }
            if let first = copies[backup.name.exact], why.isEmpty,
                reasonsByName[first.name.exact]?.isEmpty == false || newest[first.name.exact] != nil
            {
                why = ["the same as '\(first.displayName)'"]
            }
            if why.isEmpty {
                let reason = backup.isSafety ? "made by a restore long ago" : "no policy keeps it"
                plan.remove.append(Plan.Item(backup: backup, reasons: [reason]))
            } else {
                plan.keep.append(Plan.Item(backup: backup, reasons: why))
            }
        }
        return plan
    }

    /// Returns the further files of a backup, by name, with the first.
    ///
    /// A killed run or a program that synchronises the folder may leave two; a policy counts one.
    private static func copies(among backups: [Backup]) -> [ExactString: Backup] {
        var firsts: [BackupID: Backup] = [:]
        var copies: [ExactString: Backup] = [:]
        for backup in backups {
            if let first = firsts[backup.key] {
                copies[backup.name.exact] = first
            } else {
                firsts[backup.key] = backup
            }
        }
        return copies
    }

    /// Returns the backups that are kept because they are the newest, by name, with the reason.
    private func reasonsOfNewest(_ candidates: [Backup]) -> [ExactString: String] {
        // Clocks differ a little: keep a backup that another machine has just made.
        // Times are rounded to milliseconds.
        let real = candidates.filter { $0.time ?? .distantFuture < options.now + 0.001 }
        let whole = real.first { !$0.isPartial } ?? candidates.first { !$0.isPartial }
        var reasons: [ExactString: String] = [:]
        if let whole { reasons[whole.name.exact] = "newest complete" }
        for newest in [candidates.first, real.first].compactMap(\.self) {
            reasons[newest.name.exact] = "newest"
        }
        return reasons
    }

    /// Returns the newest backup of each lineage, by name, with the reason to keep it: another machine may be building
    /// on it, or on its base backups.
    private func reasonsOfLineages(_ candidates: [Backup]) -> [ExactString: String] {
        var seen: Set<String> = []
        var reasons: [ExactString: String] = [:]
        for backup in candidates.withoutReplaced {
            guard let lineage = backup.lineage, seen.insert(lineage).inserted else { continue }
            // Nothing is built on such an old backup any more.
            guard let age = backup.age(at: options.now), age <= Self.liveLineage else { continue }
            reasons[backup.name.exact] = "newest of its lineage"
        }
        return reasons
    }

    private func isYoung(_ backup: Backup) -> Bool {
        let age = Double(options.keepsSafety.components.seconds)
        return backup.time.map { options.now.timeIntervalSince($0) < age } ?? true
    }

    /// Returns the reason why the policy does not apply to a backup; `nil` if it applies.
    private func reasonToLeave(_ backup: Backup) -> String? {
        if let distrust = backup.distrust, !backup.isUnreadable { return distrust.description }
        if backup.isUnreadable { return "it cannot be read" }
        if let damage = backup.damage { return "damaged: \(damage)" }
        if BackupName.date(of: backup.name, in: folder.timeZone) == nil {
            return "not named by grocerydude"
        }
        if backup.isForeign { return "not made by grocerydude" }
        if backup.isFromFuture(at: options.now) { return "from the future" }
        // The archive is elsewhere, and this machine has neither made nor read it.
        if backup.timeSource != .manifest { return "not known to be made by grocerydude" }
        if folder.origin != nil, backup.origin?.isEmpty ?? true { return "of an unknown origin" }
        guard options.scope == .ownOrigin, folder.origin?.isOther(than: backup) ?? false else {
            return nil
        }
        return Self.ofAnother
    }

    /// Returns the reason why nothing may be removed, in full and in short; `nil` if there is none.
    ///
    /// While the newest backup has much less data than before, only older ones may have the lost data.
    private func refusal(for group: [Backup], among all: [Backup]) -> (String, String)? {
        // A backup that is unknown here may be the newest of any group.
        let names = Set(group.map(\.name.exact))
        let backups = all.filter {
            names.contains($0.name.exact) || $0.distrust == nil && $0.timeSource != .manifest
        }
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

    /// Plans and removes while the folder is locked, so that no run on this machine deletes what the plan keeps.
    ///
    /// - Returns: the outcome; the failure of one backup is a problem in it.
    /// - Throws: `FileError.locked`, `CancellationError`; see `plan()`.
    public func run() async throws -> Outcome {
        try await context.withLock(folder) {
            try await noteDamage()
            var outcome = Outcome(plan: try await plan())
            let all = (outcome.plan.keep + outcome.plan.remove).map(\.backup).newestFirst
            if let last = Predecessor(in: folder, among: all) {
                outcome.problems.append(Problem(notContinuing: last))
            }
            try await carryOut(&outcome)
            do {
                let problems: [Problem]
                (outcome.trash, problems) = try await folder.trash.empty(
                    before: trashLimit,
                    now: options.now,
                    leaving: reasonToLeaveInTrash
                )
                outcome.problems += problems
            } catch {
                outcome.problems.append(notRemoved(Trash.subfolder, explain(error)))
            }
            context.reportProblems(outcome.problems)
            return outcome
        }
    }

    /// Writes damage that only the log records beside the archives, before the log may be lost.
    private func noteDamage() async throws {
        let backups = try await folder.list().backups.filter { $0.noted == nil }
        try await folder.notes.note(
            backups.compactMap { backup in backup.checks.damaged.map { ($0, backup) } }
        )
    }

    /// Carries the plan out, as long as at least one of the kept backups still exists.
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
            try await folder.notes.forget(Set(gone.map(\.name.exact)))
        } catch {
            outcome.problems.append(notRemoved(Annotations.subfolder, explain(error)))
        }
    }

    private func notRemoved(_ path: String, _ reason: String) -> Problem {
        Problem(kind: .notRemoved, path: path, reason: reason)
    }

    /// Whether one of the backups still exists: our lock does not keep other machines from deleting them.
    private func isAnyLeft(of backups: [Backup]) async throws -> Bool {
        if options.mayRemoveAll { return true }
        for backup in backups where try await folder.remote.has(backup.name) { return true }
        return false
    }
}

extension PruneBackups.Plan {
    /// Keeps the base backups of kept backups.
    fileprivate mutating func keepNeeded(
        _ dependence: Dependence,
        _ checkCancellation: () throws -> Void
    ) rethrows {
        var going = Set(remove.map(\.backup.name.exact))
        // Increments come first: each one that is kept may need base backups itself.
        for backup in remove.map(\.backup).dependantsFirst {
            try checkCancellation()
            let needing = dependence.newestDependant(of: backup) { !going.contains($0.name.exact) }
            guard let needing else { continue }
            going.remove(backup.name.exact)
            let isKnown = dependence.knownDependants(of: backup)
                .contains { $0.name.exact == needing.name.exact }
            let reason =
                isKnown
                ? "needed by '\(needing.displayName)'"
                : "may be needed by '\(needing.displayName)', which 'check --all' would read"
            keep.append(Item(backup: backup, reasons: [reason]))
        }
        remove.removeAll { !going.contains($0.backup.name.exact) }
        let order = BackupOrder(of: (keep + remove).map(\.backup))
        keep.sort { order.isNewer($0.backup, $1.backup) }
        remove.sort { order.isNewer($0.backup, $1.backup) }
    }
}

extension Backup {
    /// The facts that a policy uses.
    fileprivate func moment(in timeZone: LocalZone) -> RetentionPolicy.Moment? {
        time.map {
            let offset = offset ?? timeZone.offset(at: $0)
            return RetentionPolicy.Moment(date: $0, offset: offset, tags: Set(tags))
        }
    }
}
