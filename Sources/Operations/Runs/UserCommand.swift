internal import Files
internal import Processes
internal import Synchronization
public import SystemPackage

/// What a command of the user's is told of the run that it belongs to, as environment variables.
public struct CommandSurroundings: Sendable, Equatable {
    /// Which command runs: `backup`.
    public var command: String
    public var profile: String?
    public var stores: FilePath
    /// The remote folder's address, as `--remote` takes it.
    public var remote: String
    /// The backup's file name, once it is known.
    public var backup: String?
    /// How the run ended, once it has.
    public var exitCode: Int32?
    public var error: String?

    public init(command: String, stores: FilePath, remote: String) {
        self.command = command
        self.stores = stores
        self.remote = remote
    }

    /// An environment has little room, and no NUL.
    private static let errorLimit = 4000

    /// The variables; `nil` for what is not known, so that none is left from a run around this one.
    func variables(event: String) -> [String: String?] {
        [
            "GROCERYDUDE_EVENT": event,
            "GROCERYDUDE_COMMAND": command,
            "GROCERYDUDE_PROFILE": profile,
            "GROCERYDUDE_STORES": stores.string,
            "GROCERYDUDE_REMOTE": remote,
            "GROCERYDUDE_BACKUP": backup,
            "GROCERYDUDE_EXIT_CODE": exitCode.map(String.init),
            "GROCERYDUDE_ERROR": error.map { printable(bytes: $0.prefix(Self.errorLimit).utf8) },
        ]
    }
}

/// Why a command of the user's is no success.
public enum CommandFailure: Sendable, Equatable, CustomStringConvertible {
    /// With an exit code, and the last line that it wrote.
    case exited(Int32, lastLine: String?)
    case signalled(Int32)
    case tookTooLong(Duration)
    /// It could not be started.
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

/// A command line of the user's, which `/bin/sh -c` runs.
struct UserCommand {
    var line: String
    /// The moment it runs at, by its name in a configuration: `before`, `verify`.
    var event: String
    var surroundings: CommandSurroundings
    var timeout: Duration

    /// More than that of one command's output is not shown.
    private static let linesLimit = 1000

    /// Runs it, and tells each line that it writes.
    ///
    /// - Throws: `OperationError.commandFailed`; `CancellationError` where the user stopped it.
    func run(_ context: OperationContext) async throws {
        let output = CommandOutput(linesLimit: Self.linesLimit)
        let event = event
        let tell = { @Sendable (lines: [String]) in
            for line in lines { context.report(.said(by: event, line)) }
        }
        let process = ChildProcess.shell(line, environment: surroundings.variables(event: event))
        let outcome: ChildProcess.Outcome
        do {
            outcome = try await process.run(
                ChildProcess.Limits(timeout: timeout),
                checkCancellation: context.checkCancellation
            ) { tell(output.receive($0)) }
        } catch let error as ProcessError {
            throw failure(.notRun(error.description))
        }
        tell(output.finish())
        if outcome.leftOutputOpen {
            context.report(
                .note("'\(event)' left a process in the background with its output open")
            )
        }
        switch outcome.reason {
        case .ended(.exited(0)): return
        case .ended(.exited(let code)): throw failure(.exited(code, lastLine: output.lastLine))
        case .ended(.signalled(let number)): throw failure(.signalled(number))
        case .tookTooLong: throw failure(.tookTooLong(timeout))
        case .interrupted: throw CancellationError()
        }
    }

    private func failure(_ reason: CommandFailure) -> OperationError {
        .commandFailed(event: event, command: line, reason)
    }
}

/// What a program writes, as lines that are safe to print: not too many of them.
final class CommandOutput: Sendable {
    private struct State {
        var reader = LineReader()
        var count = 0
        var lastLine: String?
    }

    private let linesLimit: Int
    private let state = Mutex(State())

    init(linesLimit: Int) {
        self.linesLimit = linesLimit
    }

    /// The last line that was not empty.
    var lastLine: String? { state.withLock { $0.lastLine } }

    /// The lines to show of what came.
    func receive(_ bytes: [UInt8]) -> [String] {
        state.withLock { take($0.reader.lines(bytes), &$0) }
    }

    /// The last line to show, if it had no end.
    func finish() -> [String] {
        state.withLock { take($0.reader.finish().map { [$0] } ?? [], &$0) }
    }

    private func take(_ lines: [[UInt8]], _ state: inout State) -> [String] {
        var shown: [String] = []
        for line in lines where !line.isEmpty {
            let text = printable(bytes: line)
            state.lastLine = text
            state.count += 1
            if state.count <= linesLimit { shown.append(text) }
            if state.count == linesLimit + 1 { shown.append("(more than that is not shown)") }
        }
        return shown
    }
}
