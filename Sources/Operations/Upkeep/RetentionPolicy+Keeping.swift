package import Backups
package import Foundation

extension RetentionPolicy {
    /// The facts of a backup that the policy uses.
    struct Moment: Equatable {
        var date: Date
        /// The backup's seconds east of UTC: its day and hour are those of its own clock.
        var offset: Int
        var tags: Set<String> = []
    }

    /// Returns the reasons to keep each backup, the newest first, by restic's rules (`ApplyPolicy`).
    ///
    /// The newest backup of a period is the one that is kept. While a period may keep more backups, the oldest of all
    /// is kept too, for the longest possible history. Spans are counted back from the newest backup, not from now, on
    /// the calendar of its clock.
    ///
    /// - Parameters:
    ///   - moments: the backups, the newest first.
    ///   - now: the current time; spans do not count from a later backup, which shows a wrong clock.
    ///   - timeZone: the time zone; its daylight saving rules apply if its offset is that of the newest backup.
    /// - Returns: the reasons for each backup; empty for one to be removed.
    func reasons(for moments: [Moment], now: Date, timeZone: LocalZone) -> [[String]] {
        guard let newest = moments.first(where: { $0.date <= now }) ?? moments.last else {
            return []
        }
        let zone =
            timeZone.offset(at: newest.date) == newest.offset
            ? timeZone : LocalZone(offset: newest.offset)
        let counted = Period.allCases.map {
            Bucket(period: $0, reason: "\($0) snapshot", left: counts[$0] ?? 0, since: nil)
        }
        let spanned = Period.allCases.compactMap { period in
            withinPeriods[period].map { span in
                Bucket(
                    period: period,
                    reason: "\(period) within \(span)",
                    left: -1,
                    since: span.before(newest.date, in: zone)
                )
            }
        }
        var buckets = counted + spanned
        let since = within.map { $0.before(newest.date, in: zone) }
        return moments.enumerated().map { index, moment in
            var reasons = tags.filter { moment.has($0) }.map {
                "has tags [\($0.joined(separator: ", "))]"
            }
            if let since, let within, moment.date > since { reasons.append("within \(within)") }
            let isOldest = index == moments.count - 1
            for bucket in buckets.indices {
                if let reason = buckets[bucket].take(moment, index, isOldest: isOldest) {
                    reasons.append(reason)
                }
            }
            return reasons
        }
    }

    /// The state of one period of the policy during a pass over the backups.
    private struct Bucket {
        let period: Period
        let reason: String
        /// The number of backups still to keep; -1 for all.
        var left: Int
        let since: Date?
        var last: Int?

        mutating func take(_ moment: Moment, _ index: Int, isOldest: Bool) -> String? {
            guard left != 0 else { return nil }
            if let since, moment.date <= since { return nil }
            let value = moment.number(of: period) ?? index
            guard value != last || isOldest else { return nil }
            let isRepeated = value == last
            last = value
            if left > 0 { left -= 1 }
            return isRepeated ? "oldest \(reason)" : reason
        }
    }
}

extension RetentionPolicy.Moment {
    /// Whether the backup has all of some tags; "" matches a backup without tags.
    fileprivate func has(_ wanted: [String]) -> Bool {
        wanted.allSatisfy { $0.isEmpty ? tags.isEmpty : tags.contains($0) }
    }

    /// Returns a number that is equal for all moments of one hour, day, …; `nil` if each moment counts by itself.
    fileprivate func number(of period: RetentionPolicy.Period) -> Int? {
        let parts = Timestamp.parts(of: date, in: LocalZone(offset: offset))
        let day = Timestamp.daysSinceEpoch(parts.year, parts.month, parts.day)
        switch period {
        case .last: return nil
        case .hourly: return day * 24 + parts.hour
        case .daily: return day
        // ISO weeks begin on Mondays; day 0 was a Thursday.
        case .weekly: return Timestamp.floorDivide(day + 3, 7)
        case .monthly: return parts.year * 12 + parts.month
        case .yearly: return parts.year
        }
    }
}

extension CalendarSpan {
    /// Returns the moment that is this span before another, at the same time of day except for the hours.
    ///
    /// The 31st in a shorter month falls into the next month, as in restic.
    package func before(_ date: Date, in timeZone: LocalZone) -> Date {
        let parts = Timestamp.parts(of: date, in: timeZone)
        let month = parts.year * 12 + parts.month - 1 - years * 12 - months
        let year = Timestamp.floorDivide(month, 12)
        let first = Timestamp.daysSinceEpoch(year, month - 12 * year + 1, 1)
        let day = first + parts.day - 1 - days
        let seconds = day * 86_400 + parts.hour * 3600 + parts.minute * 60 + parts.second
        let local = Date(timeIntervalSince1970: Double(seconds) + Double(parts.millisecond) / 1000)
        return timeZone.moment(local) - Double(hours) * 3600
    }
}
