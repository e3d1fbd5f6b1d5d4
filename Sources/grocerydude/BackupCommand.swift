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
              grocerydude backup --profile photos
              grocerydude backup --all-profiles --quiet

            \(ExitStatus.help)
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help:
            "How hard to compress: \(Compression.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var compression: Compression?

    @Flag(help: "Back up every profile of the configuration, one after the other.")
    var allProfiles = false

    func validate() throws {
        guard !allProfiles || stores.configuration.profile == nil else {
            throw ValidationError("'--all-profiles' and '--profile' exclude each other")
        }
    }

    @Flag(help: "Have SQLite check all of every store; what it finds gives exit code 3.")
    var check = false

    @Flag(help: "Take what is there for right, however much less than in the last backup it is.")
    var acceptChanges = false

    func run() async throws {
        let flags = [
            FlagValue("--compression", "compression", compression?.rawValue),
            FlagValue("--check", "check_stores", check ? "true" : nil),
        ].compactMap(\.self)
        try await Session.run(output, stores, remote, flags: flags, ofAllProfiles: allProfiles) {
            session in
            var options = CreateBackup.Options(
                date: session.now,
                timeZone: session.timeZone,
                tool: session.tool
            )
            options.compression = session.profile.compression
            options.checksStores = session.profile.checksStores
            options.acceptsChanges = acceptChanges
            let outcome = try await CreateBackup(
                of: session.stores,
                to: session.remote(),
                catalog: session.catalog,
                options: options,
                context: session.context
            ).run()
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
        var profile: String?
        var name: String
        var displayName: String
        var time: String?
        var size: Int64
        var bytes: Int64
        var entries: Int
        var stores: Int
        var problems: [Problem]

        init(_ outcome: CreateBackup.Outcome, _ session: Session) {
            profile = session.profile.name
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
