internal import Foundation

/// Runs jobs on a fixed number of threads and gives them back in the order they came in.
///
/// The caller's thread submits and takes back; it never has more than `capacity` jobs in flight,
/// so the memory of a pipeline depends on its threads and not on the data. Jobs are made once and
/// used again. One thread only may call the methods.
///
/// Order of locks: there is one, `condition`; it is never held while a job runs.
final class OrderedPipeline<Job: AnyObject & Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var waiting: [Entry] = []
    private var isClosed = false
    private var running: Int

    // The caller's thread only.
    private var inFlight: [Entry] = []
    private var idle: [Job] = []

    private final class Entry: @unchecked Sendable {
        let job: Job
        var result: Result<Void, any Error>?
        init(_ job: Job) { self.job = job }
    }

    /// How long the caller's thread waited for jobs to be done.
    private(set) var waited = Duration.zero

    /// How many jobs are in flight at most.
    let capacity: Int

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - threads: how many.
    ///   - makeJob: makes a job, with its buffers; called `capacity` times at most.
    ///   - makeWorker: called once on each thread; what it returns runs every job of that thread.
    init(
        threads: Int,
        makeJob: () -> Job,
        makeWorker: @escaping @Sendable () -> (Job) throws -> Void
    ) {
        capacity = 2 * threads + 2
        running = threads
        idle = (0..<capacity).map { _ in makeJob() }
        for _ in 0..<threads {
            let thread = Thread { [self] in
                run(makeWorker())
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    /// A job to fill; `nil` while all are in flight: take one back first.
    func vacantJob() -> Job? {
        idle.popLast()
    }

    /// Puts a job into the queue.
    func submit(_ job: Job) {
        let entry = Entry(job)
        inFlight.append(entry)
        condition.withLock {
            waiting.append(entry)
            condition.broadcast()
        }
    }

    /// Waits for the oldest job in flight and lends it to `body`; it is vacant again afterwards.
    ///
    /// - Returns: `nil` where none is in flight.
    /// - Throws: what the job threw, or `body`.
    func takeOldest<Result>(_ body: (Job) throws -> Result) throws -> Result? {
        guard !inFlight.isEmpty else { return nil }
        let entry = inFlight.removeFirst()
        defer { idle.append(entry.job) }
        let start = ContinuousClock.now
        let result = condition.withLock {
            while entry.result == nil { condition.wait() }
            return entry.result
        }
        waited += ContinuousClock.now - start
        try result?.get()
        return try body(entry.job)
    }

    /// Drops the jobs that have not begun and waits for the threads to end.
    func close() {
        condition.withLock {
            isClosed = true
            waiting.removeAll()
            condition.broadcast()
            while running > 0 { condition.wait() }
        }
    }

    private func run(_ work: (Job) throws -> Void) {
        while let entry = nextEntry() {
            let result = Result { try work(entry.job) }
            condition.withLock {
                entry.result = result
                condition.broadcast()
            }
        }
        condition.withLock {
            running -= 1
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
