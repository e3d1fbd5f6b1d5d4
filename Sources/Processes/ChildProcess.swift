internal import Files
internal import Subprocess
internal import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A program that runs as a child of this one, with nothing but what it is given here.
///
/// Its standard input is what `input` holds, or empty. It never gets a terminal.
public struct ChildProcess: Sendable {
    /// The program's name, looked for in `PATH`, or its path.
    public var program: String
    public var arguments: [String]
    /// Changes to this process's environment; `nil` takes a variable out.
    public var environment: [String: String?]
    /// At most 64 KiB: what a pipe holds.
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

    /// A command line, for `/bin/sh -c`.
    public static func shell(
        _ line: String,
        environment: [String: String?] = [:]
    ) -> ChildProcess {
        // As this program was started, and not as it goes on.
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
    /// It shares this process's group, so that what interrupts one from a terminal reaches both.
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

    /// A pipe with the input in it, to be read to its end.
    ///
    /// It is filled before anybody reads it: to write to a program that has ended would bring a
    /// SIGPIPE.
    func openInput() throws -> FileDescriptor {
        guard input.count <= Self.inputLimit else {
            throw ProcessError.cannotRun(program, reason: "its input is larger than 64 KiB")
        }
        do {
            let pipe = try PipeEnds()
            defer { try? pipe.writing.close() }
            do {
                let flags = fcntl(pipe.writing.rawValue, F_GETFL)
                _ = fcntl(pipe.writing.rawValue, F_SETFL, flags | O_NONBLOCK)
                if !input.isEmpty { try pipe.writing.writeAll(input) }
                return pipe.reading
            } catch {
                try? pipe.reading.close()
                throw error
            }
        } catch let error as Errno {
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

extension ChildProcess.Ending {
    init(_ status: TerminationStatus) {
        switch status {
        case .exited(let code): self = .exited(code)
        case .signaled(let number): self = .signalled(number)
        }
    }
}
