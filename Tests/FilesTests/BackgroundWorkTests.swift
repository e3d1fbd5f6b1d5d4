internal import Dispatch
internal import Files
internal import SystemPackage
internal import Testing

@Suite("BackgroundWork")
struct BackgroundWorkTests {
    private final class Object: Sendable {}

    @Test("waiting gives the result, as often as it is asked for")
    func result() throws {
        var object = Object()
        let work = BackgroundWork { [object] _ in
            withExtendedLifetime(object) { 7 }
        }
        #expect(try work.wait() == 7)
        let isUnused = isKnownUniquelyReferenced(&object)
        #expect(isUnused)
        #expect(try work.wait() == 7)
        work.close()
        #expect(try BackgroundWork(value: 8).wait() == 8)
    }

    @Test("waiting throws what the work throws")
    func failure() {
        let work = BackgroundWork<Void> { _ in throw FileError.exists("/a") }
        defer { work.close() }
        #expect(throws: FileError.exists("/a")) { try work.wait() }
    }

    @Test("closing stops work that asks whether to go on, and waits for its end")
    func cancellation() {
        let began = DispatchSemaphore(value: 0)
        let work = BackgroundWork<Void> { checkCancellation in
            began.signal()
            while true { try checkCancellation() }
        }
        began.wait()
        work.close()
        #expect(throws: CancellationError.self) { try work.wait() }
    }
}
