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

    /// The maximum number of runs that are read from the log for a calendar.
    static let mostRuns = 5000

    /// The days, oldest first; the last one is today.
    public private(set) var days: [Day]
    /// The times at which a backup should have begun and did not, oldest first.
    public private(set) var missed: [Date]

    /// Returns the first moment of the last days in local time; today is one of them.
    public static func start(days: Int, before now: Date, in timeZone: LocalZone) -> Date {
        let day = number(of: now, in: timeZone) - days + 1
        return timeZone.moment(Date(timeIntervalSince1970: Double(day * 86_400)))
    }

    /// Returns the first moment of the last weeks in local time, a Monday; this week is one of them.
    public static func start(weeks: Int, before now: Date, in timeZone: LocalZone) -> Date {
        // Day 0 was a Thursday.
        let weekday = (number(of: now, in: timeZone) + 3) % 7
        return start(days: 7 * (weeks - 1) + weekday + 1, before: now, in: timeZone)
    }

    /// Creates a calendar.
    ///
    /// - Parameters:
    ///   - runs: the runs of all commands, in any order.
    ///   - due: the backups that the schedule should have begun; `nil` if there is no schedule.
    ///   - start: the moment in whose day it begins.
    ///   - now: the present time.
    ///   - timeZone: the zone of the days.
    public init(
        of runs: [RunLog.Entry],
        due: DueRuns?,
        from start: Date,
        now: Date,
        in timeZone: LocalZone
    ) {
        let first = Self.number(of: start, in: timeZone)
        let today = max(first, Self.number(of: now, in: timeZone))
        days = (first...today).map { Day(number: $0) }
        missed = due?.missed ?? []
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
