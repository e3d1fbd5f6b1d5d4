internal import Files

/// The application that a restore stops, and starts again.
///
/// Whether it is stopped stands in the restore journal, and nowhere else.
struct StoppedApplication {
    let commands: ApplicationCommands
    let environment: CommandEnvironment
    let context: OperationContext

    /// Stops the application, runs a body, and starts the application again, whatever became of the body.
    ///
    /// The restore journal says that it is stopped from before the first command that stops it until it
    /// is started. It is not started on data that is not in its place: it may begin anew there, and be
    /// in the way of a person who puts it right by hand.
    ///
    /// - Parameters:
    ///   - swap: has the restore journal.
    ///   - again: whether it has started on data that is about to go: it may then fail to stop, and nobody
    ///     may interrupt.
    ///   - body: leaves all as it was if it throws, or the phase says that it could not.
    /// - Returns: the body's result, and whether every command succeeded that starts the application;
    ///   failures were told.
    /// - Throws: `HookError.commandFailed`, `CancellationError` if it does not stop; the body's errors.
    func whileStopped<Result>(
        _ swap: inout any RestoreSwap,
        again: Bool = false,
        _ body: (inout any RestoreSwap) async throws -> Result
    ) async throws -> (Result, isStarted: Bool) {
        do {
            if !commands.stop.isEmpty { try swap.noteApplication(isStopped: true) }
        } catch  where again {
            tellNotWritten(error)
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

    /// Starts it; nobody may interrupt that, and failures are told.
    ///
    /// A restore journal that cannot be written would be missed only after a crash.
    @discardableResult
    private func start(_ swap: inout any RestoreSwap) async -> Bool {
        let isNoted = swap.journal.isApplicationStopped ?? false
        do {
            if isNoted, swap.journal.phase == .settled { try swap.write() }
        } catch {
            tellNotWritten(error)
        }
        let isStarted = await runAll(commands.start, "start")
        do {
            // A restore that is over needs no journal that says so.
            if isNoted, isStarted, ![.staging, .settled].contains(swap.journal.phase) {
                try swap.noteApplication(isStopped: false)
            }
        } catch {
            tellNotWritten(error)
        }
        return isStarted
    }

    private func tellNotWritten(_ error: any Error) {
        context.note("the restore journal was not written: \(explain(error))")
    }

    /// Asks whether it is well.
    func verify() async throws {
        for line in commands.verify { try await run(line, "verify", context) }
    }

    /// Runs all, whatever becomes of one, and returns whether all succeeded.
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
