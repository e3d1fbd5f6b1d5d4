internal import Foundation

/// A pipeline that runs jobs on a fixed number of threads and returns them in their order.
///
/// If the system provides fewer threads, those do the work. If it provides none, the caller's thread works when it
/// takes jobs back.
///
/// Only one thread may call the methods. At most `capacity` jobs are in flight, and jobs are reused. So the memory of a
/// pipeline depends on its threads, not on the data.
///
/// The only lock, `condition`, is never held while a job runs.
public final class OrderedPipeline<Job: AnyObject & Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    // These are guarded by `condition`.
    private var waiting: [Entry] = []
    private var isClosed = false

    // These belong to the caller's thread.
    private var threads: [WorkThread] = []
    /// The worker for the caller's thread, if there is no other thread.
    private var ownWorker: ((Job) throws -> Void)?
    private var inFlight: [Entry] = []
    private var idle: [Job] = []

    private final class Entry: @unchecked Sendable {
        let job: Job
        var result: Result<Void, any Error>?
        init(_ job: Job) { self.job = job }
    }

    /// The maximum number of jobs in flight.
    public let capacity: Int

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - threads: the number of threads, if the system provides them.
    ///   - capacity: the maximum number of jobs in flight; `nil` for enough to keep all threads busy.
    ///   - makeJob: creates a job with its buffers; called at most `capacity` times.
    ///   - makeWorker: called once on each working thread; the returned closure runs every job of that thread.
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

    /// Returns a job to fill; `nil` if all are in flight, so that one has to be taken back first.
    public func vacantJob() -> Job? { idle.popLast() }

    /// Returns a job to fill.
    ///
    /// If all are in flight, passes the oldest to `body` first.
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

    /// Waits for the oldest job in flight and passes it to `body`; afterwards the job is vacant again.
    ///
    /// - Returns: `nil` if none is in flight.
    /// - Throws: the error of the job, or of `body`.
    public func takeOldest<Result>(_ body: (Job) throws -> Result) throws -> Result? {
        guard !inFlight.isEmpty else { return nil }
        let entry = inFlight.removeFirst()
        defer { idle.append(entry.job) }
        // Jobs run in their order, so this is the oldest.
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

    /// Drops the jobs that have not started, and waits until the threads end.
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
