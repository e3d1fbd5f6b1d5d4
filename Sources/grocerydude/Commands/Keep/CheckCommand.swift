public import ArgumentParser
internal import Foundation
public import Operations
internal import Stores

extension SubsetChoice: ExpressibleByArgument {
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
            Without names, the newest backup is checked. Damage gives exit code 20. With 'next/7' a \
            seventh is read that was not read for longest, so that seven runs have read all.

            EXAMPLE
              grocerydude check --all --read-data-subset next/7

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
            "Read only a part of the data: 10% of it at random, the first seventh (1/7), or the one whose turn it is (next/7).",
            valueName: "subset"
        )
    )
    var readDataSubset: SubsetChoice?

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
            FlagValue("--all", "check.all", all ? "true" : nil),
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
            let options = options(session)
            let checks = try CheckBackups(
                in: session.remote(),
                catalog: session.catalog,
                timeZone: session.timeZone,
                options: options,
                context: session.context
            )
            let backups = try await checks.all()
            let histories = session.checkHistories(of: backups)
            var results: [CheckBackups.Result] = []
            for backup in try wanted(session, checks, backups) {
                let subset = subset(
                    session,
                    histories[backup.name] ?? CheckHistory([], size: backup.size)
                )
                let result = try await checks.run(backup, reading: subset)
                results.append(result)
                session.remember(result)
                session.console.finish()
                if !output.json { tell(result, session) }
            }
            session.keepChecks(of: backups)
            let bad = results.first { !$0.damage.isEmpty }
            if let one = bad ?? (results.count == 1 ? results.first : nil) {
                session.facts.tell(one.backup)
            }
            if let bad {
                session.facts.tell(problem: "'\(bad.backup.displayName)': \(bad.damage[0])")
            }
            if output.json {
                try session.console.answer(json: results.map { Row($0, session) })
            }
            if results.contains(where: { !$0.damage.isEmpty }) { return .damaged }
            if let failure = results.compactMap(\.failure).first { throw failure }
            return .done
        }
    }

    private func wanted(
        _ session: Session,
        _ checks: CheckBackups,
        _ backups: [Backup]
    ) throws -> [Backup] {
        if session.profile.check.all, names.isEmpty, !latest { return backups }
        return try checks.find(
            names + (latest || names.isEmpty ? ["latest"] : []),
            in: backups,
            now: session.now
        )
    }

    /// What to read of a backup of which so much is known.
    private func subset(_ session: Session, _ history: CheckHistory) -> DataSubset {
        session.profile.check.readDataSubset?.subset(after: history) ?? .all
    }

    private func options(_ session: Session) -> CheckBackups.Options {
        let settings = session.profile.check
        var options = CheckBackups.Options()
        // A subset that was asked for now is not overruled by a rehearsal that the profile asks for.
        options.restores = settings.restores && readDataSubset == nil
        return options
    }

    private func tell(_ result: CheckBackups.Result, _ session: Session) {
        let name = result.backup.displayName
        if result.isGood {
            let part = result.part.map { "  (part \($0))" } ?? ""
            session.console.done("\(name)  whole\(part)")
        }
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
        var depth: String
        var part: String?
        var damage: [String]
        var error: String?

        init(_ result: CheckBackups.Result, _ session: Session) {
            name = result.backup.name
            displayName = result.backup.displayName
            time = result.backup.time.map { RFC3339.text($0, in: session.timeZone) }
            good = result.isGood
            depth = result.depth.rawValue
            part = result.part?.description
            damage = result.damage
            error = result.failure.map(explain)
        }
    }
}

extension Session {
    /// Remembers a check, for 'list' and 'status'; where that cannot be, no check fails of it.
    func remember(_ result: CheckBackups.Result) {
        // What could not be looked at was not checked.
        guard result.isGood || !result.damage.isEmpty else { return }
        let check = RunLog.Check(
            address: address,
            name: result.backup.name,
            size: result.backup.size,
            time: now,
            depth: result.depth,
            part: result.part,
            damage: result.damage.first
        )
        do {
            try log.recordCheck(check)
        } catch  where output.verbose {
            context.report(.warning("this check was not logged: \(explain(error))"))
        } catch {}
    }

    /// Forgets the checks of backups that are gone; what cannot be forgotten does no harm.
    fileprivate func keepChecks(of backups: [Backup]) {
        do {
            try log.keepChecks(of: Set(backups.map(\.name)), in: address)
        } catch  where output.verbose {
            context.report(.warning("the log was not tidied: \(explain(error))"))
        } catch {}
    }
}

// As the log has it.
extension CheckBackups.Result {
    fileprivate var depth: RunLog.Check.Depth {
        subset == nil ? .restore : part == nil ? .data : .part
    }

    /// `nil` where all was read.
    fileprivate var part: RunLog.Check.Part? {
        switch subset {
        case nil, .all, .share(percent: 100), .part(_, of: 1): nil
        case .share(let percent): .share(DataSubset.share(percent: percent).description)
        case .part(let part, let count): .one(part, of: count)
        }
    }
}
