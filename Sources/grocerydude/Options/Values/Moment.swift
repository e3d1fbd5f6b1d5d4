internal import Backups
internal import Foundation
internal import Operations

/// A moment as typed: `2026-11-21 09:01` in local time, RFC 3339, `yesterday`, or a time ago.
///
/// A local time lasts a second, a minute or a day. Lists show minutes, and a typed minute includes backups made within
/// it.
struct Moment {
    private enum Form {
        case exact(Date)
        /// The time that local clocks show, encoded as UTC.
        case local(Date, span: TimeInterval)
        case day(Day, clock: TimeInterval, span: TimeInterval)
        case ago(CalendarSpan, minutes: Int)
    }

    private enum Day {
        /// The number of days before today.
        case before(Int)
        /// The last such day of the week, 0 for Sunday; it may be today unless that is excluded.
        case weekday(Int, isPast: Bool)
    }

    /// The text as typed.
    let text: String
    private let form: Form

    /// Throws `MomentError` if the text is no moment.
    init(_ text: String) throws {
        self.text = text
        let words = text.lowercased().split(separator: " ").map(String.init)
        if let date = Timestamp.date(rfc3339: text) {
            form = .exact(date)
        } else if let (date, span) = Self.local(text) {
            form = .local(date, span: span)
        } else if let span = CalendarSpan(String(text.trimmingPrefix("-"))) {
            form = .ago(span, minutes: 0)
        } else if let form = Self.ago(words) ?? Self.day(words) {
            self.form = form
        } else {
            throw MomentError()
        }
    }

    /// Returns the moment; the first one if local clocks show the time twice.
    func date(now: Date, in timeZone: LocalZone) -> Date {
        if let (start, _) = local(now, timeZone) { return timeZone.moment(start) }
        switch form {
        case .exact(let date): return date
        case .ago(let span, let minutes):
            return span.before(now, in: timeZone) - Double(minutes * 60)
        case .local, .day: preconditionFailure("these are local")
        }
    }

    /// Returns the last moment of the second, minute or day of a local time.
    func end(now: Date, in timeZone: LocalZone) -> Date {
        guard let (start, span) = local(now, timeZone) else { return date(now: now, in: timeZone) }
        return timeZone.moment(start + span, isLast: true) - 0.001
    }

    /// Returns the time on local clocks, encoded as UTC, and its span; `nil` for a moment of another form.
    private func local(_ now: Date, _ timeZone: LocalZone) -> (Date, TimeInterval)? {
        switch form {
        case .exact, .ago: return nil
        case .local(let date, let span): return (date, span)
        case .day(let day, let clock, let span):
            let parts = Timestamp.parts(of: now, in: timeZone)
            let today = Timestamp.daysSinceEpoch(parts.year, parts.month, parts.day)
            let distance: Int
            switch day {
            case .before(let days): distance = days
            case .weekday(let number, let isPast):
                // Day 0 was a Thursday.
                let days = (today + 4 - number) % 7
                distance = isPast && days == 0 ? 7 : days
            }
            return (Date(timeIntervalSince1970: Double((today - distance) * 86_400) + clock), span)
        }
    }

    /// Parses a date with or without a time.
    private static func local(_ text: String) -> (Date, span: TimeInterval)? {
        let form = text.replacing(" ", with: "T", maxReplacements: 1)
        for (ending, span) in [("Z", 1.0), (":00Z", 60), ("T00:00:00Z", 86_400)] {
            if let date = Timestamp.date(rfc3339: form + ending) { return (date, span) }
        }
        return nil
    }

    /// Parses `2 days ago`.
    private static func ago(_ words: [String]) -> Form? {
        guard words.count == 3, words[2] == "ago", let number = Int(words[0]), number >= 0 else {
            return nil
        }
        let unit = words[1].hasSuffix("s") ? String(words[1].dropLast()) : words[1]
        if unit == "minute", number < 1_000_000, let none = CalendarSpan("0h") {
            return .ago(none, minutes: number)
        }
        let units = [
            "hour": (1, "h"), "day": (1, "d"), "week": (7, "d"), "month": (1, "m"),
            "year": (1, "y"),
        ]
        guard number < 100_000, let (factor, letter) = units[unit] else { return nil }
        return CalendarSpan("\(number * factor)\(letter)").map { .ago($0, minutes: 0) }
    }

    private static let weekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]

    /// Parses `yesterday`, `last tuesday` and `today 09:30`.
    private static func day(_ words: [String]) -> Form? {
        if words == ["now"] { return CalendarSpan("0h").map { .ago($0, minutes: 0) } }
        let isPast = words.first == "last"
        let rest = words.dropFirst(isPast ? 1 : 0)
        guard let name = rest.first, rest.count <= 2 else { return nil }
        let day: Day
        if let number = weekdays.firstIndex(where: { $0 == name || $0.prefix(3) == name }) {
            day = .weekday(number, isPast: isPast)
        } else if !isPast, let days = ["today", "yesterday"].firstIndex(of: name) {
            day = .before(days)
        } else {
            return nil
        }
        guard rest.count == 2 else { return .day(day, clock: 0, span: 86_400) }
        return rest.last.flatMap { local("1970-01-01T" + $0) }.map {
            .day(day, clock: $0.timeIntervalSince1970, span: $1)
        }
    }
}

/// An error for a text that is no moment.
struct MomentError: Error, CustomStringConvertible {
    var description: String {
        "a moment is written as '2026-11-21', '2026-11-21 09:01', yesterday, 'last tuesday', '2 days ago' or 3d"
    }
}
