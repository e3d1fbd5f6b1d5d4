internal import Files
internal import Foundation
internal import Operations
internal import Stores
internal import Synchronization
internal import SystemPackage

/// What a command's body tells of what it did, for the log, metrics and hooks.
final class RunFacts: Sendable {
    private struct State {
        var facts = Run.Outcome(exitCode: 0)
        var isDeclined = false
    }

    private let state = Mutex(State())

    /// The backup that is worked with, and how much data is in it.
    func tell(_ backup: Backup, bytes: Int64? = nil) {
        state.withLock { state in
            state.facts.backup = backup.name
            state.facts.size = backup.size
            state.facts.bytes = bytes
        }
    }

    /// What is wrong though the command succeeded, in part.
    func tell(problem: String) {
        state.withLock { $0.facts.message = problem }
    }

    func tell(_ problems: [Problem]) {
        guard let first = problems.first else { return }
        tell(problem: "\(counted(problems.count, "problem", "problems")): \(first)")
    }

    /// A person was asked and said no: there is nothing to tell anybody.
    func decline() {
        state.withLock { $0.isDeclined = true }
    }

    /// All of that, with how the command ended.
    func outcome(_ end: Session.End) -> Run.Outcome? {
        let state = state.withLock { $0 }
        guard !state.isDeclined else { return nil }
        var outcome = state.facts
        outcome.exitCode = end.code
        outcome.message = end.message ?? outcome.message
        return outcome
    }
}

extension Session {
    /// How a command ended.
    struct End {
        var code: Int32
        /// The error's, if there was one.
        var message: String?
    }

    /// Does the work, and tells its error; with all around it, where it is a run that others want to
    /// know of.
    ///
    /// - Returns: the exit code.
    func run(_ command: Run.Command?, _ work: () async throws -> ExitStatus) async -> Int32 {
        guard let command else { return await attempt(work).code }
        var end = End(code: 0)
        await makeRun(command).perform(
            context,
            backups: {
                try await ListBackups(in: remote(), catalog: catalog, timeZone: timeZone, log: log)
                    .run().backups
            },
            failed: { error in
                end = tell(error)
                return Run.Outcome(exitCode: end.code, message: end.message)
            },
            work: {
                end = await attempt(work)
                return facts.outcome(end)
            }
        )
        return end.code
    }

    private func attempt(_ work: () async throws -> ExitStatus) async -> End {
        do {
            return End(code: try await work().rawValue)
        } catch {
            return tell(error)
        }
    }

    /// Writes an error, or that a hook wants the run skipped, which is none.
    private func tell(_ error: any Error) -> End {
        if case OperationError.skipped = error {
            console.message(explain(error))
        } else {
            console.error(error)
        }
        return End(code: exitCode(for: error), message: explain(error))
    }

    private func makeRun(_ command: Run.Command) -> Run {
        var run = Run(command, stores: absolute(stores), remote: address, began: now)
        if isWithProfilesStores {
            let operation = HookedOperation(rawValue: command.rawValue)
            run.hooks = operation.map(profile.hooks(for:)) ?? Hooks()
        }
        if isInProfilesPlaces { run.profile = profile.name }
        // A monitor waits for backups: what else goes well is none, and must not pass for one.
        if command == .backup, let url = profile.pingURL, applies("ping_url") {
            run.ping = Ping(url.absoluteString, timeout: profile.pingTimeout)
        }
        if applies("metrics_file") { run.metricsFile = profile.metricsFile }
        run.log = log
        run.tellsLogTrouble = output.verbose
        noteOtherPlaces()
        return run
    }

    /// Whether a setting is meant for this run.
    ///
    /// A profile's monitor would take a backup of something else,
    /// or to somewhere else, for the one that it waits for; and what a profile has pruned is its own folder.
    private func applies(_ key: String) -> Bool {
        guard case .file = profile.origin(of: key) else { return true }
        return isInProfilesPlaces
    }

    /// Whether a backup prunes once it is verified.
    var prunes: Bool { profile.prunes && applies("prune") }

    /// Says what of the profile does not happen, since the run is about something else.
    private func noteOtherPlaces() {
        guard !isInProfilesPlaces else { return }
        let key = isWithProfilesStores ? "remote" : "stores"
        let what = key == "stores" ? "stores directory" : "remote folder"
        context.report(
            .note(
                "'\(profile.origin(of: key))' names another \(what) than the configuration: "
                    + (key == "stores" ? "none of its commands are run, and " : "")
                    + "no monitor is told\(profile.prunes && !prunes ? ", and nothing is pruned" : "")"
            )
        )
    }

    /// The log of runs.
    var log: RunLog { RunLog(FilePath(Surroundings.state + "/grocerydude/log.sqlite")) }

    /// What is known of backups from their checks, as far as the log tells, by file name.
    func checkHistories(of backups: [Backup]) -> [String: CheckHistory] {
        do {
            let checks = try log.lastChecks(in: address)
            return Dictionary(
                backups.compactMap { backup in
                    checks[backup.name].map { (backup.name, CheckHistory($0, size: backup.size)) }
                },
                uniquingKeysWith: { first, _ in first }
            )
        } catch {
            if output.verbose {
                context.report(.warning("the log cannot be read: \(explain(error))"))
            }
            return [:]
        }
    }

    /// What a restore runs around the exchange.
    var applicationCommands: ApplicationCommands {
        let commands = isWithProfilesStores ? profile.restore.commands : RestoreCommands()
        return ApplicationCommands(
            stop: commands.stop,
            start: commands.start,
            verify: commands.verify,
            timeout: profile.hooks(for: .restore).timeout
        )
    }
}
