internal import Synchronization

/// Work on a thread of its own, so that a task's thread does not wait for a slow disk or database.
///
/// If the system gives no thread, `wait()` does the work. The caller that begins it must end it with
/// `close()`, and is the only one to call its methods.
public final class BackgroundWork<Value>: @unchecked Sendable {
    /// The work; it gets a function that throws `CancellationError` once nobody wants the result.
    public typealias Body = (_ checkCancellation: @escaping () throws -> Void) throws -> Value

    private let isCancelled = Atomic(false)
    // The thread's until it has been joined, then the caller's.
    private var body: Body?
    private var result: Result<Value, any Error>?
    private var thread: WorkThread?

    /// Makes work that is already done.
    public init(value: Value) {
        result = .success(value)
    }

    /// Begins the work.
    ///
    /// - Parameter body: the work. Until it has ended, nobody else may use its captures; they are
    ///   released before `wait()` or `close()` returns.
    public init(_ body: @escaping Body) {
        self.body = body
        thread = WorkThread { [self] in _ = run() }
    }

    /// Waits for the end.
    ///
    /// - Throws: what the work throws.
    public func wait() throws -> Value {
        thread?.join()
        return try (result ?? run()).get()
    }

    /// Asks the work to stop, and waits until it has ended.
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
