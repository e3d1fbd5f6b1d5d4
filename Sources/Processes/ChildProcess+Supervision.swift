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
        /// Why it is no more.
        public enum Reason: Sendable, Equatable {
            case ended(Ending)
            /// It took too long, and was ended.
            case tookTooLong
            /// It was ended, since its caller wanted to stop.
            case interrupted
        }

        public var reason: Reason
        /// Whether it left a process behind that still has its output open.
        public var leftOutputOpen: Bool
    }

    /// Runs the program in a session of its own (setsid(2)) and watches it.
    ///
    /// If it takes too long or is interrupted, all of its process group gets SIGTERM, and a while
    /// later SIGKILL. If it ends by itself, what it left in the background is left alone, and not
    /// waited for: a pipe is read until the program's own end.
    ///
    /// - Parameters:
    ///   - limits: how long it may take.
    ///   - checkCancellation: asked often; what it throws interrupts the program.
    ///   - receive: is given all that it writes to standard output and standard error, as it comes.
    /// - Returns: what became of it.
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
            pipe = try PipeEnds()
        } catch {
            try? standardInput.close()
            throw ProcessError.cannotRun(program, reason: error.description)
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
                leftOutputOpen: watch.leftOutputOpen
            )
        } catch let error as SubprocessError {
            throw processError(error)
        }
    }

    /// Kills the program that is being watched, with all of its group, at once.
    ///
    /// Only for a signal handler that ends this process: it calls nothing that may not be called
    /// there (signal-safety(7)).
    public static func killWatched() {
        let group = Watch.group.load(ordering: .relaxed)
        if group > 0 { kill(-group, SIGKILL) }
    }
}

/// Watches one program until it has ended.
///
/// The program is not reaped before that, so its number stays its own, and its group's.
private struct Watch {
    /// The group of the program that is watched, for `killWatched()`; of several, the last one.
    static let group = Atomic<Int32>(0)

    /// The rest of its output is in the pipe when the program has ended by itself; a process in
    /// the background that goes on writing is not waited for.
    private static let lastWords = Duration.milliseconds(200)

    let output: FileDescriptor
    let limits: ChildProcess.Limits
    private(set) var reason: ChildProcess.Outcome.Reason?
    private(set) var leftOutputOpen = false
    private var isOutputOpen = true

    init(output: FileDescriptor, limits: ChildProcess.Limits) {
        self.output = output
        self.limits = limits
        let flags = fcntl(output.rawValue, F_GETFL)
        _ = fcntl(output.rawValue, F_SETFL, flags | O_NONBLOCK)
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
        await drain(for: Self.lastWords, receive)
        leftOutputOpen = isOutputOpen
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
        await drain(for: Self.lastWords, receive)
        leftOutputOpen = isOutputOpen
    }

    private mutating func drain(for time: Duration, _ receive: @Sendable ([UInt8]) -> Void) async {
        let start = ContinuousClock.now
        while isOutputOpen {
            let hasRead = read(receive)
            guard ContinuousClock.now - start < time else { return }
            if !hasRead, isOutputOpen { await Self.pause() }
        }
    }

    /// Reads what is there, a pipe's full at most.
    ///
    /// - Returns: whether there was something.
    private mutating func read(_ receive: @Sendable ([UInt8]) -> Void) -> Bool {
        guard isOutputOpen else { return false }
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            // There is nothing yet.
            guard let read = try? output.read(into: UnsafeMutableRawBufferPointer(buffer)) else {
                return
            }
            if read == 0 { isOutputOpen = false }
            count = read
        }
        if !bytes.isEmpty { receive(bytes) }
        return !bytes.isEmpty
    }

    /// Short enough that nobody waits for it, long enough to cost nothing.
    private static func pause() async {
        // Not `Task.sleep` alone: a cancelled task does not sleep.
        await Task { try? await Task.sleep(for: .milliseconds(5)) }.value
    }

    /// Whether it has ended; it stays a zombie (waitid(2), WNOWAIT).
    private static func hasEnded(_ process: pid_t) -> Bool {
        var info = siginfo_t()
        let status = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
        return status != 0 ? errno != EINTR : info.si_signo == SIGCHLD
    }
}
