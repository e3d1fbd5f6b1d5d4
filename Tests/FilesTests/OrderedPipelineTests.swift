internal import Dispatch
internal import Files
internal import Synchronization
internal import TestSupport
internal import Testing

/// Work that counts.
private final class CountingJob: @unchecked Sendable {
    var number = 0
    var result = 0
    var fails = false
}

private struct Failed: Error, Equatable {
    var number: Int
}

@Suite("OrderedPipeline", .serialized)
struct OrderedPipelineTests {
    @Test(
        "jobs come back in the order they went in, however long each takes, also without a thread",
        arguments: [0, 1, 2, 5]
    )
    func order(threads: Int) throws {
        let pipeline = OrderedPipeline(threads: threads, makeJob: { CountingJob() }) {
            { job in
                // A pseudorandom share of work, so that threads overtake each other.
                var random = Pseudorandom(seed: UInt64(job.number))
                let rounds = random.next() % 4 == 0 ? 5_000 : 10
                for _ in 0..<rounds { _ = random.next() }
                job.result = job.number * job.number
            }
        }
        defer { pipeline.close() }
        var results: [Int] = []
        for number in 0..<300 {
            var job = pipeline.vacantJob()
            if job == nil {
                try #require(try pipeline.takeOldest { results.append($0.result) } != nil)
                job = pipeline.vacantJob()
            }
            let vacant = try #require(job)
            vacant.number = number
            pipeline.submit(vacant)
        }
        while try pipeline.takeOldest({ results.append($0.result) }) != nil {}
        #expect(results == (0..<300).map { $0 * $0 })
    }

    @Test("there are never more jobs than its capacity, and they are used again")
    func capacity() throws {
        let made = Mutex(0)
        let pipeline = OrderedPipeline(
            threads: 3,
            makeJob: {
                made.withLock { $0 += 1 }
                return CountingJob()
            },
            makeWorker: { { _ in } }
        )
        defer { pipeline.close() }
        for _ in 0..<3 {
            var count = 0
            while let job = pipeline.vacantJob() {
                count += 1
                pipeline.submit(job)
            }
            #expect(count == pipeline.capacity)
            while try pipeline.takeOldest({ _ in }) != nil {}
        }
        #expect(made.withLock { $0 } == pipeline.capacity)
    }

    @Test("each thread makes one worker")
    func workers() throws {
        let made = Mutex(0)
        let pipeline = OrderedPipeline(threads: 4, makeJob: { CountingJob() }) {
            made.withLock { $0 += 1 }
            return { _ in }
        }
        for _ in 0..<50 {
            pipeline.submit(try #require(pipeline.vacantJob()))
            _ = try pipeline.takeOldest { _ in }
        }
        pipeline.close()
        #expect(made.withLock { $0 } == 4)
    }

    @Test("an error is thrown in its job's place, and the jobs around it come whole")
    func errors() throws {
        let pipeline = OrderedPipeline(threads: 2, makeJob: { CountingJob() }) {
            { job in
                if job.number == 2 { throw Failed(number: 2) }
                job.result = job.number
            }
        }
        defer { pipeline.close() }
        for number in 0..<5 {
            let job = try #require(pipeline.vacantJob())
            job.number = number
            pipeline.submit(job)
        }
        #expect(try pipeline.takeOldest(\.result) == 0)
        #expect(try pipeline.takeOldest(\.result) == 1)
        #expect(throws: Failed(number: 2)) { try pipeline.takeOldest(\.result) }
        #expect(try pipeline.takeOldest(\.result) == 3)
        #expect(try pipeline.takeOldest(\.result) == 4)
        #expect(try pipeline.takeOldest(\.result) == nil)
    }

    @Test("what is thrown over a job that is taken back leaves the job vacant")
    func bodyThrows() throws {
        let pipeline = OrderedPipeline(threads: 1, makeJob: { CountingJob() }) { { _ in } }
        defer { pipeline.close() }
        while let job = pipeline.vacantJob() { pipeline.submit(job) }
        #expect(throws: Failed.self) {
            _ = try pipeline.takeOldest { _ in throw Failed(number: 0) }
        }
        #expect(pipeline.vacantJob() != nil)
    }

    @Test("closing waits for the job that runs")
    func closes() throws {
        let began = Atomic(0)
        let ended = Atomic(0)
        let running = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let closed = DispatchSemaphore(value: 0)
        let pipeline = OrderedPipeline(threads: 1, makeJob: { CountingJob() }) {
            { _ in
                began.add(1, ordering: .sequentiallyConsistent)
                running.signal()
                gate.wait()
                gate.signal()
                ended.add(1, ordering: .sequentiallyConsistent)
            }
        }
        while let job = pipeline.vacantJob() { pipeline.submit(job) }
        running.wait()
        DispatchQueue.global().async {
            pipeline.close()
            closed.signal()
        }
        // The job cannot end before the gate opens, so this waits in vain, however slow all is.
        let isWaiting = closed.wait(timeout: .now() + .milliseconds(50)) == .timedOut
        gate.signal()
        try #require(isWaiting)
        closed.wait()
        let count = began.load(ordering: .sequentiallyConsistent)
        #expect(ended.load(ordering: .sequentiallyConsistent) == count)
    }
}
