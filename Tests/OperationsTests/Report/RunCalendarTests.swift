import Foundation
import History
import Testing

@testable import Backups
@testable import Operations

@Suite("The calendar of a report")
struct RunCalendarTests {
    /// Thursday, 2026-11-26 12:00 UTC.
    private static let now = Date(timeIntervalSince1970: 1_795_694_400)
    private static let day: TimeInterval = 86_400

    private func run(
        _ began: Date,
        of command: String = "backup",
        lasting seconds: Int = 5,
        code: Int32 = 0,
        message: String? = nil
    ) -> RunLog.Entry {
        var run = RunLog.Entry(
            command: command,
            stores: "/Stores",
            remote: "/Remote",
            began: began,
            duration: .seconds(seconds),
            exitCode: code
        )
        run.message = message
        return run
    }

    private func calendar(
        _ runs: [RunLog.Entry],
        due: [Date] = [],
        in zone: LocalZone = .utc
    ) -> RunCalendar {
        let times = DueTimes(.backup, since: .distantPast) { start in
            AnySequence(due.filter { $0 > start })
        }
        let start = RunCalendar.start(weeks: 2, before: Self.now, in: zone)
        return RunCalendar(
            of: runs,
            due: DueRuns(times, in: runs, from: start, until: Self.now),
            from: start,
            now: Self.now,
            in: zone
        )
    }

    @Test("A calendar has whole weeks from Monday until today")
    func weeks() {
        let days = calendar([]).days
        #expect(days.count == 11)
        #expect(days.first?.date ?? (0, 0, 0) == (2026, 11, 16))
        #expect(days.last?.date ?? (0, 0, 0) == (2026, 11, 26))
        let start = RunCalendar.start(weeks: 2, before: Self.now, in: LocalZone(offset: 3600))
        #expect(Timestamp.rfc3339(start, in: .utc) == "2026-11-15T23:00:00.000Z")
        let month = RunCalendar.start(days: 30, before: Self.now, in: .utc)
        #expect(Timestamp.rfc3339(month, in: .utc) == "2026-10-28T00:00:00.000Z")
    }

    @Test(
        "A day has the state of its worst run, and that run's message",
        arguments: [
            ([0], RunCalendar.State.done), ([0, 3, 0], .partial), ([75], .skipped),
            ([75, 0], .done),
            ([0, 1], .failed), ([23], .failed), ([1, 20], .damaged), ([], .none),
        ] as [([Int32], RunCalendar.State)]
    )
    func states(codes: [Int32], state: RunCalendar.State) {
        let runs = codes.map {
            run(Self.now, code: $0, message: $0 == 0 ? "a remark" : "code \($0)")
        }
        let day = calendar(runs).days.last
        #expect(day?.state == state && day?.runs == codes.count)
        #expect(day?.message == codes.last { $0 != 0 }.map { "code \($0)" })
    }

    @Test("A run belongs to the day on which it began in local time")
    func zones() {
        let late = Self.now - Self.day + 11.5 * 3600
        #expect(calendar([run(late)]).days.map(\.runs).suffix(2) == [1, 0])
        #expect(
            calendar([run(late)], in: LocalZone(offset: 3600)).days.map(\.runs).suffix(2) == [0, 1]
        )
    }

    @Test("A scheduled backup that did not begin was missed, unless it is due this hour")
    func missed() {
        let due = (0..<4).map { Self.now - 1800 - Double(3 - $0) * Self.day }
        let runs = [run(due[0] + 5), run(due[1] + 5, of: "check"), run(due[2] - 5, code: 1)]
        let calendar = calendar(runs, due: due)
        #expect(calendar.missed == [due[1]])
        #expect(calendar.days.suffix(4).map(\.state) == [.done, .missed, .failed, .none])
        #expect(calendar.days.suffix(4).map(\.missed) == [0, 1, 0, 0])
        #expect(self.calendar([], due: due).missed == Array(due.dropLast()))
    }

    @Test("A clock that was set back, and runs from the future, do no harm")
    func clocks() {
        let runs = [run(Self.now + 900_000), run(.distantPast), run(Self.now)]
        #expect(calendar(runs.dropLast(), due: [Self.now - 7200]).missed == [Self.now - 7200])
        #expect(calendar(runs).days.map(\.runs).reduce(0, +) == 1)
    }
}
