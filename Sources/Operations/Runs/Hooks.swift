internal import Files

/// The user's commands that run around an operation, through `/bin/sh -c`.
public struct Hooks: Sendable, Equatable {
    /// The moments at which commands run.
    public enum Moment: String, Sendable, CaseIterable {
        /// First; exit code 75 skips the run, any other failure ends it.
        case before
        /// After the work, whatever its result, before the commands below.
        case after
        case onSuccess = "on_success"
        case onFailure = "on_failure"
        /// Last, whatever happened, even if `before` failed.
        case finally
    }

    public var commands: [Moment: [String]]
    /// The time limit of one command, which is ended after it.
    public var timeout: Duration

    public init(commands: [Moment: [String]] = [:], timeout: Duration = .seconds(600)) {
        self.commands = commands
        self.timeout = timeout
    }

    /// The exit code with which a `before` command skips the run.
    public static let skipCode: Int32 = 75

    /// Runs the commands of `before`, until one fails; throws `HookError.skipped` if it exits with 75.
    func runBefore(_ environment: CommandEnvironment, _ context: OperationContext) async throws {
        for line in commands[.before] ?? [] {
            do {
                try await command(line, .before, environment).run(context)
            } catch HookError.commandFailed(_, _, .exited(Self.skipCode, _)) {
                throw HookError.skipped(command: line)
            }
        }
    }

    /// Runs the commands after a run: all of them, even if one fails.
    ///
    /// None of them changes the run's result: a failure is reported as a warning. After an interruption, only the
    /// commands of `finally` run, to their end: a second signal ends the program and them.
    func runLater(
        _ moments: [Moment],
        _ environment: CommandEnvironment,
        _ context: OperationContext
    ) async {
        var context = context
        var isInterrupted = (try? context.checkCancellation()) == nil
        // The hooks of an interrupted run also run.
        var moments = moments
        if isInterrupted { context.checkCancellation = {} }
        while !moments.isEmpty {
            let moment = moments.removeFirst()
            for line in commands[moment] ?? [] {
                do {
                    try await command(line, moment, environment).run(context)
                } catch {
                    context.warn(explain(error))
                    guard error is CancellationError, !isInterrupted else { continue }
                    isInterrupted = true
                    context.checkCancellation = {}
                    moments.removeAll { $0 != .finally }
                    if moment != .finally { break }
                }
            }
        }
    }

    private func command(
        _ line: String,
        _ moment: Moment,
        _ environment: CommandEnvironment
    ) -> UserCommand {
        UserCommand(line: line, event: moment.rawValue, environment: environment, timeout: timeout)
    }
}
