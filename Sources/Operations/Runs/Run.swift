internal import Files
public import Foundation
public import History
public import SystemPackage

/// One run of a command, with what goes on around it: hooks, pings, an entry in the log, metrics.
///
/// None of that changes what the run itself came to, but for a `before` command, without whose consent
/// it does not begin:
///
///     before → start ping → the work → log, metrics → ping → after → on_success or on_failure → finally
///
/// What `before` skips is logged, and nobody is told: `finally` follows at once. Where `before` fails,
/// the run has failed: all follows but `after`.
public struct Run: Sendable {
    /// The commands that are worth it.
    public enum Command: String, Sendable, CaseIterable {
        case backup, restore, check, prune
    }

    public var command: Command
    /// The name of the configuration profile, if it is one's.
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
    /// Whether trouble with the log is worth a warning: it is of no use to who only wants a backup.
    public var tellsLogTrouble = false

    public init(_ command: Command, stores: FilePath, remote: String, began: Date) {
        self.command = command
        self.stores = stores
        self.remote = remote
        self.began = began
    }

    /// What a run came to.
    public struct Outcome: Sendable, Equatable {
        /// As the program will exit.
        public var exitCode: Int32
        /// What went wrong.
        public var message: String?
        /// The backup that was made or restored: its file name.
        public var backup: String?
        /// Bytes in its archive.
        public var size: Int64?
        /// Bytes in all files before compression.
        public var bytes: Int64?

        public init(exitCode: Int32, message: String? = nil) {
            self.exitCode = exitCode
            self.message = message
        }

        /// Only what is done whole is a success: who watches wants to know of the rest.
        public var isSuccess: Bool { exitCode == 0 }
    }

    /// Runs the work, with all around it.
    ///
    /// - Parameters:
    ///   - context: what operations get.
    ///   - backups: lists the remote folder, for the metrics.
    ///   - failed: tells the error of a `before` command, and what it makes of the run.
    ///   - work: does the work, and tells its own errors; `nil` where it came to nothing, because
    ///     a person said no.
    public func perform(
        _ context: OperationContext,
        backups: () async throws -> [Backup],
        failed: (any Error) -> Outcome,
        work: () async -> Outcome?
    ) async {
        let start = ContinuousClock.now
        var moments: [Hooks.Moment] = [.after]
        let outcome: Outcome?
        do {
            try await hooks.runBefore(surroundings(nil), context)
            await tell(.start, context)
            outcome = await work()
        } catch {
            outcome = failed(error)
            moments = []
        }
        if let outcome {
            let entry = entry(outcome, duration: ContinuousClock.now - start)
            record(entry, context)
            if outcome.exitCode != Hooks.skipCode {
                await writeMetrics(entry, backups, context)
                await tell(
                    outcome.isSuccess ? .success : .failure(outcome.message ?? "failed"),
                    context
                )
                moments.append(outcome.isSuccess ? .onSuccess : .onFailure)
            }
        }
        await hooks.runLater(moments + [.finally], surroundings(outcome), context)
    }

    private func surroundings(_ outcome: Outcome?) -> CommandSurroundings {
        var surroundings = CommandSurroundings(
            command: command.rawValue,
            stores: stores,
            remote: remote
        )
        surroundings.profile = profile
        surroundings.backup = outcome?.backup
        surroundings.exitCode = outcome?.exitCode
        surroundings.error = outcome?.message
        return surroundings
    }

    private func tell(_ signal: Ping.Signal, _ context: OperationContext) async {
        guard let ping else { return }
        do {
            // An interrupted run is told of too.
            let isInterrupted = (try? context.checkCancellation()) == nil
            try await ping.send(
                signal,
                checkCancellation: isInterrupted ? {} : context.checkCancellation
            )
        } catch {
            context.report(.warning(explain(error)))
        }
    }

    /// The run as the log has it.
    private func entry(_ outcome: Outcome, duration: Duration) -> RunLog.Entry {
        var entry = RunLog.Entry(
            command: command.rawValue,
            profile: profile,
            stores: printable(stores),
            remote: remote,
            began: began,
            // As the log keeps it, so that all tell the same.
            duration: .milliseconds(Int64((duration.inSeconds * 1000).rounded())),
            exitCode: outcome.exitCode
        )
        entry.message = outcome.message
        entry.backup = outcome.backup
        entry.size = outcome.size
        entry.bytes = outcome.bytes
        return entry
    }

    private func record(_ entry: RunLog.Entry, _ context: OperationContext) {
        guard let log else { return }
        do {
            try log.record(entry)
            if tellsLogTrouble, let aside = log.putAside {
                context.report(
                    .warning("the log was damaged and begun anew: it is in '\(printable(aside))'")
                )
            }
        } catch {
            guard tellsLogTrouble else { return }
            context.report(.warning("this run was not logged: \(explain(error))"))
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
        // Where the folder cannot be reached there is nothing to say of it; the run says why.
        if (try? context.checkCancellation()) != nil { metrics.backups = try? await backups() }
        do {
            try metrics.write(to: metricsFile)
        } catch {
            context.report(.warning("the metrics were not written: \(explain(error))"))
        }
    }
}
