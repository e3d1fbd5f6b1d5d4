public import ArgumentParser
internal import Foundation
public import Operations
internal import Stores

extension DataSubset: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check that backups are whole.",
        discussion: """
            Reads each archive's structure and holds every piece of its data to its SHA-256. With \
            --restore it is restored into a temporary directory, and SQLite checks every store in full. \
            Without names, the newest backup is checked. Damage gives exit code 20.

            EXAMPLE
              grocerydude check --all --read-data-subset 1/7

            \(ExitStatus.help)
            """
    )

    @Argument(help: "Names of backups, unique parts of them, or 'latest'.")
    var names: [String] = []

    @Flag(help: "Check all backups.")
    var all = false

    @Flag(help: "Check the newest backup.")
    var latest = false

    @Flag(help: "Rehearse a restore, and have SQLite check every store in full.")
    var restore = false

    @Option(
        help: ArgumentHelp(
            "Read only a part of the data: 10% of it at random, or the first seventh: 1/7.",
            valueName: "subset"
        )
    )
    var readDataSubset: DataSubset?

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var metrics: MetricsOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !all || names.isEmpty && !latest else {
            throw ValidationError("'--all' and single backups exclude each other")
        }
        guard !restore || readDataSubset == nil else {
            throw ValidationError(
                "'--restore' reads all: '--read-data-subset' makes no sense with it"
            )
        }
    }

    func run() async throws {
        let flags = [
            FlagValue("--restore", "check.restore", restore ? "true" : nil),
            FlagValue("--read-data-subset", "check.read_data_subset", readDataSubset?.description),
        ].compactMap(\.self)
        try await Session.run(
            output,
            stores,
            remote,
            as: .check,
            flags: flags + metrics.flags,
            needsWholeStores: false
        ) { session in
            let checks = try CheckBackups(
                in: session.remote(),
                catalog: session.catalog,
                timeZone: session.timeZone,
                options: options(session),
                context: session.context
            )
            let wanted = names + (latest || names.isEmpty ? ["latest"] : [])
            var results: [CheckBackups.Result] = []
            for backup in try await checks.find(wanted, all: all) {
                let result = try await checks.run(backup)
                results.append(result)
                session.remember(result, of: options(session))
                session.console.finish()
                if !output.json { tell(result, session) }
            }
            if output.json {
                try session.console.answer(json: results.map { Row($0, session) })
            }
            if results.contains(where: { !$0.damage.isEmpty }) { return .damaged }
            if let failure = results.compactMap(\.failure).first { throw failure }
            return .done
        }
    }

    private func options(_ session: Session) -> CheckBackups.Options {
        let settings = session.profile.check
        var options = CheckBackups.Options()
        // A subset that was asked for now is not overruled by a rehearsal that the profile asks for.
        options.restores = settings.restores && readDataSubset == nil
        if !options.restores {
            options.subset = settings.readDataSubset ?? .all
        }
        return options
    }

    private func tell(_ result: CheckBackups.Result, _ session: Session) {
        let name = result.backup.displayName
        if result.isGood { session.console.answer("\(name)  whole") }
        for damage in result.damage { session.console.answer("\(name)  DAMAGED  \(damage)") }
        if let failure = result.failure {
            session.console.answer("\(name)  not checked  \(explain(failure))")
        }
    }

    /// A result in JSON.
    private struct Row: Encodable {
        var name: String
        var displayName: String
        var time: String?
        var good: Bool
        var damage: [String]
        var error: String?

        init(_ result: CheckBackups.Result, _ session: Session) {
            name = result.backup.name
            displayName = result.backup.displayName
            time = result.backup.time.map { RFC3339.text($0, in: session.timeZone) }
            good = result.isGood
            damage = result.damage
            error = result.failure.map(explain)
        }
    }
}

extension Session {
    /// Remembers a check, for 'list' and 'status'; where that cannot be, no check fails of it.
    fileprivate func remember(_ result: CheckBackups.Result, of options: CheckBackups.Options) {
        // What could not be looked at was not checked.
        guard result.isGood || !result.damage.isEmpty else { return }
        let check = RunLog.Check(
            address: address,
            name: result.backup.name,
            size: result.backup.size,
            time: now,
            depth: options.restores ? .restore : options.subset == .all ? .data : .structure,
            damage: result.damage.first
        )
        do {
            try log.recordCheck(check)
        } catch  where output.verbose {
            context.report(.warning("this check was not logged: \(explain(error))"))
        } catch {}
    }
}
