internal import Files
internal import Foundation

/// A queue of requests for several threads, so that a slow request does not block the others.
///
/// Its owner ends it with `finish()`.
final class RequestQueue: @unchecked Sendable {
    private let condition = NSCondition()
    // These are guarded by the condition.
    private var requests: [@Sendable () -> Void] = []
    private var isFinished = false
    private var threads: [WorkThread] = []

    /// Starts threads.
    ///
    /// If the system provides none, `add` handles each request at once.
    ///
    /// - Parameter count: the number of requests that are handled at a time.
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

    /// Waits until all requests are handled, and ends the threads.
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
