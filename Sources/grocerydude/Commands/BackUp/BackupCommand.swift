internal import Backups
public import Archives
public import ArgumentParser
internal import Files
internal import Operations

extension Compression: ExpressibleByArgument {}

struct BackupCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "backup",
        "Save the stores directory into one dated archive.",
        discussion: """
            Applications may go on writing: all stores are cut at one moment, and not a byte of the \
            directory is changed. Prints the backup's name, except with '--quiet'.
            """,
        example: "grocerydude backup --stores ~/app/data --remote /mnt/nas/backups",
        "grocerydude backup --profile photos",
        "grocerydude backup --all-profiles --quiet",
        "grocerydude backup --dry-run",
        "grocerydude backup --incremental",
        "grocerydude backup --incremental --every 1m"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    @Option(help: "How hard to compress.")
    var compression: Compression?

    @Flag(help: "Back up every profile of the configuration, one after the other.")
    var allProfiles = false

    @Option(help: "A tag for 'prune --keep-tag'; may be repeated.".value("tag"))
    var tag: [String] = []

    @Option(help: "A note, which 'list' shows.".value("text"))
    var note: String?

    @OptionGroup(title: HelpSection.further) var sameName: SameNameOptions

    @OptionGroup var exclusions: ExclusionOptions

    @Flag(help: "Make no backup if nothing has changed since the last one.")
    var skipIfUnchanged = false

    @OptionGroup var increments: IncrementFlags
    @OptionGroup var recipients: RecipientOptions

    @Option(
        help:
            "Look for changes this often, and back up if there are any, until Ctrl-C: 1m, 30s."
            .value("time")
    )
    var every: WaitTime?

    @Flag(help: "Verify the backup, then remove the backups that no policy keeps; see 'prune'.")
    var prune = false

    @OptionGroup(title: HelpSection.further) var retention: RetentionOptions

    @Flag(help: "Have SQLite check every store in full; damage gives exit code 3.")
    var check = false

    @Flag(help: "Accept the data even if there is much less of it than in the last backup.")
    var acceptChanges = false

    @Flag(name: [.customShort("n"), .long], help: "Only show what a backup would save.")
    var dryRun = false

    /// Each backup of `--every` is logged as a separate run.
    var logged: Run.Command? { every == nil ? .backup : nil }
    var runsAllProfiles: Bool { allProfiles }
    var changesNothing: Bool { dryRun }
    var recovery: Recovery { .required }
    var ownFlags: [FlagValue?] {
        [
            FlagValue("--compression", "compression", compression?.rawValue),
            FlagValue("--check", "check_stores", check ? "true" : nil),
            FlagValue("--skip-if-unchanged", "skip_if_unchanged", skipIfUnchanged ? "true" : nil),
            FlagValue("--prune", "prune", prune ? "true" : nil),
        ] + recipients.flags + increments.flags + retention.flags
    }

    func validate() throws {
        guard !allProfiles || folder.stores.configuration.profile == nil else {
            throw ValidationError("'--all-profiles' and '--profile' exclude each other")
        }
        guard let every else { return }
        guard every.duration > .zero else { throw ValidationError("'--every' must be 1s or more") }
        for (name, isGiven) in [
            ("--all-profiles", allProfiles), ("--full", increments.full), ("--dry-run", dryRun),
        ] where isGiven {
            throw ValidationError("'--every' and '\(name)' exclude each other")
        }
    }

    func validate(_ profile: Profile) throws {
        _ = try exclusions.read(profile)
        let keys = folder.keys
        guard profile.keys.recipients.isEmpty, keys.passwordFile ?? keys.passwordCommand != nil
        else {
            return
        }
        throw UsageError(
            "a password alone does not encrypt a backup: no recipient is set",
            hint: "add '--recipient password'"
        )
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        if let suspension = invocation.suspension {
            invocation.context.note(suspension)
            return CommandResult(.skipped, message: suspension)
        }
        if !retention.unsafeAllowRemoveAll {
            try invocation.profile.requirePolicy(retention.policy(invocation))
        }
        if dryRun { return try await preview(invocation) }
        let (invocation, beginsAnew) = try await continuing(invocation)
        var command = self
        command.acceptChanges = acceptChanges || beginsAnew
        if let every { return try await command.run(every: every.duration, invocation) }
        return try await command.backUp(invocation)
    }

    /// Makes one backup.
    func backUp(_ invocation: Invocation) async throws -> CommandResult {
        let keys = invocation.profile.keys
        if keys.recipients.isEmpty, keys.hasPassword {
            invocation.context.warn(
                "the backup is not encrypted, though a password is set: set 'recipients: [password]'"
            )
        }
        let result = try await make(invocation)
        if result.isSuccess, output.quiet { KeyReminder(invocation).remind() }
        return result
    }

    private func operation(_ invocation: Invocation) throws -> CreateBackup {
        try CreateBackup(
            of: invocation.stores,
            to: invocation.folder(),
            options: options(invocation),
            context: invocation.context
        )
    }

    /// Shows the plan of a backup; the result is that of a backup, as far as it is known.
    private func preview(_ invocation: Invocation) async throws -> CommandResult {
        let mayBeNew = invocation.profile.origin(of: "remote") == .default
        let preview = try await operation(invocation).preview(folderMayBeNew: mayBeNew)
        try invocation.console.answer(BackupPreviewAnswer(preview: preview, invocation: invocation))
        if let obstacle = preview.obstacle { throw await advised(obstacle, invocation) }
        if invocation.prunes {
            invocation.console.message("then it is pruned: see 'grocerydude prune --dry-run'")
        }
        return CommandResult(problems: preview.problems)
    }

    private func make(_ invocation: Invocation) async throws -> CommandResult {
        let outcome: CreateBackup.Outcome
        do {
            outcome = try await operation(invocation).run()
        } catch {
            throw await advised(error, invocation)
        }
        if every != nil, outcome.isUnchanged, outcome.problems.isEmpty {
            // This happens whenever files are touched.
            var result = CommandResult(.done)
            result.isUneventful = true
            return result
        }
        try invocation.console.answer(BackupAnswer(outcome: outcome, invocation: invocation))
        if invocation.profile.origin(of: "remote") == .default {
            invocation.context.note(LinkState.unlinked)
        }
        let result = CommandResult(
            of: outcome.backup,
            bytes: outcome.bytes,
            problems: outcome.problems
        )
        if let reason = outcome.waitsFor {
            let nothing = invocation.prunes ? "nothing is pruned, since the backup " : "the backup "
            invocation.context.note(
                "\(nothing)waits for '\(invocation.address)': \(explain(reason))"
            )
            return result.with(result.status, "waits for upload: \(explain(reason))")
        }
        guard invocation.prunes else { return result }
        guard result.isSuccess else {
            invocation.console.message("nothing is pruned: the backup was made in part only")
            return result
        }
        do {
            return try await verifyThenPrune(outcome.backup, result, invocation)
        } catch {
            return invocation.failure(error, after: result)
        }
    }

    func options(_ invocation: Invocation) throws -> CreateBackup.Options {
        let profile = invocation.profile
        var options = CreateBackup.Options(date: invocation.now, tool: invocation.tool)
        options.compression = profile.compression
        options.checksStores = profile.checksStores
        options.acceptsChanges = acceptChanges
        options.skipsUnchanged = profile.skipsIfUnchanged
        options.exclusions = try exclusions.read(profile)
        options.followsLinks = profile.followsLinks
        options.externalFiles = profile.externalFiles
        options.queues = profile.queues
        options.increments = increments.options(invocation)
        options.streams = !profile.spools
        options.tags = profile.tags + tag.flatMap { $0.split(separator: ",").map(String.init) }
        options.note = note
        options.sameName = sameName.sameName
        options.isStrict = profile.isStrict
        options.isPlainByChoice = profile.origin(of: "recipients") != .default
        guard every != nil else { return options }
        // A waiting backup might never arrive unnoticed, and the next look comes soon.
        options.queues = false
        // A file may have been touched, or rewritten with the same content.
        options.skipsUnchanged = true
        return options
    }

    private func verifyThenPrune(
        _ backup: Backup,
        _ result: CommandResult,
        _ invocation: Invocation
    ) async throws -> CommandResult {
        var options = CheckBackups.Options()
        // The backups that it is built on were verified when they were new.
        options.leavesOutNeeds = true
        let check = try CheckBackups(
            in: invocation.folder(),
            options: options,
            context: invocation.context
        )
        let prune = try retention.prune(invocation, .ownOrigin)
        switch try await prune.run(verifying: backup, with: check, at: invocation.now) {
        case .damaged(let damage):
            return invocation.failure(
                "nothing is pruned: the new backup is damaged: \(damage)",
                .damaged,
                after: result
            )
        case .pruned(let outcome):
            return try invocation.answer(
                outcome.plan,
                outcome,
                emptying: outcome.trash,
                after: result
            )
        }
    }
}
