internal import Files
internal import Foundation

/// Requests that wait for a thread, so that a slow one keeps no other waiting.
///
/// Its owner ends it with `finish()`.
final class RequestQueue: @unchecked Sendable {
    private let condition = NSCondition()
    // Behind the condition.
    private var requests: [@Sendable () -> Void] = []
    private var isFinished = false
    private var threads: [WorkThread] = []

    /// Starts threads; if the system gives none, requests are handled at once by whoever adds them.
    ///
    /// - Parameter count: how many requests are handled at a time.
    init(threads count: Int) {
        threads = (0..<count).compactMap { _ in WorkThread { [self] in run() } }
    }

    /// Adds a request.
    func add(_ request: @escaping @Sendable () -> Void) {
        guard !threads.isEmpty else { return request() }
        condition.withLock {
            requests.append(request)
            condition.signal()
        }
    }

    /// Waits until all requests have been handled, and ends the threads.
    func finish() {
        condition.withLock {
            isFinished = true
            condition.broadcast()
        }
        for thread in threads { thread.join() }
        threads = []
    }

    private func run() {
        while let request = next() { request() }
    }

    private func next() -> (@Sendable () -> Void)? {
        condition.withLock {
            while requests.isEmpty {
                if isFinished { return nil }
                condition.wait()
            }
            return requests.removeFirst()
        }
    }
}
