internal import Files
internal import Foundation

/// Work on a thread of its own, for what would keep a task's thread waiting: a disk that flushes, a
/// database that counts.
///
/// Where the system gives no thread, whoever waits for the work does it.
///
/// Whoever begins it ends it with `close()`, in any case, and alone calls the methods.
///
/// Order of locks: there is one, `condition`; it is never held while the work runs.
final class BackgroundWork<Value>: @unchecked Sendable {
    /// What is done; it gets a function that throws `CancellationError` once nobody wants the result.
    typealias Body = (_ checkCancellation: @escaping () throws -> Void) throws -> Value

    private let condition = NSCondition()
    // Guarded by `condition`.
    private var body: Body?
    private var isCancelled = false
    private var result: Result<Value, any Error>?

    // The caller's only.
    private var thread: WorkThread?

    /// There is nothing to do.
    init(value: Value) {
        result = .success(value)
    }

    /// Begins.
    ///
    /// - Parameter body: what is done. Until it has ended, nobody but itself uses what it captures; it
    ///   lets go of all that before anybody is told of the end.
    init(_ body: @escaping Body) {
        self.body = body
        thread = WorkThread { [self] in finish(run()) }
    }

    /// Waits for the end.
    ///
    /// - Throws: what the work throws.
    func wait() throws -> Value {
        if thread == nil, condition.withLock({ result == nil }) { finish(run()) }
        return try condition.withLock {
            while true {
                if let result { return result }
                condition.wait()
            }
        }.get()
    }

    /// Asks the work to stop, and waits for the end, however it comes.
    func close() {
        condition.withLock { isCancelled = true }
        if let thread { return thread.join() }
        condition.withLock {
            guard result == nil else { return }
            body = nil
            result = .failure(CancellationError())
        }
    }

    private func finish(_ result: Result<Value, any Error>) {
        condition.withLock {
            self.result = result
            condition.broadcast()
        }
    }

    private func run() -> Result<Value, any Error> {
        guard let body = condition.withLock({ self.body.take() }) else {
            preconditionFailure("a thread runs once")
        }
        return Result {
            try body { [self] in
                if condition.withLock({ isCancelled }) { throw CancellationError() }
            }
        }
    }
}
