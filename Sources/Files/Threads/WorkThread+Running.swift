internal import Foundation

extension WorkThread {
    /// Runs work that may block on a thread of its own, while the task waits.
    ///
    /// A blocked thread of the task's would be missing where others go on: there may be only one. If the
    /// system gives no thread, the work is done on the task's all the same.
    public static func run<Value>(_ body: @escaping () throws -> Value) async throws -> Value {
        let work = Handed(body)
        let result = await withCheckedContinuation { continuation in
            let thread = WorkThread {
                continuation.resume(returning: Handed(Result { try work.value() }))
            }
            if thread == nil {
                continuation.resume(returning: Handed(Result { try work.value() }))
            }
        }
        return try result.value.get()
    }

    /// Waits on this thread for what a task does.
    ///
    /// The thread must be one of the system's own: see `run`. One of the task's would be missing where that goes on.
    ///
    /// - Parameter body: the work, for which the thread does nothing else.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    public static func wait<Value>(
        for body: @escaping @Sendable () async throws -> sending Value
    ) throws -> Value {
        let answer = Answer<Value>()
        Task.detached {
            do {
                answer.give(.success(try await body()))
            } catch {
                answer.give(.failure(error))
            }
        }
        return try answer.wait()
    }

    /// What one thread waits for and another one gives.
    private final class Answer<Value>: @unchecked Sendable {
        private let condition = NSCondition()
        private var result: Result<Value, any Error>?

        func give(_ result: Result<Value, any Error>) {
            condition.withLock {
                self.result = result
                condition.broadcast()
            }
        }

        func wait() throws -> Value {
            try condition.withLock {
                while true {
                    if let result { return try result.get() }
                    condition.wait()
                }
            }
        }
    }

    /// Something that is handed from one thread to another, of which only one goes on with it.
    private struct Handed<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
}
