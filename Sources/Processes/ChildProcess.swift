internal import Files
internal import Subprocess
internal import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A program that runs as a child of this one; it never gets a terminal.
public struct ChildProcess: Sendable {
    /// The program's name, looked for in `PATH`, or its path.
    public var program: String
    public var arguments: [String]
    /// Changes to this process's environment; `nil` takes a variable out.
    public var environment: [String: String?]
    /// Its standard input, of at most 64 KiB: as much as a pipe holds.
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

    /// Returns a command line, for `/bin/sh -c`.
    public static func shell(
        _ line: String,
        environment: [String: String?] = [:]
    ) -> ChildProcess {
        // The limit with which this program was started, not the one that it has raised.
        let limit = OpenFilesLimit.original.map { "ulimit -S -n \($0); " } ?? ""
        return ChildProcess("/bin/sh", ["-c", limit + line], environment: environment)
    }

    /// How a program ended by itself.
    public enum Ending: Sendable, Equatable {
        /// With an exit code.
        case exited(Int32)
        /// By a signal.
        case signalled(Int32)
    }

    /// The output of a program, and how it ended.
    public struct Capture: Sendable {
        public var ending: Ending
        public var output: [UInt8]
        public var errors: String
    }

    private static let inputLimit = 64 << 10
    private static let outputLimit = 64 << 20
    private static let errorsLimit = 1 << 20

    /// Runs the program to its end, however long that takes, and keeps all that it writes.
    ///
    /// It shares this process's group, so that a terminal interrupts both.
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

    /// Returns the end of a pipe with the input in it.
    ///
    /// It is filled before anybody reads it: writing to a program that has ended brings a SIGPIPE.
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
    /// Lets reads and writes fail at once instead of waiting (O_NONBLOCK of open(2)).
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
