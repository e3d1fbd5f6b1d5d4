@testable import grocerydude
import Operations
import Testing

@Suite("Progress")
struct ProgressTests {
    private static let start = ContinuousClock.now

    private func progress(_ done: Int64, of total: Int64?) -> Progress {
        var progress = Progress(.uploading, total: total, since: Self.start)
        progress.advance(done)
        return progress
    }

    @Test("Progress is a line with percentage, rate and remaining time")
    func bar() {
        let later = Self.start + .seconds(10)
        let line = ProgressBar.line(progress(25_000_000, of: 100_000_000), at: later)
        #expect(line == "uploading [######..................] 25 %  2.50 MB/s  0:30 left")
        #expect(ProgressBar.line(progress(5, of: nil), at: later) == "uploading …")
        // Nothing has moved yet: nobody knows how long it takes.
        let none = ProgressBar.line(progress(0, of: 100), at: later)
        #expect(none == "uploading [........................] 0 %  0 bytes/s")
        // What is tried again counts twice.
        #expect(ProgressBar.line(progress(300, of: 100), at: later).contains("100 %"))
    }

    @Test("Progress for programs is one line per second, and the first comes after a second")
    func lines() throws {
        var lines = StatusLines(since: Self.start)
        func advance(_ bytes: Int64, at now: ContinuousClock.Instant) -> StatusLines.Line? {
            lines.advance(bytes, at: now)
        }
        #expect(advance(1, at: Self.start + .seconds(9)) == nil)
        lines = StatusLines(since: Self.start)
        lines.begin(.uploading, total: 100, at: Self.start)
        #expect(advance(10, at: Self.start + .milliseconds(900)) == nil)
        let line = try #require(advance(10, at: Self.start + .seconds(2)))
        #expect(line.percentDone == 0.2 && line.bytesDone == 20 && line.totalBytes == 100)
        #expect(line.secondsElapsed == 2 && line.secondsRemaining == 8)
        #expect(advance(10, at: Self.start + .milliseconds(2900)) == nil)
        // It goes on, though nothing moves.
        let next = try #require(advance(0, at: Self.start + .seconds(3)))
        #expect(next.bytesDone == 30)
        #expect(try #require(advance(200, at: Self.start + .seconds(4))).bytesDone == 100)
        lines.begin(.checking, total: nil, at: Self.start + .seconds(4))
        let unknown = try #require(advance(5, at: Self.start + .seconds(5)))
        #expect(unknown.percentDone == nil && unknown.secondsRemaining == nil)
        #expect(unknown.stage == "checking" && unknown.bytesDone == 5)
    }
}
