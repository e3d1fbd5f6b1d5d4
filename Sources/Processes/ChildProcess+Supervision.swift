internal import Files
internal import Subprocess
internal import Synchronization
internal import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension ChildProcess {
    /// How long a program may take.
    public struct Limits: Sendable {
        public var timeout: Duration
        /// How long it has between SIGTERM and SIGKILL.
        public var grace: Duration

        public init(timeout: Duration, grace: Duration = .seconds(5)) {
            self.timeout = timeout
            self.grace = grace
        }
    }

    /// The end of a program that was watched.
    public struct Outcome: Sendable, Equatable {
        public enum Reason: Sendable, Equatable {
            case ended(Ending)
            /// It was ended because it took too long.
            case tookTooLong
            /// It was ended because its caller wanted to stop.
            case interrupted
        }

        public var reason: Reason
        /// Whether a process that it left behind still has its output open.
        public var leftOutputOpen: Bool
    }

    /// Runs the program in a session of its own (setsid(2)) and watches it.
    ///
    /// If it takes too long or is interrupted, its whole process group gets SIGTERM, and a while later
    /// SIGKILL. If it ends by itself, its processes in the background are left alone, and not waited
    /// for: its output is read until its own end.
    ///
    /// - Parameters:
    ///   - limits: how long it may take.
    ///   - checkCancellation: called often; an error that it throws interrupts the program.
    ///   - receive: gets its standard output and standard error as they come.
    /// - Returns: how it ended.
    /// - Throws: `ProcessError` if it could not be started.
    public func run(
        _ limits: Limits,
        checkCancellation: @Sendable () throws -> Void = {},
        receive: @Sendable ([UInt8]) -> Void
    ) async throws -> Outcome {
        var configuration = configuration
        configuration.platformOptions.createSession = true
        let standardInput = try openInput()
        let pipe: PipeEnds
        do {
            pipe = try makePipe()
        } catch {
            try? standardInput.close()
            throw error
        }
        defer { try? pipe.reading.close() }
        var watch = Watch(output: pipe.reading, limits: limits)
        do {
            let result = try await Subprocess.run(
                configuration,
                input: .fileDescriptor(standardInput, closeAfterSpawningProcess: true),
                output: .fileDescriptor(pipe.writing, closeAfterSpawningProcess: true),
                error: .combinedWithOutput
            ) { execution in
                await watch.run(execution.processIdentifier.value, checkCancellation, receive)
            }
            return Outcome(
                reason: watch.reason ?? .ended(Ending(result.terminationStatus)),
                leftOutputOpen: watch.isOutputOpen
            )
        } catch let error as SubprocessError {
            throw processError(error)
        }
    }

    /// Kills the program that is being watched, with all of its group, at once.
    ///
    /// For a signal handler that ends this process: it makes only calls that are safe there
    /// (signal-safety(7)).
    public static func killWatched() {
        let group = Watch.group.load(ordering: .relaxed)
        if group > 0 { kill(-group, SIGKILL) }
    }
}

/// Watches one program until it has ended.
///
/// The program is not reaped before that, so that no other process gets its number, or its group's.
private struct Watch {
    /// The group of the program that is watched, for `killWatched()`; if there are several, of the last.
    static let group = Atomic<Int32>(0)

    /// How long to read the rest of the output, which a process in the background may go on writing.
    private static let lastWords = Duration.milliseconds(200)

    let output: FileDescriptor
    let limits: ChildProcess.Limits
    private(set) var reason: ChildProcess.Outcome.Reason?
    private(set) var isOutputOpen = true

    init(output: FileDescriptor, limits: ChildProcess.Limits) {
        self.output = output
        self.limits = limits
        output.stopBlocking()
    }

    mutating func run(
        _ process: pid_t,
        _ checkCancellation: @Sendable () throws -> Void,
        _ receive: @Sendable ([UInt8]) -> Void
    ) async {
        Self.group.store(process, ordering: .relaxed)
        defer { Self.group.store(0, ordering: .relaxed) }
        let start = ContinuousClock.now
        while !Self.hasEnded(process) {
            if ContinuousClock.now - start > limits.timeout {
                reason = .tookTooLong
            } else if Task.isCancelled || (try? checkCancellation()) == nil {
                reason = .interrupted
            }
            if reason != nil { return await end(process, receive) }
            if !read(receive) { await Self.pause() }
        }
        await drain(receive)
    }

    /// Ends the whole group, gently first.
    private mutating func end(_ process: pid_t, _ receive: @Sendable ([UInt8]) -> Void) async {
        kill(-process, SIGTERM)
        let start = ContinuousClock.now
        // The program may be gone while others of its group are not: they keep the output open.
        while ContinuousClock.now - start < limits.grace {
            if Self.hasEnded(process), !isOutputOpen { break }
            if !read(receive) { await Self.pause() }
        }
        kill(-process, SIGKILL)
        while !Self.hasEnded(process) { await Self.pause() }
        await drain(receive)
    }

    private mutating func drain(_ receive: @Sendable ([UInt8]) -> Void) async {
        let start = ContinuousClock.now
        while isOutputOpen {
            let hasRead = read(receive)
            guard ContinuousClock.now - start < Self.lastWords else { return }
            if !hasRead, isOutputOpen { await Self.pause() }
        }
    }

    /// Reads as much as a pipe holds, without waiting.
    ///
    /// - Returns: whether there was something to read.
    private mutating func read(_ receive: @Sendable ([UInt8]) -> Void) -> Bool {
        guard isOutputOpen else { return false }
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            // It fails if there is nothing yet.
            guard let read = try? output.read(into: UnsafeMutableRawBufferPointer(buffer)) else {
                return
            }
            if read == 0 { isOutputOpen = false }
            count = read
        }
        if !bytes.isEmpty { receive(bytes) }
        return !bytes.isEmpty
    }

    /// Waits, so shortly that nobody notices, and long enough to cost nothing.
    private static func pause() async {
        // Not `Task.sleep` alone: a cancelled task does not sleep.
        await Task { try? await Task.sleep(for: .milliseconds(5)) }.value
    }

    /// Returns whether a process has ended; it stays a zombie (waitid(2), WNOWAIT).
    private static func hasEnded(_ process: pid_t) -> Bool {
        var info = siginfo_t()
        let status = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
        return status != 0 ? errno != EINTR : info.si_signo == SIGCHLD
    }
}
