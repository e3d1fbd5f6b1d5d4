internal import Remotes
internal import Synchronization

/// Commands of the user's that a restore runs around the exchange, through `/bin/sh -c`.
public struct ApplicationCommands: Sendable, Equatable {
    /// Stop the application before its data is replaced; one that fails ends the restore.
    public var stop: [String]
    /// Start it again, whatever became of the restore.
    public var start: [String]
    /// Have to succeed once it has started on what was restored, or the restore rolls back.
    public var verify: [String]
    /// How long one command may take; then it is ended.
    public var timeout: Duration

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

extension RestoreBackup {
    func application(around backup: Backup, _ paths: RestorePaths) -> StoppedApplication {
        var surroundings = CommandEnvironment(
            command: "restore",
            stores: paths.live,
            remote: remote.address
        )
        surroundings.backup = backup.name
        return StoppedApplication(options.application, surroundings, context)
    }
}

/// The application that a restore has stopped, and has to start again.
final class StoppedApplication: Sendable {
    private struct State {
        var isStopped = false
        var hasFailed = false
    }

    private let commands: ApplicationCommands
    private let surroundings: CommandEnvironment
    private let context: OperationContext
    private let state = Mutex(State())

    init(
        _ commands: ApplicationCommands,
        _ surroundings: CommandEnvironment,
        _ context: OperationContext
    ) {
        self.commands = commands
        self.surroundings = surroundings
        self.context = context
    }

    /// Whether it is stopped, or half stopped.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Whether every command succeeded that starts it.
    var isStarted: Bool { state.withLock { !$0.hasFailed } }

    /// Stops it, once.
    ///
    /// - Throws: `HookError.commandFailed`; `CancellationError`. It may be half stopped then.
    func stop() async throws {
        let wasStopped = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped
        }
        guard !wasStopped else { return }
        for line in commands.stop { try await run(line, "stop", context) }
    }

    /// Stops it after it has started on data that is about to go; what fails is told.
    func stopAgain() async {
        state.withLock { $0.isStopped = true }
        await runAll(commands.stop, "stop")
    }

    /// Starts it, if it was stopped.
    ///
    /// Nobody may interrupt this; what fails is told.
    func start() async {
        let isStopped = state.withLock { state in
            defer { state.isStopped = false }
            return state.isStopped
        }
        guard isStopped else { return }
        if await !runAll(commands.start, "start") { state.withLock { $0.hasFailed = true } }
    }

    /// Starts it after a restore that failed, unless its data is not in its place: an application may
    /// begin anew there, and be in the way of who puts it right by hand.
    func start(after error: any Error) async {
        guard case OperationError.rollbackFailed = error else { return await start() }
        if !commands.start.isEmpty, state.withLock({ $0.isStopped }) {
            context.report(.warning("the application was not started: its data is not in place"))
        }
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
            environment: surroundings,
            timeout: commands.timeout
        ).run(context)
    }
}
