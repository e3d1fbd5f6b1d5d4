public import Backups
public import Foundation
public import History

/// The days of the last weeks, and what became of the runs of each.
public struct RunCalendar: Sendable, Equatable {
    /// The state of a day, from best to worst; the worst of its runs decides.
    public enum State: String, Sendable, CaseIterable, Comparable {
        case none, skipped, done, partial, missed, failed, damaged

        public static func < (left: State, right: State) -> Bool {
            allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
        }
    }

    /// A day in local time.
    public struct Day: Sendable, Equatable {
        /// The number of days since 1970-01-01.
        package var number: Int
        public var state = State.none
        /// The number of runs that began on it.
        public var runs = 0
        /// The number of runs that should have begun on it and did not.
        public var missed = 0
        /// The message of the last run that was not done.
        public var message: String?

        /// The year, the month and the day of the month.
        public var date: (year: Int, month: Int, day: Int) {
            let (year, month, day) = Timestamp.civil(number)
            return (year, month, day)
        }
    }

    /// The time after which a run that did not begin counts as missed.
    public static let grace: TimeInterval = 3600
    /// The tolerance for a timer that fires a little early.
    private static let tolerance: TimeInterval = 60

    /// The days, oldest first; they begin on a Monday and end today.
    public private(set) var days: [Day]
    /// The times at which a backup should have begun and did not, oldest first.
    public private(set) var missed: [Date]

    /// The day on which a calendar of some weeks begins, at 0:00 local time.
    public static func start(weeks: Int, before now: Date, in timeZone: LocalZone) -> Date {
        let first = firstDay(weeks, before: number(of: now, in: timeZone))
        return timeZone.moment(Date(timeIntervalSince1970: Double(first * 86_400)))
    }

    /// Creates a calendar.
    ///
    /// - Parameters:
    ///   - runs: the runs of all commands, in any order.
    ///   - due: the times at which the schedule begins a backup, in order.
    ///   - weeks: the number of weeks, this one included.
    ///   - now: the present time.
    ///   - timeZone: the zone of the days.
    public init(
        of runs: [RunLog.Entry],
        due: [Date],
        weeks: Int,
        now: Date,
        in timeZone: LocalZone
    ) {
        let today = Self.number(of: now, in: timeZone)
        let first = Self.firstDay(weeks, before: today)
        days = (first...today).map { Day(number: $0) }
        missed = Self.missed(
            due,
            by: runs.filter { $0.command == Run.Command.backup.rawValue },
            now
        )
        for run in runs.sorted(by: { $0.began < $1.began }) {
            let index = Self.number(of: run.began, in: timeZone) - first
            guard days.indices.contains(index) else { continue }
            let state = State(exitCode: run.exitCode)
            days[index].runs += 1
            days[index].state = max(days[index].state, state)
            if state != .done { days[index].message = run.message }
        }
        for date in missed {
            let index = Self.number(of: date, in: timeZone) - first
            guard days.indices.contains(index) else { continue }
            days[index].missed += 1
            days[index].state = max(days[index].state, .missed)
        }
    }

    /// Returns the times for which there is no run: none that began before the next time, and none that was still busy.
    private static func missed(_ due: [Date], by runs: [RunLog.Entry], _ now: Date) -> [Date] {
        let spans = runs.filter { $0.began <= now }.map {
            ($0.began, $0.began + $0.duration.inSeconds)
        }
        .sorted { $0.0 < $1.0 }
        var next = spans.startIndex
        var busyUntil = Date.distantPast
        return due.indices.compactMap { index -> Date? in
            let date = due[index]
            let end = index + 1 < due.count ? due[index + 1] : .distantFuture
            guard now.timeIntervalSince(date) > grace else { return nil }
            var isMet = busyUntil >= date
            while next < spans.endIndex, spans[next].0 < end - tolerance {
                isMet = isMet || spans[next].0 >= date - tolerance
                busyUntil = max(busyUntil, spans[next].1)
                isMet = isMet || busyUntil >= date
                next += 1
            }
            return isMet ? nil : date
        }
    }

    /// Returns the Monday that begins the first week; day 0 was a Thursday.
    private static func firstDay(_ weeks: Int, before today: Int) -> Int {
        let monday = today - (today + 3) % 7
        return monday - 7 * (weeks - 1)
    }

    private static func number(of date: Date, in timeZone: LocalZone) -> Int {
        let parts = Timestamp.parts(of: date, in: timeZone)
        return Timestamp.daysSinceEpoch(parts.year, parts.month, parts.day)
    }
}

extension RunCalendar.State {
    /// Creates the state of a run from its exit code; see `Documentation/ExitCodes.md`.
    public init(exitCode: Int32) {
        self =
            switch exitCode {
            case 0: .done
            case 3: .partial
            case 20: .damaged
            case Hooks.skipCode: .skipped
            default: .failed
            }
    }
}
