internal import Files

/// The application that a restore stops and starts again.
///
/// Only the restore journal records whether it is stopped.
struct StoppedApplication {
    let commands: ApplicationCommands
    let environment: CommandEnvironment
    let context: OperationContext

    /// Stops the application, runs a closure, and starts the application again, even if the closure throws.
    ///
    /// The restore journal records that it is stopped, from before the first stop command until it is started. It is
    /// not started if its data is not in place: it might create new data there, which would hinder a manual repair.
    ///
    /// - Parameters:
    ///   - swap: the swap, which has the restore journal.
    ///   - again: whether the application runs on data that is about to be removed. Failures to stop it are then
    ///     tolerated, and cancellation is ignored.
    ///   - body: the closure; if it throws, everything is as before, or the phase shows that it is not.
    /// - Returns: the closure's result, and whether every start command succeeded; failures were reported.
    /// - Throws: `HookError.commandFailed`, `CancellationError` if the application does not stop; errors of the
    ///   closure.
    func whileStopped<Result>(
        _ swap: inout NameSwap,
        again: Bool = false,
        _ body: (inout NameSwap) async throws -> Result
    ) async throws -> (Result, isStarted: Bool) {
        do {
            if !commands.stop.isEmpty { try swap.noteApplication(isStopped: true) }
        } catch  where again {
            warnNotWritten(error)
        }
        do {
            if again {
                await runAll(commands.stop, "stop")
            } else {
                for line in commands.stop { try await run(line, "stop", context) }
            }
            let result = try await body(&swap)
            return (result, await start(&swap))
        } catch {
            guard [.staging, .settled].contains(swap.journal.phase) else {
                if !commands.start.isEmpty {
                    context.warn("the application was not started: its data is not in place")
                }
                throw error
            }
            await start(&swap)
            throw error
        }
    }

    /// Starts the application; cancellation is ignored, and failures are reported.
    ///
    /// If the restore journal cannot be written, that matters only after a crash.
    @discardableResult
    private func start(_ swap: inout NameSwap) async -> Bool {
        let isNoted = swap.journal.isApplicationStopped
        do {
            if isNoted, swap.journal.phase == .settled { try swap.write() }
        } catch {
            warnNotWritten(error)
        }
        let isStarted = await runAll(commands.start, "start")
        do {
            // A restore that is over needs no journal to record that.
            if isNoted, isStarted, ![.staging, .settled].contains(swap.journal.phase) {
                try swap.noteApplication(isStopped: false)
            }
        } catch {
            warnNotWritten(error)
        }
        return isStarted
    }

    private func warnNotWritten(_ error: any Error) {
        context.note("the restore journal was not written: \(explain(error))")
    }

    /// Runs the commands that check the application.
    func verify() async throws {
        for line in commands.verify { try await run(line, "verify", context) }
    }

    /// Runs all commands, even if one fails, and returns whether all succeeded.
    @discardableResult
    private func runAll(_ lines: [String], _ event: String) async -> Bool {
        var context = context
        context.checkCancellation = {}
        var isDone = true
        for line in lines {
            do {
                try await run(line, event, context)
            } catch {
                context.warn(explain(error))
                isDone = false
            }
        }
        return isDone
    }

    private func run(_ line: String, _ event: String, _ context: OperationContext) async throws {
        try await UserCommand(
            line: line,
            event: event,
            environment: environment,
            timeout: commands.timeout
        ).run(context)
    }
}

/// The user's commands that a restore runs before and after the exchange, through `/bin/sh -c`.
public struct ApplicationCommands: Sendable, Equatable {
    /// The commands that stop the application before its data is replaced.
    ///
    /// If one fails, the restore ends.
    public var stop: [String]
    /// The commands that start the application again, whether the restore succeeds or fails.
    public var start: [String]
    /// The commands that must succeed on the restored data after the start.
    ///
    /// If one fails, the restore rolls back.
    public var verify: [String]
    /// The time limit of one command, which is ended after it.
    public var timeout: Duration
    /// The profile that the commands come from; `nil` if they come from none.
    public var profile: String?

    public init(
        stop: [String] = [],
        start: [String] = [],
        verify: [String] = [],
        timeout: Duration = .seconds(600)
    ) {
        self.stop = stop
        self.start = start
        self.verify = verify
        self.timeout = timeout
    }
}
