internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import Stores
internal import Synchronization
internal import SystemPackage

/// What is to go on around a command, besides its entry in the log, which every one of them gets.
struct RunPlan {
    var command: Run.Command
    var stores: FilePath
    var remote: RemoteOptions
    /// The name of the configuration profile, if it is one's.
    var profile: String?
    var hooks = Hooks()
    /// Where a monitor waits to hear of it.
    var pingURL: String?
    var metricsFile: String?
}

/// What a command's body tells of what it did, for the log, metrics and hooks.
final class RunFacts: Sendable {
    private struct State {
        var facts = Run.Outcome(exitCode: 0)
        var isDeclined = false
    }

    private let state = Mutex(State())

    /// The backup that is worked with, and where it is known, its size and that of the data in it.
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

    /// A person was asked and said no: there is nothing to tell anybody.
    func decline() {
        state.withLock { $0.isDeclined = true }
    }

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

    /// Does the work, and tells its error.
    func attempt(_ work: () async throws -> ExitStatus) async -> End {
        do {
            return End(code: try await work().rawValue)
        } catch {
            return tell(error)
        }
    }

    /// Does the work with all around it that a plan says.
    func perform(_ plan: RunPlan, _ work: () async throws -> ExitStatus) async -> End {
        var end = End(code: 0)
        await run(plan).perform(
            context,
            backups: {
                try await ListBackups(in: remote(plan.remote), catalog: catalog, timeZone: timeZone)
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
        return end
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

    private func run(_ plan: RunPlan) -> Run {
        var run = Run(
            plan.command,
            stores: absolute(plan.stores),
            remote: address(plan.remote),
            began: now
        )
        run.profile = plan.profile
        run.hooks = plan.hooks
        run.ping = plan.pingURL.map { Ping($0) }
        run.metricsFile = plan.metricsFile.map { absolute(FilePath($0)) }
        run.log = log
        run.tellsLogTrouble = output.verbose
        return run
    }

    /// The log of runs.
    var log: RunLog { RunLog(FilePath(Surroundings.state + "/grocerydude/log.sqlite")) }

    /// A path that means the same from everywhere, whether something is there or not.
    func absolute(_ path: FilePath) -> FilePath {
        let absolute = FilePath(FileManager.default.currentDirectoryPath).pushing(path)
        return (try? absolute.resolved()) ?? absolute.lexicallyNormalized()
    }
}
