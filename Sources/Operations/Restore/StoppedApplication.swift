internal import Files
/// The application that a restore stops, and starts again.
///
/// Whether it is stopped stands in the restore journal, and nowhere else.
struct StoppedApplication {
    private let commands: ApplicationCommands
    private let environment: CommandEnvironment
    private let context: OperationContext

    init(
        _ commands: ApplicationCommands,
        _ environment: CommandEnvironment,
        _ context: OperationContext
    ) {
        self.commands = commands
        self.environment = environment
        self.context = context
    }

    /// Stops the application, runs a body, and starts the application again, whatever became of the body.
    ///
    /// The restore journal says that it is stopped from before the first command that stops it until it
    /// is started. It is not started on data that is not in its place: it may begin anew there, and be
    /// in the way of whoever puts it right by hand.
    ///
    /// - Parameters:
    ///   - swap: has the restore journal.
    ///   - again: whether it has started on data that is about to go: if it does not stop, that is told,
    ///     and nobody may interrupt.
    ///   - body: leaves all as it was if it throws, or the phase says that it could not.
    /// - Returns: what the body returns, and whether every command succeeded that starts the application;
    ///   what failed was told.
    /// - Throws: `HookError.commandFailed`, `CancellationError` if it does not stop; what the body
    ///   throws.
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
                    context.report(
                        .warning("the application was not started: its data is not in place")
                    )
                }
                throw error
            }
            await start(&swap)
            throw error
        }
    }

    /// Starts it.
    ///
    /// Nobody may interrupt this; what fails is told. If the restore journal cannot be written, only a
    /// crash would make somebody miss it.
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
            // What is over needs no journal that says so.
            if isNoted, isStarted, ![.staging, .settled].contains(swap.journal.phase) {
                try swap.noteApplication(isStopped: false)
            }
        } catch {
            tellNotWritten(error)
        }
        return isStarted
    }

    private func tellNotWritten(_ error: any Error) {
        context.report(.note("the restore journal was not written: \(explain(error))"))
    }

    /// Asks whether it is well.
    ///
    /// - Throws: `HookError.commandFailed`; `CancellationError`.
    func verify() async throws {
        for line in commands.verify { try await run(line, "verify", context) }
    }

    /// Runs all, whatever becomes of one.
    ///
    /// - Returns: whether all succeeded.
    @discardableResult
    private func runAll(_ lines: [String], _ event: String) async -> Bool {
        var context = context
        context.checkCancellation = {}
        var isDone = true
        for line in lines {
            do {
                try await run(line, event, context)
            } catch {
                context.report(.warning(explain(error)))
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
