internal import Files
internal import Processes

/// A command line of the user, which `/bin/sh -c` runs.
struct UserCommand {
    var line: String
    /// The event for which the line runs, as the configuration names it: `before`, `verify`.
    var event: String
    var environment: CommandEnvironment
    var timeout: Duration

    /// The greatest number of shown output lines of one command.
    private static let linesLimit = 1000

    /// Runs the line, and reports each line of its output; throws `HookError.commandFailed` if it fails.
    func run(_ context: OperationContext) async throws {
        let output = CommandOutput(linesLimit: Self.linesLimit)
        let event = event
        let report = { @Sendable (lines: [String]) in
            for line in lines { context.report(.said(by: event, line)) }
        }
        let process = ChildProcess.shell(line, environment: environment.variables(event: event))
        let outcome: ChildProcess.Outcome
        do {
            outcome = try await process.run(
                ChildProcess.Limits(timeout: timeout),
                checkCancellation: context.checkCancellation
            ) { report(output.receive($0)) }
        } catch let error as ProcessError {
            throw failure(.notRun(error.description))
        }
        report(output.finish())
        if outcome.leftOutputOpen {
            context.note("'\(event)' left a process in the background with its output open")
        }
        switch outcome.reason {
        case .ended(.exited(0)): return
        case .ended(.exited(let code)): throw failure(.exited(code, lastLine: output.lastLine))
        case .ended(.signalled(let number)): throw failure(.signalled(number))
        case .tookTooLong: throw failure(.tookTooLong(timeout))
        case .interrupted: throw CancellationError()
        }
    }

    private func failure(_ reason: CommandFailure) -> HookError {
        .commandFailed(event: event, command: line, reason)
    }
}

/// The reason why one of the user's commands failed.
public enum CommandFailure: Sendable, Equatable, CustomStringConvertible {
    /// The command exited with a code; `lastLine` is the last line of its output.
    case exited(Int32, lastLine: String?)
    case signalled(Int32)
    case tookTooLong(Duration)
    /// The command could not be started.
    case notRun(String)

    public var description: String {
        switch self {
        case .exited(let code, let line):
            "exited with \(code)" + (line.map { ": \($0)" } ?? "")
        case .signalled(let number): "was ended by signal \(number)"
        case .tookTooLong(let limit):
            "took longer than \(limit.components.seconds) s and was ended"
        case .notRun(let reason): "did not run: \(reason)"
        }
    }
}
