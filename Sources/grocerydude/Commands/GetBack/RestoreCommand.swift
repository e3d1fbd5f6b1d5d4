internal import Backups
public import ArgumentParser
internal import Operations
public import Stores
internal import SystemPackage

extension CheckLevel: ExpressibleByArgument {}

struct RestoreCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "restore",
        "Put a backup in the place of the stores directory.",
        discussion: """
            The backup is verified, unpacked beside the stores directory and checked; only then do the \
            two change places, in one step. If a store does not open there, the old data comes back. The \
            data that is replaced is backed up first.

            A backup is named by its file name, its display name, any unique part of it, or 'latest'. On a \
            terminal it may be left out: then it is chosen from a list.
            """,
        example: "grocerydude restore latest",
        "grocerydude restore latest --target /tmp/look --quiet"
    )

    @Argument(help: "The backup's name, or 'latest'; on a terminal, asked for if it is left out.")
    var name: String?

    @OptionGroup var folder: FolderOptions
    @OptionGroup(title: "Limits for archives of other programs") var limits: LimitOptions

    @Option(
        help: ArgumentHelp(
            "Unpack into a new directory and check there, and touch nothing else.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var target: String?

    @Option(
        help:
            "How stores are checked: \(CheckLevel.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var check: CheckLevel?

    @OptionGroup var strictness: StrictOptions

    @Flag(help: "Restore damaged stores too.")
    var allowDamaged = false

    @Flag(help: "Go on even if an application has a store open.")
    var force = false

    @Flag(help: "Do not back up the data that is replaced.")
    var noSafetyBackup = false

    @Option(
        help: ArgumentHelp(
            "Wait this long for an archive that is still being copied: 10m.",
            valueName: "time"
        )
    )
    var wait: WaitTime?

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    /// A dry run, and a restore into another directory, are not logged.
    var logged: Run.Command? { dryRun || target != nil ? nil : .restore }
    var recovery: Recovery { .required }
    var ownFlags: [FlagValue?] {
        [
            FlagValue("--check", "restore.check", check?.rawValue),
            FlagValue(
                "--no-safety-backup",
                "restore.safety_backup",
                noSafetyBackup ? "false" : nil
            ),
        ]
    }

    func validate(_ profile: Profile) throws {
        try strictness.require(profile.restore.level == .full, add: "--check full")
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let restore = RestoreBackup(
            from: folder,
            options: options(invocation),
            context: invocation.context
        )
        guard var backup = try await invocation.backup(named: name, in: folder) else {
            return .declined
        }
        backup = try await WaitForBackup(in: folder, context: invocation.context)
            .run(backup, atMost: wait?.duration ?? .zero)
        warn(of: backup, invocation)
        let question =
            "Restore from '\(backup.displayName)'? It replaces the data in '\(invocation.stores.string)'."
        guard try invocation.confirm(question, yes: yes || target != nil || dryRun) else {
            return .declined
        }
        let outcome =
            if let target {
                try await restore.extract(backup, to: FilePath(target))
            } else {
                try await restore.run(backup, to: invocation.stores)
            }
        try invocation.console.answer(RestoreAnswer(outcome, isDryRun: dryRun, invocation))
        let result = CommandResult(
            of: outcome.backup,
            bytes: outcome.bytes,
            problems: outcome.problems
        )
        return outcome.isApplicationStarted
            ? result : result.with(.partial, "the application was not started")
    }

    /// Warns if the user may have meant another backup.
    private func warn(of backup: Backup, _ invocation: Invocation) {
        if let warning = backup.futureWarning(at: invocation.now) {
            invocation.context.report(.warning(warning))
        }
        if backup.isAnomalous {
            invocation.context.report(
                .warning(
                    "'\(backup.displayName)' has much less in it than the backup before it: 'grocerydude list' shows the others"
                )
            )
        }
    }

    private func options(_ invocation: Invocation) -> RestoreBackup.Options {
        var options = RestoreBackup.Options(
            backup: CreateBackup.Options(date: invocation.now, tool: invocation.tool)
        )
        options.check = invocation.profile.restore.level
        options.isStrict = strictness.strict
        options.allowsDamage = allowDamaged
        options.force = force
        options.makesSafetyBackup = invocation.profile.restore.makesSafetyBackup
        options.isDryRun = dryRun
        options.limits = limits.limits
        options.application = invocation.applicationCommands
        return options
    }
}
