public import Files
internal import Foundation
internal import Subprocess
internal import SystemPackage

/// A program that runs as a child process, usually without a terminal.
public struct ChildProcess: Sendable {
    /// The program's path, or its name in `PATH`.
    public var program: String
    public var arguments: [String]
    /// The changes to this process's environment; `nil` removes a variable.
    public var environment: [String: String?]
    /// The standard input, at most the 64 KiB that fit into a pipe.
    public var input: [UInt8]

    public init(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        input: [UInt8] = []
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.input = input
    }

    /// Returns a process that runs a command line with `/bin/sh -c`.
    public static func shell(
        _ line: String,
        environment: [String: String?] = [:]
    ) -> ChildProcess {
        // This is the limit with which this program was started, before it raised it.
        let limit = OpenFilesLimit.original.map { "ulimit -S -n \($0); " } ?? ""
        return ChildProcess("/bin/sh", ["-c", limit + line], environment: environment)
    }

    /// The way in which a program ended by itself.
    public enum Ending: Sendable, Equatable {
        /// It ended with an exit code.
        case exited(Int32)
        /// A signal ended it.
        case signalled(Int32)
    }

    /// The output of a program, and the way in which it ended.
    public struct Capture: Sendable {
        public var ending: Ending
        public var output: [UInt8]
        public var errors: String
    }

    private static let inputLimit = 64 << 10
    private static let outputLimit = 64 << 20
    private static let errorsLimit = 1 << 20

    /// Runs the program to its end without a time limit, and returns its whole output.
    ///
    /// It stays in this process's group, so that a terminal interrupts both.
    ///
    /// - Throws: `ProcessError`.
    public func capture() async throws -> Capture {
        let result: ExecutionResult<Void, BytesOutput, StringOutput<UTF8>>
        do {
            result = try await Subprocess.run(
                configuration,
                input: .fileDescriptor(try openInput(), closeAfterSpawningProcess: true),
                output: .bytes(limit: Self.outputLimit),
                error: .string(limit: Self.errorsLimit)
            )
        } catch let error as SubprocessError {
            throw processError(error)
        }
        return Capture(
            ending: Ending(result.terminationStatus),
            output: result.standardOutput,
            errors: result.standardError
        )
    }

    /// Returns the reading end of a pipe that contains the input.
    ///
    /// The pipe is filled before the program starts: writing to a program that has ended raises SIGPIPE.
    func openInput() throws -> FileDescriptor {
        guard input.count <= Self.inputLimit else {
            throw ProcessError.cannotRun(program, reason: "its input is larger than 64 KiB")
        }
        let pipe = try makePipe()
        defer { try? pipe.writing.close() }
        do {
            pipe.writing.stopBlocking()
            try pipe.writing.writeAll(input)
            return pipe.reading
        } catch {
            try? pipe.reading.close()
            throw ProcessError.cannotRun(program, reason: "\(error)")
        }
    }

    func makePipe() throws -> PipeEnds {
        do {
            return try PipeEnds()
        } catch {
            throw ProcessError.cannotRun(program, reason: error.description)
        }
    }

    var configuration: Configuration {
        let changes = environment.map { (Environment.Key(stringLiteral: $0.key), $0.value) }
        return Configuration(
            executable: program.contains("/") ? .path(FilePath(program)) : .name(program),
            arguments: Arguments(arguments),
            environment: .inherit.updating(Dictionary(changes) { $1 })
        )
    }

    func processError(_ error: SubprocessError) -> ProcessError {
        error.code == .executableNotFound
            ? .notInstalled(program) : .cannotRun(program, reason: error.description)
    }
}

extension FileDescriptor {
    /// Makes reads and writes fail at once instead of waiting (O_NONBLOCK of open(2)).
    func stopBlocking() {
        _ = fcntl(rawValue, F_SETFL, fcntl(rawValue, F_GETFL) | O_NONBLOCK)
    }
}

extension ChildProcess.Ending {
    init(_ status: TerminationStatus) {
        switch status {
        case .exited(let code): self = .exited(code)
        case .signaled(let number): self = .signalled(number)
        }
    }
}

extension ChildProcess {
    /// Runs the program to its end on this process's terminal.
    ///
    /// Its standard output goes to this process's standard error, since it is no answer of this program.
    ///
    /// - Returns: the way in which it ended.
    /// - Throws: `ProcessError`.
    public func runOnTerminal() async throws -> Ending {
        do {
            let result = try await Subprocess.run(
                configuration,
                input: .currentStandardInput,
                output: .currentStandardError,
                error: .currentStandardError
            )
            return Ending(result.terminationStatus)
        } catch let error as SubprocessError {
            throw processError(error)
        }
    }
}

/// An error in starting a program.
///
/// The payload contains its name.
public enum ProcessError: ExplainedError, Equatable {
    /// The program is not in `PATH`.
    case notInstalled(String)
    /// The system could not start or observe the program.
    case cannotRun(String, reason: String)

    public var description: String {
        switch self {
        case .notInstalled(let program): "'\(program)' is not installed"
        case .cannotRun(let program, let reason): "cannot run '\(program)': \(reason)"
        }
    }
}
