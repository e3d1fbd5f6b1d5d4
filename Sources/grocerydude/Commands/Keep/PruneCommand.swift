internal import ArgumentParser
internal import Operations
internal import Remotes

struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove the backups that no policy keeps.",
        discussion: """
            The options mean what they mean for 'restic forget'. What was pinned, tagged to be kept, made \
            or named by somebody else, is from the future, or is known to be damaged is kept, and so is \
            the newest. Removed backups can come back \
            with 'grocerydude undelete' for some days. Nothing is removed while the newest backup has much \
            less than the ones before it.

            EXAMPLE
              grocerydude prune --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --dry-run

            \(ExitStatus.help)
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var retention: RetentionOptions
    @OptionGroup var trash: TrashOptions
    @OptionGroup var metrics: MetricsOptions
    @OptionGroup var output: OutputOptions

    @Flag(name: [.customShort("n"), .long], help: "Say what would happen, and do nothing.")
    var dryRun = false

    func run() async throws {
        try await Session.run(
            output,
            stores,
            remote,
            // A rehearsal is nothing that others want to know of.
            as: dryRun ? nil : .prune,
            flags: retention.flags + trash.flags + metrics.flags,
            needsWholeStores: false
        ) { session in
            try await session.prune(retention, in: session.remote(), isDryRun: dryRun)
        }
    }
}

extension Session {
    /// Prunes, and says what was kept and removed, and why.
    func prune(
        _ retention: RetentionOptions,
        in remote: any RemoteFolder,
        isDryRun: Bool
    ) async throws -> ExitStatus {
        var options = PruneBackups.Options(
            policy: retention.policy(self),
            now: now,
            timeZone: timeZone
        )
        options.keepsTrash = profile.keepTrash
        options.mayRemoveAll = retention.unsafeAllowRemoveAll
        options.log = log
        let prune = PruneBackups(in: remote, catalog: catalog, options: options, context: context)
        var plan: PruneBackups.Plan
        var problems: [Problem] = []
        if isDryRun {
            plan = try await prune.plan()
        } else {
            let outcome = try await prune.run()
            plan = outcome.plan
            problems = outcome.problems
            // What was to be removed and is still there is among the problems.
            let removed = Set(outcome.removed.map(\.name))
            plan.remove.removeAll { !removed.contains($0.backup.name) }
        }
        facts.tell(problems)
        console.finish()
        if output.json {
            try console.answer(json: PruneAnswer(plan, problems, isDryRun: isDryRun, self))
        } else {
            let tell = isDryRun ? console.answer : console.done
            for item in plan.keep { tell(line("keep", item)) }
            for item in plan.remove { tell(line(isDryRun ? "would remove" : "remove", item)) }
            console.message(
                "\(counted(plan.keep.count, "backup", "backups")) kept, \(plan.remove.count) \(isDryRun ? "would be " : "")removed"
            )
        }
        if let refusal = plan.refusal {
            let problem = "nothing is removed: \(refusal)"
            facts.tell(problem: problem)
            context.report(.warning(problem))
            return .partial
        }
        return problems.isEmpty ? .done : .partial
    }

    private func line(_ verb: String, _ item: PruneBackups.Plan.Item) -> String {
        "\(verb)  \(item.backup.displayName)  \(item.reasons.joined(separator: ", "))"
    }
}

/// What was kept and removed, in JSON.
struct PruneAnswer: Encodable {
    struct Item: Encodable {
        var name: String
        var time: String?
        var reasons: [String]
    }

    var messageType = "prune"
    var profile: String?
    var dryRun: Bool
    var keep: [Item]
    var remove: [Item]
    /// Why nothing was removed.
    var refusal: String?
    var problems: [Problem]

    init(
        _ plan: PruneBackups.Plan,
        _ problems: [Problem],
        isDryRun: Bool,
        _ session: Session
    ) {
        func item(_ item: PruneBackups.Plan.Item) -> Item {
            Item(
                name: item.backup.name,
                time: item.backup.time.map { RFC3339.text($0, in: session.timeZone) },
                reasons: item.reasons
            )
        }
        profile = session.profile.name
        dryRun = isDryRun
        keep = plan.keep.map(item)
        remove = plan.remove.map(item)
        refusal = plan.refusal
        self.problems = problems
    }
}
