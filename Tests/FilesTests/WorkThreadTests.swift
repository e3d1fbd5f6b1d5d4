internal import Dispatch
internal import Files
internal import Synchronization
internal import Testing

@Suite("WorkThread")
struct WorkThreadTests {
    private final class Object: Sendable {}

    @Test("joining waits until the work is done, and what it used is let go of")
    func joins() throws {
        // An atomic, whose order the thread sanitizer sees; not that of a Mutex.
        let sum = Atomic(0)
        var object = Object()
        var threads: [WorkThread] = []
        for number in 1...4 {
            let thread = WorkThread { [object] in
                for _ in 0..<10_000 { sum.add(number, ordering: .relaxed) }
                withExtendedLifetime(object) {}
            }
            threads.append(try #require(thread))
        }
        for thread in threads { thread.join() }
        #expect(sum.load(ordering: .relaxed) == 100_000)
        let isUnused = isKnownUniquelyReferenced(&object)
        #expect(isUnused)
        // Once more is no harm.
        threads[0].join()
    }

    @Test("as many threads are left as the system gives")
    func areLeft() {
        #expect(WorkThread.areLeft(0) && WorkThread.areLeft(3))
    }

    @Test("a thread that nobody joins does its work")
    func goesOn() throws {
        let done = DispatchSemaphore(value: 0)
        let isStarted = WorkThread { done.signal() } != nil
        try #require(isStarted)
        #expect(done.wait(timeout: .now() + .seconds(60)) == .success)
    }
}
