internal import Foundation

/// Runs jobs on a fixed number of threads and gives them back in the order they came in.
///
/// If the system gives fewer threads, those do the work; if it gives none, the caller's thread does it
/// as it takes jobs back.
///
/// Only one thread may call the methods. It never has more than `capacity` jobs in flight, and jobs are
/// used again, so the memory of a pipeline depends on its threads and not on the data.
///
/// There is one lock, `condition`; it is never held while a job runs.
public final class OrderedPipeline<Job: AnyObject & Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var waiting: [Entry] = []
    private var isClosed = false

    // The caller's thread only.
    private var threads: [WorkThread] = []
    /// Runs jobs on the caller's thread, if there is no other.
    private var ownWorker: ((Job) throws -> Void)?
    private var inFlight: [Entry] = []
    private var idle: [Job] = []

    private final class Entry: @unchecked Sendable {
        let job: Job
        var result: Result<Void, any Error>?
        init(_ job: Job) { self.job = job }
    }

    /// How many jobs are in flight at most.
    public let capacity: Int

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - threads: how many, if the system gives so many.
    ///   - capacity: how many jobs may be in flight; `nil` for enough that no thread waits for the caller.
    ///   - makeJob: makes a job, with its buffers; called `capacity` times at most.
    ///   - makeWorker: called once on each thread that works; what it returns runs every job of that
    ///     thread.
    public init(
        threads: Int,
        capacity: Int? = nil,
        makeJob: () -> Job,
        makeWorker: @escaping @Sendable () -> (Job) throws -> Void
    ) {
        let capacity = capacity ?? 2 * threads + 2
        self.capacity = capacity
        idle = (0..<capacity).map { _ in makeJob() }
        for _ in 0..<threads {
            guard let thread = WorkThread({ [self] in run(makeWorker()) }) else { break }
            self.threads.append(thread)
        }
        if self.threads.isEmpty { ownWorker = makeWorker() }
    }

    /// Returns a job to fill; `nil` while all are in flight: take one back first.
    public func vacantJob() -> Job? { idle.popLast() }

    /// Returns a job to fill, after lending the oldest to `body` if all are in flight.
    public func vacantJob(_ body: (Job) throws -> Void) throws -> Job {
        while true {
            if let job = vacantJob() { return job }
            _ = try takeOldest(body)
        }
    }

    /// Puts a job into the queue.
    public func submit(_ job: Job) {
        let entry = Entry(job)
        inFlight.append(entry)
        condition.withLock {
            waiting.append(entry)
            condition.broadcast()
        }
    }

    /// Waits for the oldest job in flight and lends it to `body`; it is vacant again afterwards.
    ///
    /// - Returns: `nil` if none is in flight.
    /// - Throws: the error of the job, or of `body`.
    public func takeOldest<Result>(_ body: (Job) throws -> Result) throws -> Result? {
        guard !inFlight.isEmpty else { return nil }
        let entry = inFlight.removeFirst()
        defer { idle.append(entry.job) }
        // Jobs are run in their order, so that this is the oldest.
        if let ownWorker {
            let next = condition.withLock { waiting.isEmpty ? nil : waiting.removeFirst() }
            if let next { run(next, ownWorker) }
        }
        let result = condition.withLock {
            while entry.result == nil { condition.wait() }
            return entry.result
        }
        try result?.get()
        return try body(entry.job)
    }

    /// Drops the jobs that have not begun and waits for the threads to end.
    public func close() {
        condition.withLock {
            isClosed = true
            waiting.removeAll()
            condition.broadcast()
        }
        for thread in threads { thread.join() }
    }

    private func run(_ work: (Job) throws -> Void) {
        while let entry = nextEntry() { run(entry, work) }
    }

    private func run(_ entry: Entry, _ work: (Job) throws -> Void) {
        let result = Result { try work(entry.job) }
        condition.withLock {
            entry.result = result
            condition.broadcast()
        }
    }

    private func nextEntry() -> Entry? {
        condition.withLock {
            while waiting.isEmpty && !isClosed { condition.wait() }
            return isClosed ? nil : waiting.removeFirst()
        }
    }
}
