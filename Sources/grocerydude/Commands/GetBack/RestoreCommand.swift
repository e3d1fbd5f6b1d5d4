public import ArgumentParser
internal import Operations
public import Stores
internal import SystemPackage

extension CheckLevel: ExpressibleByArgument {}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of the stores directory.",
        discussion: """
            The backup is verified, unpacked beside the stores directory and checked; only then the \
            two change places, in one step. If a store does not open there, what was there comes \
            back. What is replaced is backed up first.

            A backup is named by its file name, its display name, any unique part of it, or 'latest'.

            EXAMPLE
              grocerydude restore latest
              grocerydude restore latest --target /tmp/look --quiet

            \(ExitStatus.help)
            """
    )

    @Argument(help: "The backup's name, or 'latest'.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup(title: "Limits for archives of other programs") var limits: LimitOptions

    @Option(
        help: ArgumentHelp(
            "Unpack and check into a new directory, and touch nothing else.",
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

    @Flag(help: "Restore damaged stores too.")
    var allowDamaged = false

    @Flag(help: "Go on though an application has a store open.")
    var force = false

    @Flag(help: "Do not back up what is replaced.")
    var noSafetyBackup = false

    @Flag(name: [.customShort("n"), .long], help: "Say what would happen, and do nothing.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    func run() async throws {
        let flags = [
            FlagValue("--check", "restore.check", check?.rawValue),
            FlagValue(
                "--no-safety-backup",
                "restore.safety_backup",
                noSafetyBackup ? "false" : nil
            ),
        ].compactMap(\.self)
        // A rehearsal, and what goes elsewhere, is nothing that others want to know of.
        let command: Run.Command? = dryRun || target != nil ? nil : .restore
        try await Session.run(output, stores, remote, as: command, flags: flags) { session in
            let restore = RestoreBackup(
                from: try session.remote(),
                catalog: session.catalog,
                options: options(session),
                context: session.context
            )
            let backup = try await restore.find(name)
            warn(of: backup, session)
            if target == nil, !dryRun {
                let question =
                    "Restore from '\(backup.displayName)'? It replaces the data in '\(session.stores.string)'."
                guard try session.confirm(question, yes: yes) else {
                    session.console.message("nothing was changed")
                    session.facts.decline()
                    return .failed
                }
            }
            let outcome =
                if let target {
                    try await restore.extract(backup, to: FilePath(target))
                } else {
                    try await restore.run(backup, to: session.stores)
                }
            session.facts.tell(outcome.backup, bytes: outcome.bytes)
            session.facts.tell(outcome.problems)
            session.console.finish()
            if output.json {
                try session.console.answer(json: Summary(outcome, isDryRun: dryRun))
            } else {
                tell(outcome, session)
            }
            guard outcome.isApplicationStarted else {
                session.facts.tell(problem: "the application was not started")
                return .partial
            }
            return outcome.problems.isEmpty ? .done : .partial
        }
    }

    /// What makes it doubtful that it is this backup that is wanted.
    private func warn(of backup: Backup, _ session: Session) {
        if let warning = backup.futureWarning(at: session.now) {
            session.context.report(.warning(warning))
        }
        if backup.isAnomalous {
            session.context.report(
                .warning(
                    "'\(backup.displayName)' has much less in it than the backup before it: 'grocerydude list' shows the others"
                )
            )
        }
    }

    private func options(_ session: Session) -> RestoreBackup.Options {
        var options = RestoreBackup.Options(
            backup: CreateBackup.Options(
                date: session.now,
                timeZone: session.timeZone,
                tool: session.tool
            )
        )
        options.check = session.profile.restore.level
        options.allowsDamage = allowDamaged
        options.force = force
        options.makesSafetyBackup = session.profile.restore.makesSafetyBackup
        options.isDryRun = dryRun
        options.limits = limits.limits
        options.application = session.applicationCommands
        return options
    }

    private func tell(_ outcome: RestoreBackup.Outcome, _ session: Session) {
        let console = session.console
        let what =
            counted(outcome.files, "file", "files") + ", \(byteCount(outcome.bytes)), "
            + counted(outcome.stores, "store", "stores")
        if dryRun {
            console.answer(
                "would restore '\(outcome.backup.displayName)' to '\(outcome.path)': \(what)"
            )
            if outcome.replacesData, session.profile.restore.makesSafetyBackup {
                console.answer("would back up what is there first")
            }
            return
        }
        console.done("restored '\(outcome.backup.displayName)' to '\(outcome.path)'")
        console.message(what)
        if let safety = outcome.safetyBackup {
            console.message("what was there is in '\(safety.displayName)': to undo, restore that")
        }
    }

    /// The answer in JSON.
    private struct Summary: Encodable {
        var messageType = "summary"
        var name: String
        var path: String
        var files: Int
        var bytes: Int64
        var stores: Int
        var safetyBackup: String?
        var dryRun: Bool
        var problems: [Problem]

        init(_ outcome: RestoreBackup.Outcome, isDryRun: Bool) {
            name = outcome.backup.name
            path = outcome.path
            files = outcome.files
            bytes = outcome.bytes
            stores = outcome.stores
            safetyBackup = outcome.safetyBackup?.name
            dryRun = isDryRun
            problems = outcome.problems
        }
    }
}
