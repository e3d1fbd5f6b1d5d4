public import Archives
public import ArgumentParser
internal import Operations
internal import Remotes

extension Compression: ExpressibleByArgument {}

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Save the stores directory into one dated archive.",
        discussion: """
            Applications may go on writing: all stores are cut at one moment, and not a byte of the \
            directory is changed. Prints the backup's name, unless it is to be quiet.

            EXAMPLE
              grocerydude backup --stores ~/app/data --remote /mnt/nas/backups
              grocerydude backup --profile photos
              grocerydude backup --all-profiles --quiet

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
    var compression: Compression?

    @Flag(help: "Back up every profile of the configuration, one after the other.")
    var allProfiles = false

    func validate() throws {
        guard !allProfiles || stores.configuration.profile == nil else {
            throw ValidationError("'--all-profiles' and '--profile' exclude each other")
        }
    }

    @Option(help: ArgumentHelp("A tag for 'prune --keep-tag'; may be repeated.", valueName: "tag"))
    var tag: [String] = []

    @Option(help: ArgumentHelp("A note, which 'list' shows.", valueName: "text"))
    var note: String?

    @Flag(help: "Make no backup where nothing has changed since the last one.")
    var skipIfUnchanged = false

    @Flag(help: "Verify the backup, and then remove what no policy keeps; see 'prune'.")
    var prune = false

    @OptionGroup var retention: RetentionOptions
    @OptionGroup var trash: TrashOptions

    @Flag(help: "Have SQLite check all of every store; what it finds gives exit code 3.")
    var check = false

    @Flag(help: "Take what is there for right, however much less than in the last backup it is.")
    var acceptChanges = false

    func run() async throws {
        let flags =
            [
                FlagValue("--compression", "compression", compression?.rawValue),
                FlagValue("--check", "check_stores", check ? "true" : nil),
                FlagValue(
                    "--skip-if-unchanged",
                    "skip_if_unchanged",
                    skipIfUnchanged ? "true" : nil
                ),
                FlagValue("--prune", "prune", prune ? "true" : nil),
            ].compactMap(\.self) + retention.flags + trash.flags + metrics.flags
        try await Session.run(
            output,
            stores,
            remote,
            as: .backup,
            flags: flags,
            ofAllProfiles: allProfiles
        ) { session in
            var options = CreateBackup.Options(
                date: session.now,
                timeZone: session.timeZone,
                tool: session.tool
            )
            options.compression = session.profile.compression
            options.checksStores = session.profile.checksStores
            options.acceptsChanges = acceptChanges
            options.skipsUnchanged = session.profile.skipsIfUnchanged
            options.tags =
                session.profile.tags + tag.flatMap { $0.split(separator: ",").map(String.init) }
            options.note = note
            options.log = session.log
            // Said before the work: a backup is no answer to who wanted old ones removed.
            if session.profile.prunes, retention.policy(session).isEmpty,
                !retention.unsafeAllowRemoveAll
            {
                throw OperationError.keepsNothing(
                    "no policy says what to keep, so no backup was made either"
                )
            }
            let folder = try session.remote()
            let outcome = try await CreateBackup(
                of: session.stores,
                to: folder,
                catalog: session.catalog,
                options: options,
                context: session.context
            ).run()
            session.facts.tell(outcome.backup, bytes: outcome.bytes)
            session.facts.tell(outcome.problems)
            session.console.finish()
            try tell(outcome, session)
            let status: ExitStatus = outcome.problems.isEmpty ? .done : .partial
            guard session.prunes else { return status }
            guard status == .done else {
                session.console.message("nothing is pruned: the backup was made in part only")
                return status
            }
            return try await pruneOnceVerified(outcome.backup, in: folder, session)
        }
    }

    private func tell(_ outcome: CreateBackup.Outcome, _ session: Session) throws {
        if output.json { return try session.console.answer(json: Summary(outcome, session)) }
        session.console.done(outcome.backup.name)
        if outcome.isUnchanged {
            session.console.message(
                "nothing has changed since then: no backup was made"
                    + (outcome.isAnnotated ? ", and that one got the tags and the note" : "")
            )
            return
        }
        let what =
            counted(outcome.stores, "store", "stores") + " and "
            + counted(outcome.entries, "entry", "entries")
        session.console.message(
            "\(what), \(byteCount(outcome.bytes)), saved as \(byteCount(outcome.backup.size))"
        )
    }

    /// Older backups go only once the newest is known to be whole.
    private func pruneOnceVerified(
        _ backup: Backup,
        in folder: any RemoteFolder,
        _ session: Session
    ) async throws -> ExitStatus {
        let result = try await CheckBackups(
            in: folder,
            catalog: session.catalog,
            timeZone: session.timeZone,
            options: CheckBackups.Options(),
            context: session.context
        ).run(backup)
        session.remember(result)
        session.console.finish()
        if let failure = result.failure { throw failure }
        if let damage = result.damage.first {
            let problem = "nothing is pruned: the new backup is damaged: \(damage)"
            session.facts.tell(problem: problem)
            session.context.report(.warning(problem))
            return .damaged
        }
        return try await session.prune(retention, in: folder, isDryRun: false)
    }

    /// The answer in JSON.
    private struct Summary: Encodable {
        var messageType = "summary"
        var profile: String?
        var name: String
        var displayName: String
        /// Whether none was made, and this is the newest, which has the same content.
        var unchanged: Bool
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
            unchanged = outcome.isUnchanged
            time = outcome.backup.time.map { RFC3339.text($0, in: session.timeZone) }
            size = outcome.backup.size
            bytes = outcome.bytes
            entries = outcome.entries
            stores = outcome.stores
            problems = outcome.problems
        }
    }
}
