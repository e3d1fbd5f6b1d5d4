internal import Files
public import Foundation
public import Remotes

/// Removes the backups that a retention policy does not keep.
///
/// First a plan, which changes nothing and may be shown; then its execution. Only backups that this
/// program made and named are looked at: what has another name, no known time or cannot be read is
/// kept, and is not counted.
public struct PruneBackups: Sendable {
    /// What may be chosen.
    public struct Options: Sendable {
        public var policy: RetentionPolicy
        /// When this is.
        public var now: Date
        public var timeZone: TimeZone
        /// For how long what is removed can come back; `.zero` for not at all.
        public var keepsTrash: Duration = .seconds(7 * 86_400)
        /// Whether the policy may remove all backups, the newest too.
        public var mayRemoveAll = false

        public init(policy: RetentionPolicy, now: Date, timeZone: TimeZone) {
            self.policy = policy
            self.now = now
            self.timeZone = timeZone
        }
    }

    /// What is kept, and what is removed.
    public struct Plan: Sendable {
        /// A backup and why it is kept or removed.
        public struct Item: Sendable, Equatable {
            public var backup: Backup
            public var reasons: [String]
        }

        /// Newest first.
        public var keep: [Item] = []
        public var remove: [Item] = []
        /// Why nothing is removed although the policy would; `nil` where that is not so.
        public var refusal: String?
    }

    /// What was done.
    public struct Outcome: Sendable {
        public var plan: Plan
        public var removed: [Backup] = []
        /// What could not be removed, and why.
        public var problems: [Problem] = []
    }

    private let remote: any RemoteFolder
    private let catalog: BackupCatalog
    private let options: Options
    private let context: OperationContext

    public init(
        in remote: any RemoteFolder,
        catalog: BackupCatalog,
        options: Options,
        context: OperationContext
    ) {
        self.remote = remote
        self.catalog = catalog
        self.options = options
        self.context = context
    }

    /// Finds out what the policy keeps.
    ///
    /// - Throws: `OperationError.keepsNothing` where it says nothing, or would keep nothing;
    ///   `.badAnnotations` where pins are not known; `RemoteError`.
    public func plan() async throws -> Plan {
        guard !options.policy.isEmpty || options.mayRemoveAll else {
            throw OperationError.keepsNothing("no policy says what to keep")
        }
        let list = try await ListBackups(
            in: remote,
            catalog: catalog,
            timeZone: options.timeZone
        ).run()
        if let error = list.annotationsError { throw error }
        var plan = Plan()
        let candidates = list.backups.filter { $0.reasonToLeave(in: options.timeZone) == nil }
        let reasons = options.policy.reasons(
            for: candidates.compactMap { $0.moment(in: options.timeZone) },
            now: options.now,
            timeZone: options.timeZone
        )
        let reasonsByName = Dictionary(
            zip(candidates.map(\.name), reasons),
            uniquingKeysWith: { first, _ in first }
        )
        // Where a clock was wrong, the newest is from the future, and what was just made is not; it stays all the
        // same.
        let newest = [
            candidates.first,
            candidates.first { $0.time ?? .distantFuture <= options.now },
        ]
        for backup in list.backups {
            var why = reasonsByName[backup.name] ?? []
            if let reason = backup.reasonToLeave(in: options.timeZone) { why.append(reason) }
            if backup.isPinned { why.append("pinned") }
            if why.isEmpty, newest.contains(backup), !options.mayRemoveAll { why = ["newest"] }
            if why.isEmpty {
                plan.remove.append(Plan.Item(backup: backup, reasons: ["no policy keeps it"]))
            } else {
                plan.keep.append(Plan.Item(backup: backup, reasons: why))
            }
        }
        // While the newest backup has much less than before, the older ones may be all there is.
        if let newest = list.backups.first, list.backups.isGuarded, !plan.remove.isEmpty {
            plan.refusal = "'\(newest.displayName)' has much less than the backups before it"
            plan.keep += plan.remove.map {
                Plan.Item(backup: $0.backup, reasons: ["the newest backup has much less"])
            }
            plan.keep.sort { ($0.backup.time ?? .distantPast) > ($1.backup.time ?? .distantPast) }
            plan.remove = []
        }
        return plan
    }

    /// Removes what a plan says, each for itself.
    ///
    /// - Throws: `FileError.locked`, `OperationError.badAnnotations`, `CancellationError`;
    ///   `RemoteError` where the folder is not there. What one backup makes fail is a problem in the
    ///   outcome.
    public func run(_ plan: Plan) async throws -> Outcome {
        var outcome = Outcome(plan: plan)
        let lock = try await context.lock(remote.staging)
        defer { withExtendedLifetime(lock) {} }
        // Somebody may have pinned one since the plan was made.
        var annotations = try await Annotations(of: remote)
        let delete = DeleteBackup(
            from: remote,
            catalog: catalog,
            timeZone: options.timeZone,
            context: context
        )
        for item in plan.remove {
            try context.checkCancellation()
            let backup = item.backup
            do {
                if annotations.annotation(of: backup.file)?.isPinned ?? false {
                    throw OperationError.pinned(backup.displayName)
                }
                let problem = try await delete.remove(
                    backup.name,
                    at: options.now,
                    keepingTrash: options.keepsTrash
                )
                outcome.removed.append(backup)
                outcome.problems += problem.map { [$0] } ?? []
                if options.keepsTrash <= .zero { try await annotations.forget([backup.name]) }
            } catch {
                outcome.problems.append(
                    Problem(kind: .notRemoved, path: backup.name, reason: explain(error))
                )
            }
        }
        do {
            outcome.problems += try await delete.emptyTrash(
                at: options.now,
                keeping: options.keepsTrash,
                &annotations
            )
        } catch {
            outcome.problems.append(
                Problem(kind: .notRemoved, path: Trash.subfolder, reason: explain(error))
            )
        }
        for problem in outcome.problems { context.report(.problem(problem)) }
        return outcome
    }
}

extension Backup {
    /// Why no policy is asked about it; `nil` where one is.
    fileprivate func reasonToLeave(in timeZone: TimeZone) -> String? {
        if isDamaged { return "it cannot be read" }
        if BackupName.date(of: name, in: timeZone) == nil { return "not named by grocerydude" }
        // What has no manifest was made by another program.
        if timeSource != .manifest, file.location != nil { return "not made by grocerydude" }
        return time == nil ? "nothing tells its time" : nil
    }

    /// What a policy looks at.
    fileprivate func moment(in timeZone: TimeZone) -> RetentionPolicy.Moment? {
        time.map {
            RetentionPolicy.Moment(
                date: $0,
                offset: offset ?? timeZone.secondsFromGMT(for: $0),
                tags: Set(tags)
            )
        }
    }
}
