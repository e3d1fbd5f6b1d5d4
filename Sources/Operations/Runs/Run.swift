public import Backups
internal import Files
public import Foundation
public import History
internal import Remotes
public import SystemPackage

/// A run of a command, with its hooks, pings, log entry and metrics.
///
/// None of these changes the run's own result, except a `before` command, which can prevent the run:
///
///     before → start ping → the work → log, metrics → ping, notifications → after → on_success or on_failure → finally
///
/// A run that `before` skips is logged, but not pinged: `finally` follows at once. If `before` fails, the run has
/// failed: everything follows except `after`.
public struct Run: Sendable {
    /// The commands that are logged, and included in the metrics.
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
    /// The name of the origin of this run's backups, for the metrics.
    public var origin: String?
    /// The remote folder's address in usable form, because hooks may run this program.
    public var remote: String
    /// The remote folder's address as it is shown and recorded.
    var address: String { RemoteAddress(remote).shown }
    public var began: Date
    public var hooks = Hooks()
    /// The command lines of the configuration, which appear on the terminal only: they may have secrets.
    public var lines: [String] = []
    public var ping: Ping?
    public var notifications: Notifications?
    /// A file for the text file collector of Prometheus' node exporter (`--collector.textfile.directory`).
    public var metricsFile: FilePath?
    public var log: RunLog?
    /// Whether failures of the log are reported as warnings.
    public var reportsLogTrouble = false

    public init(_ command: Command, stores: FilePath, remote: String, began: Date) {
        self.command = command
        self.stores = stores
        self.remote = remote
        self.began = began
    }

    /// Runs the work with everything around it.
    ///
    /// - Parameters:
    ///   - context: the receiver of warnings, and the check for cancellation.
    ///   - backups: lists the remote folder, for the metrics.
    ///   - failure: reports the error of a `before` command, and returns the result for it.
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
        var result: CommandResult
        do {
            try await hooks.runBefore(environment(nil), context)
            await send(.start, context)
            result = await work()
        } catch {
            result = failure(error)
            moments = []
        }
        result.message = result.message.map { HookError.withoutLines($0, lines) }
        if !result.isDeclined {
            let entry = entry(result, duration: ContinuousClock.now - start)
            record(entry, isUneventful: result.isUneventful, context)
            if result.exitCode != Hooks.skipCode {
                await writeMetrics(entry, backups, context)
                let isSuccess = result.isSuccess
                await send(isSuccess ? .success : .failure(result.message ?? "failed"), context)
                await notify(of: entry, context)
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

    private func send(_ signal: Ping.Signal, _ context: OperationContext) async {
        guard let ping else { return }
        do {
            // Notify the monitor of an interrupted run too.
            let isInterrupted = (try? context.checkCancellation()) == nil
            var context = context
            if isInterrupted { context.checkCancellation = {} }
            try await ping.send(signal, checkCancellation: context.checkCancellation)
        } catch {
            context.warn(explain(error))
        }
    }

    /// Sends notifications if the run changed the condition of its job.
    private func notify(of entry: RunLog.Entry, _ context: OperationContext) async {
        guard let notifications, let report = JobReport(entry) else { return }
        await notifications.report(report, context)
    }

    /// Returns the log entry of the run.
    private func entry(_ result: CommandResult, duration: Duration) -> RunLog.Entry {
        var entry = RunLog.Entry(
            command: command.rawValue,
            profile: profile,
            stores: printable(stores),
            remote: address,
            began: began,
            // Round as the log does, so that log and metrics agree.
            duration: .milliseconds(Int64((duration.inSeconds * 1000).rounded())),
            exitCode: result.exitCode
        )
        entry.message = result.message
        entry.backup = result.backup
        entry.size = result.size
        entry.bytes = result.bytes
        entry.origin = origin
        entry.safety = result.safety
        return entry
    }

    private func record(
        _ entry: RunLog.Entry,
        isUneventful: Bool,
        _ context: OperationContext
    ) {
        // A name that a person mistyped is no failure of the day.
        let isOfPerson = !Command.scheduled.contains(command) && entry.endedBeforeWork
        guard let log, !isOfPerson else { return }
        do {
            if isUneventful { try log.note(uneventful: entry) } else { try log.record(entry) }
            if reportsLogTrouble, let warning = log.warning { context.warn(warning) }
        } catch {
            guard reportsLogTrouble else { return }
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
        // If the folder is unreachable, the run itself reports the reason.
        if (try? context.checkCancellation()) != nil { metrics.backups = try? await backups() }
        do {
            try metrics.write(to: metricsFile)
        } catch {
            context.warn("the metrics were not written: \(explain(error))")
        }
    }
}

/// The result of a command, for its exit code, the log, metrics and hooks.
public struct CommandResult: Sendable, Equatable {
    /// The program's exit code.
    public var exitCode: Int32
    /// The error, or the first problem of a partly successful run.
    public var message: String?
    /// The file name of the affected backup.
    public var backup: String?
    /// The size of that backup's archive in bytes.
    public var size: Int64?
    /// The size of all of that backup's files before compression, in bytes.
    public var bytes: Int64?
    /// The identity of the safety backup that a restore made.
    public var safety: String?
    /// Whether the user declined when asked; the run is then neither logged nor reported.
    public var isDeclined = false
    /// Whether there was nothing to do, as in most runs every few minutes; the log has only the time of the last one.
    public var isUneventful = false

    public init(exitCode: Int32, message: String? = nil) {
        self.exitCode = exitCode
        self.message = message
    }

    /// Whether everything was done: a monitor must get a partly successful run as a failure.
    public var isSuccess: Bool { exitCode == 0 }
}

extension Duration {
    /// The duration in seconds, with their fraction.
    public var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

extension RunLog.Entry {
    /// Whether the run ended before its work, since its options or names were wrong; see `Documentation/ExitCodes.md`.
    fileprivate var endedBeforeWork: Bool { [10, 64].contains(exitCode) }
}

extension RunLog {
    /// A warning that the log was damaged, with the path to which it was moved; `nil` if it was not damaged.
    public var warning: String? {
        putAside.map { "the log was damaged and started again: the old one is '\(printable($0))'" }
    }
}
