public import Backups
internal import Files
public import Foundation
public import History
public import SystemPackage

/// One run of a command, with what goes on around it: hooks, pings, an entry in the log, metrics.
///
/// None of that changes the run's own result, but for a `before` command, without whose consent the
/// run does not begin:
///
///     before → start ping → the work → log, metrics → ping → after → on_success or on_failure → finally
///
/// A run that `before` skips is logged, and nobody is told: `finally` follows at once. If `before`
/// fails, the run has failed: all follows but `after`.
public struct Run: Sendable {
    /// The commands that are logged, and told to metrics.
    public enum Command: String, Sendable, CaseIterable {
        case backup, restore, check, prune, sync

        /// The commands around which the user's own commands can run.
        public static let hooked: [Command] = [.backup, .restore, .check, .sync]
        /// The commands that a schedule can run.
        public static let scheduled: [Command] = [.backup, .check, .sync]
    }

    public var command: Command
    /// The configuration's profile, if the run has one.
    public var profile: String?
    public var stores: FilePath
    /// The remote folder's address.
    public var remote: String
    public var began: Date
    public var hooks = Hooks()
    public var ping: Ping?
    /// A file for Prometheus' node exporter, which reads text (`--collector.textfile.directory`).
    public var metricsFile: FilePath?
    public var log: RunLog?
    /// Whether trouble with the log is worth a warning.
    public var tellsLogTrouble = false

    public init(_ command: Command, stores: FilePath, remote: String, began: Date) {
        self.command = command
        self.stores = stores
        self.remote = remote
        self.began = began
    }

    /// Runs the work, with all around it.
    ///
    /// - Parameters:
    ///   - context: reports warnings, and tells whether the user wants to stop.
    ///   - backups: lists the remote folder, for the metrics.
    ///   - failure: reports the error of a `before` command, and makes it a result.
    ///   - work: does the work, and reports its own errors.
    /// - Returns: the result of `work` or `failure`.
    public func perform(
        _ context: OperationContext,
        backups: () async throws -> [Backup],
        failure: (any Error) -> CommandResult,
        work: () async -> CommandResult
    ) async -> CommandResult {
        let start = ContinuousClock.now
        var moments: [Hooks.Moment] = [.after]
        let result: CommandResult
        do {
            try await hooks.runBefore(environment(nil), context)
            await tell(.start, context)
            result = await work()
        } catch {
            result = failure(error)
            moments = []
        }
        if !result.isDeclined {
            let entry = entry(result, duration: ContinuousClock.now - start)
            if !result.isUneventful { record(entry, context) }
            if result.exitCode != Hooks.skipCode {
                await writeMetrics(entry, backups, context)
                let isSuccess = result.isSuccess
                await tell(isSuccess ? .success : .failure(result.message ?? "failed"), context)
                moments.append(isSuccess ? .onSuccess : .onFailure)
            }
        }
        await hooks.runLater(moments + [.finally], environment(result), context)
        return result
    }

    private func environment(_ result: CommandResult?) -> CommandEnvironment {
        var environment = CommandEnvironment(
            command: command.rawValue,
            profile: profile,
            stores: stores,
            remote: remote
        )
        guard let result, !result.isDeclined else { return environment }
        environment.backup = result.backup
        environment.exitCode = result.exitCode
        environment.error = result.message
        return environment
    }

    private func tell(_ signal: Ping.Signal, _ context: OperationContext) async {
        guard let ping else { return }
        do {
            // The monitor is told of an interrupted run too.
            let isInterrupted = (try? context.checkCancellation()) == nil
            var context = context
            if isInterrupted { context.checkCancellation = {} }
            try await ping.send(signal, checkCancellation: context.checkCancellation)
        } catch {
            context.warn(explain(error))
        }
    }

    /// Returns the run as the log has it.
    private func entry(_ result: CommandResult, duration: Duration) -> RunLog.Entry {
        var entry = RunLog.Entry(
            command: command.rawValue,
            profile: profile,
            stores: printable(stores),
            remote: remote,
            began: began,
            // As the log keeps it, so that log and metrics agree.
            duration: .milliseconds(Int64((duration.inSeconds * 1000).rounded())),
            exitCode: result.exitCode
        )
        entry.message = result.message
        entry.backup = result.backup
        entry.size = result.size
        entry.bytes = result.bytes
        return entry
    }

    private func record(_ entry: RunLog.Entry, _ context: OperationContext) {
        guard let log else { return }
        do {
            try log.record(entry)
            if tellsLogTrouble, let warning = log.warning { context.warn(warning) }
        } catch {
            guard tellsLogTrouble else { return }
            context.warn("this run was not logged: \(explain(error))")
        }
    }

    private func writeMetrics(
        _ entry: RunLog.Entry,
        _ backups: () async throws -> [Backup],
        _ context: OperationContext
    ) async {
        guard let metricsFile else { return }
        var metrics = Metrics(self, entry)
        metrics.addLogged(log)
        // If the folder cannot be reached, the run itself says why.
        if (try? context.checkCancellation()) != nil { metrics.backups = try? await backups() }
        do {
            try metrics.write(to: metricsFile)
        } catch {
            context.warn("the metrics were not written: \(explain(error))")
        }
    }
}
