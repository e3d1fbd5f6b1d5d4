internal import Foundation

/// Work on a thread of its own, for what would keep a task's thread waiting: a disk that flushes, a
/// database that counts.
///
/// Whoever begins it ends it with `close()`, in any case.
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

    /// There is nothing to do.
    init(value: Value) {
        result = .success(value)
    }

    /// Begins.
    ///
    /// - Parameter body: what is done. Until it has ended, the thread alone uses what it captures; it
    ///   lets go of all that before anybody is told of the end.
    init(_ body: @escaping Body) {
        self.body = body
        let thread = Thread { [self] in
            let result = run()
            condition.withLock {
                self.result = result
                condition.broadcast()
            }
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Waits for the end.
    ///
    /// - Throws: what the work throws.
    func wait() throws -> Value {
        try condition.withLock(ended).get()
    }

    /// Asks the work to stop, and waits for the end, however it comes.
    func close() {
        condition.withLock {
            isCancelled = true
            _ = ended()
        }
    }

    /// Needs `condition`, which it gives away while it waits.
    private func ended() -> Result<Value, any Error> {
        while true {
            if let result { return result }
            condition.wait()
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
