public import Archives
public import ArgumentParser
internal import Operations

extension Compression: ExpressibleByArgument {}

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Save the stores directory into one dated archive.",
        discussion: """
            Applications may go on writing: all stores are cut at one moment, and not a byte of the \
            directory is changed. Prints the backup's name.

            EXAMPLE
              grocerydude backup --stores ~/app/data --remote /mnt/nas/backups

            \(ExitStatus.help)
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var metrics: MetricsOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help:
            "How hard to compress: \(Compression.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var compression: Compression = .default

    func run() async throws {
        var plan = RunPlan(command: .backup, stores: stores.directory, remote: remote)
        plan.metricsFile = metrics.file
        try await Session.run(
            output,
            plan,
            stores: stores.directory,
            lockWait: remote.lockWait.duration
        ) { session in
            var options = CreateBackup.Options(
                date: session.now,
                timeZone: session.timeZone,
                tool: session.tool
            )
            options.compression = compression
            let outcome = try await CreateBackup(
                of: stores.directory,
                to: session.remote(remote),
                catalog: session.catalog,
                options: options,
                context: session.context
            ).run()
            session.facts.tell(outcome.backup, bytes: outcome.bytes)
            if let problem = outcome.problems.first {
                let number = counted(outcome.problems.count, "problem", "problems")
                session.facts.tell(problem: "\(number): \(problem)")
            }
            session.console.finish()
            if output.json {
                try session.console.answer(json: Summary(outcome, session))
            } else {
                session.console.answer(outcome.backup.name)
                let what =
                    counted(outcome.stores, "store", "stores") + " and "
                    + counted(outcome.entries, "entry", "entries")
                session.console.message(
                    "\(what), \(byteCount(outcome.bytes)), saved as \(byteCount(outcome.backup.size))"
                )
            }
            return outcome.problems.isEmpty ? .done : .partial
        }
    }

    /// The answer in JSON.
    private struct Summary: Encodable {
        var messageType = "summary"
        var name: String
        var displayName: String
        var time: String?
        var size: Int64
        var bytes: Int64
        var entries: Int
        var stores: Int
        var problems: [Problem]

        init(_ outcome: CreateBackup.Outcome, _ session: Session) {
            name = outcome.backup.name
            displayName = outcome.backup.displayName
            time = outcome.backup.time.map { RFC3339.text($0, in: session.timeZone) }
            size = outcome.backup.size
            bytes = outcome.bytes
            entries = outcome.entries
            stores = outcome.stores
            problems = outcome.problems
        }
    }
}
