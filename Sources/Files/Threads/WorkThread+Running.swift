internal import Foundation

extension WorkThread {
    /// Runs work that may block on its own thread, while the task waits.
    ///
    /// There may be only one thread for tasks, and blocking it would stop all of them. If the system provides no other
    /// thread, the work runs on the task's thread all the same.
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

    /// Waits on this thread for the result of a task.
    ///
    /// It must be a thread of its own, as in `run`: blocking a thread for tasks could stop the awaited task.
    ///
    /// - Parameter body: the work, for which this thread waits.
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

    /// The result that one thread waits for and another one sets.
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

    /// A value that one thread hands to another, so that only one of them uses it.
    private struct Handed<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
}
