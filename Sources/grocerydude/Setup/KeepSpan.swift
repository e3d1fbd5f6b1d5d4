internal import ArgumentParser
internal import Backups
internal import Foundation
internal import Operations

/// A choice of how long backups are kept, in place of numbers for each period.
enum KeepSpan: String, CaseIterable, ExpressibleByArgument {
    case week, month, year

    /// The choice in words.
    var words: String {
        switch self {
        case .week: "a week of days"
        case .month: "a month of weeks, and a week of days"
        case .year: "a year of months, a month of weeks, and a week of days"
        }
    }

    /// Returns the numbers of backups to keep; of several backups a day, those of the last day are kept too.
    func counts(isFrequent: Bool) -> [RetentionPolicy.Period: Int] {
        var counts: [RetentionPolicy.Period: Int] = [.daily: 7]
        if isFrequent { counts[.hourly] = 24 }
        if self != .week { counts[.weekly] = 5 }
        if self == .year { counts[.monthly] = 12 }
        return counts
    }

    /// Finds the choice that a policy is; `nil` if it is none.
    init?(_ policy: RetentionPolicy) {
        let choice = Self.allCases.first { choice in
            [true, false].contains { isFrequent in
                var same = RetentionPolicy()
                same.counts = choice.counts(isFrequent: isFrequent)
                return same == policy
            }
        }
        guard let choice else { return nil }
        self = choice
    }
}

extension Schedule {
    /// Returns the longest time between two of the next runs in seconds; `nil` if only systemd or cron knows it.
    func longestGap(from now: Date, in zone: LocalZone) -> TimeInterval? {
        // That many days, weeks or months have the longest of each.
        let times = Array(times(after: now, in: zone).prefix(15))
        guard times.count == 15 else { return nil }
        return zip(times.dropFirst(), times).map { $0.timeIntervalSince($1) }.max()
    }
}
