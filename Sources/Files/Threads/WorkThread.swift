#if canImport(Darwin)
internal import Darwin

private typealias ThreadArgument = UnsafeMutableRawPointer
#else
internal import Glibc

private typealias ThreadArgument = UnsafeMutableRawPointer?
#endif

/// A thread of the system that runs one piece of work (pthread_create(3)).
///
/// Foundation's `Thread` does not tell that the system had none to give, and whoever waits for what
/// it was to do waits for ever.
///
/// Its owner ends it with `join()`. One that nobody joins goes on until its work is done.
public final class WorkThread: @unchecked Sendable {
    /// In bytes; what the work has of large buffers is not on the stack.
    private static let stackSize = 1 << 20

    private let thread: pthread_t
    /// For whoever joins it, or has the last reference.
    private var isJoined = false

    /// Starts a thread; `nil` if the system gives none.
    ///
    /// A limit on processes (RLIMIT_NPROC, a control group's `pids.max`) or on memory is met then, and
    /// the body is not run.
    ///
    /// - Parameter body: what it does; it is let go of on that thread, before `join()` returns.
    public init?(_ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return nil }
        defer { pthread_attr_destroy(&attributes) }
        // One that it refuses leaves the usual size, which is larger.
        pthread_attr_setstacksize(&attributes, Self.stackSize)
        let work = Unmanaged.passRetained(Work(body))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let code = pthread_create(&thread, &attributes, runWork, work.toOpaque())
        #if canImport(Darwin)
        guard code == 0, let thread else {
            work.release()
            return nil
        }
        #else
        guard code == 0 else {
            work.release()
            return nil
        }
        #endif
        self.thread = thread
    }

    deinit {
        if !isJoined { pthread_detach(thread) }
    }

    /// Waits until the work is done and the thread has ended; one caller at a time.
    public func join() {
        guard !isJoined else { return }
        isJoined = true
        pthread_join(thread, nil)
    }
}

/// The work of a thread.
private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runWork(_ argument: ThreadArgument) -> UnsafeMutableRawPointer? {
    let work: UnsafeMutableRawPointer? = argument
    if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
}
