internal import Files
internal import Foundation
internal import Subprocess
internal import Synchronization
public import SystemPackage

extension ChildProcess {
    /// The time limits of a program.
    public struct Limits: Sendable {
        public var timeout: Duration
        /// The time between SIGTERM and SIGKILL.
        public var grace: Duration

        public init(timeout: Duration, grace: Duration = .seconds(5)) {
            self.timeout = timeout
            self.grace = grace
        }
    }

    /// The result of a supervised program.
    public struct Outcome: Sendable, Equatable {
        public enum Reason: Sendable, Equatable {
            case ended(Ending)
            /// It was ended because it exceeded the time limit.
            case tookTooLong
            /// It was ended because the caller wanted to stop.
            case interrupted
        }

        public var reason: Reason
        /// Whether a process that it left behind still has its output open.
        public var leftOutputOpen: Bool
    }

    /// Runs the program in its own session (setsid(2)) and supervises it.
    ///
    /// If it takes too long or is interrupted, its whole process group gets SIGTERM, and SIGKILL after a grace period.
    /// If it ends by itself, its background processes are left alone. They are not waited for: output is read only
    /// until the program's own end.
    ///
    /// - Parameters:
    ///   - limits: the time limits.
    ///   - standardInput: the source to read from instead of `input`; closed after the program has received it.
    ///   - checkCancellation: called often; throws to interrupt the program.
    ///   - receiveErrors: receives its standard error in parts; if `nil`, `receive` gets that too.
    ///   - receive: receives its standard output in parts.
    /// - Returns: the result.
    /// - Throws: `ProcessError` if it could not be started.
    public func run(
        _ limits: Limits,
        standardInput: FileDescriptor? = nil,
        checkCancellation: @Sendable () throws -> Void = {},
        receiveErrors: (@Sendable ([UInt8]) -> Void)? = nil,
        receive: @escaping @Sendable ([UInt8]) -> Void
    ) async throws -> Outcome {
        var pipes: [PipeEnds] = []
        defer { for pipe in pipes { try? pipe.reading.close() } }
        for _ in 0..<(receiveErrors == nil ? 1 : 2) { pipes.append(try makePipe()) }
        let input: FileDescriptor
        do {
            input = try standardInput ?? openInput()
        } catch {
            for pipe in pipes { try? pipe.writing.close() }
            throw error
        }
        var watch = Watch(
            outputs: zip(pipes, [receive, receiveErrors ?? receive]).map {
                Watch.Output($0.reading, receive: $1)
            },
            limits: limits
        )
        let status = try await start(
            input: .fileDescriptor(input, closeAfterSpawningProcess: true),
            pipes
        ) { process in
            await watch.run(process, checkCancellation)
        }
        return Outcome(
            reason: watch.reason ?? .ended(Ending(status)),
            leftOutputOpen: watch.isOutputOpen
        )
    }

    /// Starts the program with one pipe for both outputs or one for each, and runs `body` meanwhile.
    private func start(
        input: FileDescriptorInput,
        _ pipes: [PipeEnds],
        _ body: (pid_t) async -> Void
    ) async throws -> TerminationStatus {
        var configuration = configuration
        configuration.platformOptions.createSession = true
        let outputs = pipes.map {
            FileDescriptorOutput.fileDescriptor($0.writing, closeAfterSpawningProcess: true)
        }
        do {
            if outputs.count == 1 {
                return try await Subprocess.run(
                    configuration,
                    input: input,
                    output: outputs[0],
                    error: .combinedWithOutput
                ) { await body($0.processIdentifier.value) }.terminationStatus
            }
            return try await Subprocess.run(
                configuration,
                input: input,
                output: outputs[0],
                error: outputs[1]
            ) { await body($0.processIdentifier.value) }.terminationStatus
        } catch let error as SubprocessError {
            throw processError(error)
        }
    }

    /// Kills the supervised program and its whole group at once.
    ///
    /// It is for a signal handler that ends this process, and makes only calls that are safe there (signal-safety(7)).
    public static func killWatched() {
        let group = Watch.group.load(ordering: .relaxed)
        if group > 0 { kill(-group, SIGKILL) }
    }
}

/// The supervision of one program until it has ended.
///
/// The program is not reaped before that, so that no other process gets its number or its group's.
private struct Watch {
    /// The group of the supervised program, for `killWatched()`; if there are several, of the last one.
    static let group = Atomic<Int32>(0)

    /// The time to read the rest of the output, since a background process may continue to write.
    private static let lastWords = Duration.milliseconds(200)

    /// One output of the program, and its receiver.
    struct Output {
        let descriptor: FileDescriptor
        let receive: @Sendable ([UInt8]) -> Void
        fileprivate(set) var isOpen = true

        init(_ descriptor: FileDescriptor, receive: @escaping @Sendable ([UInt8]) -> Void) {
            self.descriptor = descriptor
            self.receive = receive
            descriptor.stopBlocking()
        }

        /// Reads as much as a pipe holds, without waiting.
        ///
        /// - Returns: whether there was any data.
        mutating func read() -> Bool {
            guard isOpen else { return false }
            let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                // The read fails if there is no data yet.
                let buffer = UnsafeMutableRawBufferPointer(buffer)
                guard let read = try? descriptor.read(into: buffer) else { return }
                if read == 0 { isOpen = false }
                count = read
            }
            if !bytes.isEmpty { receive(bytes) }
            return !bytes.isEmpty
        }
    }

    private var outputs: [Output]
    let limits: ChildProcess.Limits
    private(set) var reason: ChildProcess.Outcome.Reason?
    var isOutputOpen: Bool { outputs.contains(where: \.isOpen) }

    init(outputs: [Output], limits: ChildProcess.Limits) {
        self.outputs = outputs
        self.limits = limits
    }

    mutating func run(_ process: pid_t, _ checkCancellation: @Sendable () throws -> Void) async {
        Self.group.store(process, ordering: .relaxed)
        defer { Self.group.store(0, ordering: .relaxed) }
        let start = ContinuousClock.now
        while !Self.hasEnded(process) {
            if ContinuousClock.now - start > limits.timeout {
                reason = .tookTooLong
            } else if Task.isCancelled || (try? checkCancellation()) == nil {
                reason = .interrupted
            }
            if reason != nil { return await end(process) }
            if !read() { await Self.pause() }
        }
        await drain()
    }

    /// Ends the whole group, with SIGTERM first.
    private mutating func end(_ process: pid_t) async {
        kill(-process, SIGTERM)
        let start = ContinuousClock.now
        // The program may have ended while others of its group keep the output open.
        while ContinuousClock.now - start < limits.grace {
            if Self.hasEnded(process), !isOutputOpen { break }
            if !read() { await Self.pause() }
        }
        kill(-process, SIGKILL)
        while !Self.hasEnded(process) { await Self.pause() }
        await drain()
    }

    private mutating func drain() async {
        let start = ContinuousClock.now
        while isOutputOpen {
            let hasRead = read()
            guard ContinuousClock.now - start < Self.lastWords else { return }
            if !hasRead, isOutputOpen { await Self.pause() }
        }
    }

    private mutating func read() -> Bool {
        var hasRead = false
        for index in outputs.indices where outputs[index].read() { hasRead = true }
        return hasRead
    }

    /// Waits for a time that is unnoticeable, but long enough to keep the loop cheap.
    private static func pause() async {
        // `Task.sleep` alone does not suffice, since a cancelled task does not sleep.
        await Task { try? await Task.sleep(for: .milliseconds(5)) }.value
    }

    /// Returns whether a process has ended; it stays a zombie (waitid(2), WNOWAIT).
    private static func hasEnded(_ process: pid_t) -> Bool {
        var info = siginfo_t()
        let status = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
        return status != 0 ? errno != EINTR : info.si_signo == SIGCHLD
    }
}
