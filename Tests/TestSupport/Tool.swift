internal import Files
internal import Foundation
public import SystemPackage

/// A program that a test runs.
public enum Tool {
    /// What became of it.
    public struct Outcome: Sendable {
        /// The exit code, or 128 and the signal that ended it.
        public var status: Int32
        public var output: [UInt8]
        public var errors: String

        public init(status: Int32, output: [UInt8], errors: String) {
            self.status = status
            self.output = output
            self.errors = errors
        }

        /// Standard output as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// It did not do as it should.
    public enum Failure: Error, CustomStringConvertible {
        case notInstalled(String)
        case tookTooLong(String)
        case failed(String, Outcome)

        public var description: String {
            switch self {
            case .notInstalled(let name): "\(name) is not installed"
            case .tookTooLong(let name): "\(name) took too long and was ended"
            case .failed(let name, let outcome):
                "\(name) exited with \(outcome.status): \(outcome.errors)\(outcome.text.prefix(2000))"
            }
        }
    }

    /// Whether a program is in one of the directories of `PATH`.
    public static func isInstalled(_ name: String) -> Bool {
        find(name) != nil
    }

    /// A program that this package builds, beside the tests.
    public static func product(_ name: String) -> String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent(name).path
    }

    private static func find(_ name: String) -> String? {
        if name.contains("/") { return name }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program to its end.
    ///
    /// The environment is added to this process's own. The program is looked for in `PATH`, gets
    /// the input or nothing as its standard input, and is killed where it takes longer than the
    /// timeout.
    ///
    /// - Throws: `Failure` where it is not installed or took too long, whatever its exit code.
    public static func run(
        _ name: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        directory: FilePath? = nil,
        input: [UInt8] = [],
        timeout: Duration = .seconds(60)
    ) throws -> Outcome {
        // Files and not pipes: nothing to drain, and no other child can hold their end open.
        let scratch = try ScratchDirectory(
            in: FilePath(FileManager.default.temporaryDirectory.path)
        )
        let process = try prepare(name, arguments, environment, directory)
        let files = ["input", "output", "errors"].map { scratch.path.appending($0) }
        for path in files { _ = try File.create(path) }
        try Data(input).write(to: URL(fileURLWithPath: files[0].string))
        let handles = [
            FileHandle(forReadingAtPath: files[0].string),
            FileHandle(forWritingAtPath: files[1].string),
            FileHandle(forWritingAtPath: files[2].string),
        ]
        // A process that has ended may be kept for long, with what it was given; with a thousand open
        // descriptors, Foundation crashes as it starts the next.
        defer { for handle in handles { try? handle?.close() } }
        process.standardInput = handles[0]
        process.standardOutput = handles[1]
        process.standardError = handles[2]
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        let seconds = Double(timeout.components.seconds)
        guard ended.wait(timeout: .now() + seconds) == .success else {
            kill(process.processIdentifier, SIGKILL)
            // A child of its own that goes on keeps Foundation from noticing the end.
            _ = ended.wait(timeout: .now() + 10)
            throw Failure.tookTooLong(name)
        }
        return try Outcome(
            status: status(of: process),
            output: [UInt8](Data(contentsOf: URL(fileURLWithPath: files[1].string))),
            errors: String(contentsOfFile: files[2].string, encoding: .utf8)
        )
    }

    /// Runs a program that has to end with 0, and returns its standard output.
    ///
    /// - Throws: `Failure.failed` where it ends with another.
    @discardableResult
    public static func check(
        _ name: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        directory: FilePath? = nil,
        input: [UInt8] = []
    ) throws -> String {
        let outcome = try run(
            name,
            arguments,
            environment: environment,
            directory: directory,
            input: input
        )
        guard outcome.status == 0 else { throw Failure.failed(name, outcome) }
        return outcome.text
    }

    fileprivate static func prepare(
        _ name: String,
        _ arguments: [String],
        _ environment: [String: String],
        _ directory: FilePath?
    ) throws -> Process {
        guard let program = find(name) else { throw Failure.notInstalled(name) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        // An empty value removes a variable.
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .filter { environment[$0.key] != "" }
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory.string) }
        return process
    }

    fileprivate static func status(of process: Process) -> Int32 {
        let status = process.terminationStatus
        return process.terminationReason == .uncaughtSignal ? 128 + status : status
    }
}

/// A program that runs beside the test, and is killed with the last reference to it.
public final class RunningTool {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()
    private let ended = DispatchSemaphore(value: 0)

    public var processIdentifier: Int32 { process.processIdentifier }

    /// Starts a program; see `Tool.run`.
    public init(
        _ name: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        directory: FilePath? = nil
    ) throws {
        process = try Tool.prepare(name, arguments, environment, directory)
        process.standardInput = input
        process.standardOutput = output
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    deinit {
        if process.isRunning { kill() }
    }

    /// Waits for the next line of its standard output, without its end; `nil` where it has ended.
    public func readLine() throws -> String? {
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Writes a line to its standard input.
    public func writeLine(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends its standard input.
    public func closeInput() throws {
        try input.fileHandleForWriting.close()
    }

    /// Sends it a signal.
    public func signal(_ number: Int32) {
        _ = Foundation.kill(processIdentifier, number)
    }

    /// Kills it with SIGKILL, and waits until it is gone.
    public func kill() {
        signal(SIGKILL)
        wait()
    }

    /// Waits until it ends.
    ///
    /// - Returns: the exit code, or 128 and the signal that ended it.
    @discardableResult
    public func wait() -> Int32 {
        ended.wait()
        ended.signal()
        return Tool.status(of: process)
    }
}
