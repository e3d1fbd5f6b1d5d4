internal import Foundation
internal import Synchronization

/// A thread of the system that runs one piece of work (pthread_create(3)).
///
/// Foundation's `Thread` does not report that the system provides no thread, so that its caller waits forever.
///
/// Its owner ends it with `join()`. Without that it runs until its work is done.
public final class WorkThread: @unchecked Sendable {
    /// The stack size in bytes; large buffers are not on the stack.
    private static let stackSize = 1 << 20

    private let thread: pthread_t
    private var isJoined = false

    /// Starts a thread; `nil` if the system provides none, or would provide no other after it.
    ///
    /// In that case a limit on processes (RLIMIT_NPROC, a control group's `pids.max`) or on memory is reached, and the
    /// body does not run. The last thread is left to libdispatch, which waits until it gets one. If this object took it
    /// and its owner's thread waited for it, neither would ever end.
    ///
    /// - Parameter body: the work; it is released on the new thread, before `join()` returns.
    public init?(_ body: @escaping @Sendable () -> Void) {
        let gate = Gate()
        let threads = gate.mutex.withLock { _ -> (spare: pthread_t, own: pthread_t?)? in
            Self.start { gate.mutex.withLock { _ in } }.map { ($0, Self.start(body)) }
        }
        guard let threads else { return nil }
        pthread_join(threads.spare, nil)
        guard let thread = threads.own else { return nil }
        self.thread = thread
    }

    /// Returns whether the system provides so many threads besides the existing ones.
    public static func areLeft(_ count: Int) -> Bool {
        let gate = Gate()
        let threads = gate.mutex.withLock { _ in
            (0..<count).compactMap { _ in start { gate.mutex.withLock { _ in } } }
        }
        for thread in threads { pthread_join(thread, nil) }
        return threads.count == count
    }

    private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        // The C type's initializer is not used: the module it belongs to depends on the files compiled before.
        withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { space in
            guard let attributes = space.baseAddress, pthread_attr_init(attributes) == 0 else {
                return nil
            }
            defer { pthread_attr_destroy(attributes) }
            // If the system refuses this size, the default stays, which is larger.
            pthread_attr_setstacksize(attributes, stackSize)
            return start(body, attributes)
        }
    }

    private static func start(
        _ body: @escaping @Sendable () -> Void,
        _ attributes: UnsafePointer<pthread_attr_t>
    ) -> pthread_t? {
        let work = Unmanaged.passRetained(Work(body))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let code = pthread_create(
            &thread,
            attributes,
            { argument in
                let work: UnsafeMutableRawPointer? = argument
                if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
                return nil
            },
            work.toOpaque()
        )
        guard code == 0 else {
            work.release()
            return nil
        }
        return thread
    }

    deinit {
        if !isJoined { pthread_detach(thread) }
    }

    /// Waits until the work is done and the thread has ended; only one caller at a time may wait.
    public func join() {
        guard !isJoined else { return }
        isJoined = true
        pthread_join(thread, nil)
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// A gate that holds the spare thread until the other one is started.
private final class Gate: Sendable {
    let mutex = Mutex(())
}
