import Foundation
import History
import TestSupport
import Testing

@testable import Operations

@Suite("The runs that a schedule should have begun")
struct DueRunsTests {
    private static let now = Date(timeIntervalSince1970: 1_795_694_400)

    private func run(_ began: Date, lasting seconds: Int = 5, _ code: Int32 = 0) -> RunLog.Entry {
        RunLog.Entry(
            command: "backup",
            stores: "/Stores",
            remote: "/Remote",
            began: began,
            duration: .seconds(seconds),
            exitCode: code
        )
    }

    private func times(_ due: [Date], since: Date? = .distantPast) -> DueTimes {
        DueTimes(.backup, since: since) { start in AnySequence(due.filter { $0 > start }) }
    }

    /// Returns times with some seconds between them, the last one as long ago.
    private func every(_ seconds: TimeInterval, _ count: Int) -> [Date] {
        (0..<count).map { Self.now - seconds * Double(count - $0) }
    }

    @Test("A run answers the times until the next one begins or while it was busy, and no others")
    func model() {
        var random = Pseudorandom(seed: 7)
        for _ in 0..<500 {
            let due = (0..<12).map { _ in
                Self.now - Double.random(in: 7300...90_000, using: &random)
            }
            .sorted()
            let runs = (0..<Int.random(in: 0...10, using: &random)).map { _ in
                run(
                    Self.now - Double.random(in: 0...100_000, using: &random),
                    lasting: Int.random(in: 0...9000, using: &random)
                )
            }
            let found = DueRuns(times(due), in: runs, from: .distantPast, until: Self.now)
            let ends = due.dropFirst() + [.distantFuture]
            let expected = zip(due, ends).filter { time, end in
                !runs.contains { run in
                    run.began < end - 60 && (run.began >= time - 60 || run.ended >= time)
                }
            }.map(\.0)
            #expect(found.missed == expected)
            #expect(found.all.map(\.time) == due)
            #expect(found.missed.suffix(found.missedLately.count) == found.missedLately[...])
        }
    }

    @Test("A run that comes late, or that is in progress, is awaited before it counts as missed")
    func grace() {
        let hourly = every(7200, 5)
        #expect(DueRuns(times(hourly), in: [], until: Self.now).missed == hourly)
        let soon = [Self.now - 86_400 - 1700, Self.now - 1700, Self.now + 1900]
        let awaited = DueRuns(times(soon), in: [], until: Self.now)
        #expect(awaited.all.map(\.answer) == [.missed, .awaited])
        let running = DueRuns(times(hourly), in: [], until: Self.now, isRunning: true)
        #expect(running.all.last?.answer == .running && running.missedLately.isEmpty)
        #expect(running.missed == hourly.dropLast())
    }

    @Test("Only times since the last run are missed lately, and a timer may fire a little early")
    func lately() {
        let daily = every(86_400, 5)
        let runs = [run(daily[1] - 20), run(daily[2] + 40_000, 1)]
        let due = DueRuns(times(daily), in: runs, from: .distantPast, until: Self.now)
        #expect(due.missed == [daily[0], daily[3], daily[4]])
        #expect(due.missedLately == [daily[3], daily[4]] && !due.isFirst)
        #expect(DueRuns(times(daily), in: runs, until: Self.now).missedLately == due.missedLately)
    }

    @Test("Nothing was due before the schedule, the first run or the oldest run of a full log")
    func beginning() {
        let daily = every(86_400, 5)
        func missed(_ since: Date?, _ runs: [RunLog.Entry]) -> [Date] {
            DueRuns(times(daily, since: since), in: runs, from: .distantPast, until: Self.now)
                .missed
        }
        #expect(missed(nil, []).isEmpty)
        #expect(missed(daily[2] + 1, []) == [daily[3], daily[4]])
        #expect(missed(nil, [run(daily[3] - 100)]) == [daily[3], daily[4]])
        #expect(missed(daily[0] + 1, [run(daily[3])]) == [daily[1], daily[2], daily[4]])
        let full = (0..<RunLog.keptRuns).map { run(daily[3] + Double($0)) }
        #expect(missed(daily[0] + 1, full) == [daily[4]])
        // The clock was wrong then.
        #expect(missed(daily[2] + 1, [run(Self.now + 900_000)]) == [daily[3], daily[4]])
    }
}
