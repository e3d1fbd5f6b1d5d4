internal import ArgumentParser
internal import Backups
internal import Operations

struct PruneCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "prune",
        "Remove the backups that no policy keeps.",
        discussion: """
            The options mean the same as those of 'restic forget'. A backup is kept, too, if it is pinned, has a \
            kept tag, or is the newest. So is one that another program made or named, that is from the future, \
            or that is known to be damaged. Removed backups can come back with 'grocerydude undelete' for some days. \
            Nothing is removed while the newest backup has much less than the ones before it.

            The policy counts the backups of each machine and stores directory separately, and that of a profile \
            counts those of its own stores directory only. Backups that no known \
            machine signed stay; see 'grocerydude trust'.

            Without a policy, '--set retention.keep_trash=TIME' empties the trash and removes nothing else.
            """,
        example: "grocerydude prune --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --dry-run"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions
    @OptionGroup var retention: RetentionOptions

    @Flag(help: "Count the backups of all machines and stores directories together.")
    var allOrigins = false

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    /// Dry runs are not logged.
    var logged: Run.Command? { dryRun ? nil : .prune }
    var ownFlags: [FlagValue?] { retention.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let prune = try retention.prune(
            invocation,
            scope(invocation),
            orTrashAlone: stores.settings.contains { $0.key == "retention.keep_trash" }
        )
        if dryRun {
            let plan = try await prune.plan()
            return try invocation.answer(plan, nil, emptying: try await prune.trashPlan())
        }
        let outcome = try await prune.run()
        return try invocation.answer(outcome.plan, outcome, emptying: outcome.trash)
    }
}

extension PruneCommand {
    /// Returns the backups that count: a profile's policy is for its own stores directory.
    private func scope(_ invocation: Invocation) -> PruneBackups.Scope {
        if allOrigins { return .allOrigins }
        return invocation.profile.name == nil ? .eachOrigin : .ownOrigin
    }
}

extension Invocation {
    /// Prints the backups that were kept and removed, and returns the result with all problems.
    ///
    /// `outcome` is `nil` in a dry run.
    func answer(
        _ plan: PruneBackups.Plan,
        _ outcome: PruneBackups.Outcome?,
        emptying trash: TrashPlan,
        after result: CommandResult = CommandResult(.done)
    ) throws -> CommandResult {
        try console.answer(
            PruneAnswer(plan: plan, outcome: outcome, trash: trash, invocation: self)
        )
        if let refusal = plan.refusal {
            return failure("nothing is removed: \(refusal)", .partial, after: result)
        }
        guard let problems = outcome?.problems, !problems.isEmpty else { return result }
        let partial = CommandResult(problems: problems)
        return result.with(partial.status, partial.message)
    }

    /// Warns that a command completed only a part of its work, and returns the result with the reason.
    func failure(
        _ reason: String,
        _ status: ExitStatus,
        after result: CommandResult
    ) -> CommandResult {
        context.warn(reason)
        return result.with(status, reason)
    }
}
