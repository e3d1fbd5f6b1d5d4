internal import Synchronization

/// Work on its own thread, so that a task's thread does not wait for a slow disk or database.
///
/// If the system provides no thread, `wait()` does the work. The caller must end the work with `close()`, and no other
/// caller may use its methods.
public final class BackgroundWork<Value>: @unchecked Sendable {
    /// The work.
    ///
    /// Its argument throws `CancellationError` once the result is not wanted any more.
    public typealias Body = (_ checkCancellation: @escaping () throws -> Void) throws -> Value

    private let isCancelled = Atomic(false)
    // These belong to the thread until it is joined, then to the caller.
    private var body: Body?
    private var result: Result<Value, any Error>?
    private var thread: WorkThread?

    /// Creates work that is already done.
    public init(value: Value) {
        result = .success(value)
    }

    /// Starts the work.
    ///
    /// - Parameter body: the work. Nothing else may use its captures until it ends. They are released before `wait()`
    ///   or `close()` returns.
    public init(_ body: @escaping Body) {
        self.body = body
        thread = WorkThread { [self] in _ = run() }
    }

    /// Waits until the work ends.
    ///
    /// - Throws: what the work throws.
    public func wait() throws -> Value {
        thread?.join()
        return try (result ?? run()).get()
    }

    /// Asks the work to stop, and waits until it ends.
    public func close() {
        isCancelled.store(true, ordering: .relaxed)
        thread?.join()
        guard result == nil else { return }
        body = nil
        result = .failure(CancellationError())
    }

    private func run() -> Result<Value, any Error> {
        guard let body = body.take() else { preconditionFailure("the work is done once") }
        let result = Result {
            try body { [self] in
                if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
            }
        }
        self.result = result
        return result
    }
}
