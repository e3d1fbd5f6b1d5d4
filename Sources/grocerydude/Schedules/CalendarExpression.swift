internal import Backups
internal import Foundation

/// The times of an expression in cron's or systemd's own form, to the minute.
///
/// Both accept days that do not exist, such as the 30th of February, and never run on them.
struct CalendarExpression {
    /// The years; `nil` for every year.
    private var years: Set<Int>?
    private var months = Set(1...12)
    private var days = Set(1...31)
    /// Whether days count from the end of a month, 1 being the last one.
    private var countsFromEnd = false
    /// The days of the week; 0 is Sunday.
    private var weekdays = Set(0...6)
    private var hours: Set<Int> = [0]
    private var minutes: Set<Int> = [0]
    /// Whether the times are those of another time zone.
    private(set) var isElsewhere = false
    /// The days of the month of which cron runs all, beside all days of the week; `nil` if both must match.
    private var eitherDays: Set<Int>?

    private static let yearsOfSystemd = 1970...2199
    private static let monthNames = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Returns whether there is such a day on or after a date.
    func hasDay(from date: Date) -> Bool {
        guard let last = years?.max() else {
            // Over the years, each day of each month falls on each weekday.
            return months.contains { month in
                days.contains { $0 <= Self.count(ofDaysIn: month, 2000) }
            }
        }
        let first = Timestamp.floorDivide(Int(date.timeIntervalSince1970), 86_400)
        let end = Timestamp.daysSinceEpoch(last + 1, 1, 1)
        return first < end && (first..<end).contains(where: runs(onDay:))
    }

    /// Returns the minutes of a day, which is counted from 1970-01-01, at which a job runs.
    func minutes(onDay day: Int) -> [Int] {
        guard runs(onDay: day) else { return [] }
        return hours.flatMap { hour in minutes.map { hour * 60 + $0 } }
    }

    /// Returns whether a job runs on a day, which is counted from 1970-01-01.
    private func runs(onDay day: Int) -> Bool {
        let (year, month, monthDay) = Timestamp.civil(day)
        guard months.contains(month), years?.contains(year) ?? true else { return false }
        // Day 0 was a Thursday.
        let isWeekday = weekdays.contains((day + 4) % 7)
        let number = countsFromEnd ? Self.count(ofDaysIn: month, year) + 1 - monthDay : monthDay
        return eitherDays.map { $0.contains(number) || isWeekday }
            ?? (days.contains(number) && isWeekday)
    }

    private static func count(ofDaysIn month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of digits or a name, if it is in a range.
    private static func number(
        _ text: Substring,
        _ range: ClosedRange<Int>,
        _ names: [String]
    ) -> Int? {
        if let index = names.firstIndex(of: text.lowercased()) { return index + range.lowerBound }
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(text) else {
            return nil
        }
        return range.contains(number) ? number : nil
    }
}

// The expression has the five fields of crontab(5).
extension CalendarExpression {
    /// Parses cron's fields; `nil` if cron does not accept them.
    init?(cron fields: [String]) {
        let weekdayNames = Schedule.weekdays
        guard fields.count == 5, let minutes = Self.field(fields[0], 0...59),
            let hours = Self.field(fields[1], 0...23), let days = Self.field(fields[2], 1...31),
            let months = Self.field(fields[3], 1...12, Self.monthNames),
            let weekdays = Self.field(fields[4], 0...7, weekdayNames)
        else { return nil }
        self.months = months
        self.weekdays = Set(weekdays.map { $0 % 7 })
        // If both are given, either may match, so every month has such a day.
        if fields[2].hasPrefix("*") || fields[4].hasPrefix("*") {
            self.days = days
        } else {
            eitherDays = days
        }
        (self.hours, self.minutes) = (hours, minutes)
    }

    private static func field(
        _ text: String,
        _ range: ClosedRange<Int>,
        _ names: [String] = []
    ) -> Set<Int>? {
        var values: Set<Int> = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "/", omittingEmptySubsequences: false)
            let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            var step = 1
            var span = range
            if parts[0] != "*" {
                let numbers = ends.compactMap { number($0, range, names) }
                guard numbers.count == ends.count, numbers.count < 3,
                    let first = numbers.first, let last = numbers.last, first <= last
                else { return nil }
                span = first...last
            }
            if parts.count > 1 {
                guard parts.count == 2, parts[0] == "*" || ends.count == 2,
                    let number = number(parts[1], 1...range.upperBound, [])
                else { return nil }
                step = number
            }
            values.formUnion(stride(from: span.lowerBound, through: span.upperBound, by: step))
        }
        return values
    }
}

// The expression is a calendar event of systemd.time(7).
extension CalendarExpression {
    private static let words = [
        "minutely": "*:*", "hourly": "*:0", "daily": "0:0", "weekly": "mon", "monthly": "*-1",
        "yearly": "1-1", "annually": "1-1", "anually": "1-1", "quarterly": "1,4,7,10-1",
        "semiannually": "1,7-1", "semi-annually": "1,7-1", "biannually": "1,7-1",
        "bi-annually": "1,7-1",
    ]

    /// Returns whether systemd knows a time zone: by its file, which has the zone's name.
    private static func isTimeZone(_ name: String) -> Bool {
        var status = stat()
        let isName = name.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "/_+-".contains($0))
        }
        return isName && stat("/usr/share/zoneinfo/\(name)", &status) == 0
            && status.st_mode & S_IFMT == S_IFREG
    }

    /// Parses systemd's expression; `nil` if systemd does not accept it.
    init?(systemd words: [String]) {
        var words = words
        if words.count > 1, let last = words.last, last.first?.isLetter == true,
            last.lowercased() == "utc" || Self.isTimeZone(last)
        {
            isElsewhere = true
            words.removeLast()
        }
        if words.count == 1, let same = Self.words[words[0].lowercased()] { words = [same] }
        guard !words.isEmpty else { return nil }
        if words[0].first?.isLetter == true, !readWeekdays(words.removeFirst()) { return nil }
        if let word = words.first, !word.contains(":") {
            guard readDate(word) else { return nil }
            words.removeFirst()
        }
        guard words.isEmpty || words.count == 1 && readTime(words[0]) else { return nil }
    }

    private mutating func readWeekdays(_ text: String) -> Bool {
        let long = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
        func day(_ text: Substring) -> Int? {
            let name = text.lowercased()
            let day = Schedule.weekdays.firstIndex(of: name) ?? long.firstIndex(of: name)
            // systemd's week begins on Monday.
            return day.map { ($0 + 6) % 7 }
        }
        var items = text.split(separator: ",", omittingEmptySubsequences: false)
        if items.last == "" { items.removeLast() }
        weekdays = []
        for item in items {
            let ends = item.replacing("..", with: "-")
                .split(separator: "-", omittingEmptySubsequences: false).map(day)
            guard ends.count < 3, let first = ends[0], let last = ends[ends.count - 1],
                first <= last
            else { return false }
            weekdays.formUnion((first...last).map { ($0 + 1) % 7 })
        }
        return !weekdays.isEmpty
    }

    private mutating func readDate(_ text: String) -> Bool {
        let marks = text.filter { "-~".contains($0) }
        countsFromEnd = marks.last == "~"
        var parts = text.split(omittingEmptySubsequences: false) { "-~".contains($0) }
        guard marks.dropLast().allSatisfy({ $0 == "-" }) else { return false }
        if parts.count == 3 {
            let year = parts.removeFirst()
            if year != "*" {
                guard let named = Self.component(year, 0...2199) else { return false }
                let full = named.map { $0 < 70 ? $0 + 2000 : $0 < 100 ? $0 + 1900 : $0 }
                let years = Set(full).intersection(Self.yearsOfSystemd)
                guard years.count == named.count else { return false }
                self.years = years
            }
        }
        guard parts.count == 2, let months = Self.component(parts[0], 1...12),
            let days = Self.component(parts[1], 1...(countsFromEnd ? 28 : 31), countsFromEnd)
        else { return false }
        (self.months, self.days) = (months, days)
        return true
    }

    private mutating func readTime(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // A range of times is written with two dots.
        guard (2...3).contains(parts.count), !text.contains("-"),
            let hours = Self.component(parts[0], 0...23),
            let minutes = Self.component(parts[1], 0...59)
        else { return false }
        (self.hours, self.minutes) = (hours, minutes)
        // Fractions of a second are ignored, and so is a step below one second.
        let seconds = parts.dropFirst(2).first.map { text in
            text.replacing(#/(\d)\.\d+/#) { match in match.output.1 }
        }
        return seconds.map { text in
            Self.component(text[...].replacing("/0", with: "/1"), 0...59) != nil
                && !parts[2].hasSuffix("/0")
        } ?? true
    }

    /// Parses a component of a date or a time: `*`, or numbers, ranges and steps.
    private static func component(
        _ text: Substring,
        _ range: ClosedRange<Int>,
        _ countsDown: Bool = false
    ) -> Set<Int>? {
        if text == "*" { return Set(range) }
        var values: Set<Int> = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "/", omittingEmptySubsequences: false)
            let texts = parts[0].replacing("..", with: "-")
                .split(separator: "-", omittingEmptySubsequences: false)
            let ends = texts.compactMap { number($0, range, []) }
            let steps = parts.dropFirst().compactMap { number($0, 1...range.upperBound, []) }
            guard !ends.isEmpty, ends.count == texts.count, ends.count < 3, parts.count < 3,
                steps.count == parts.count - 1
            else { return nil }
            let step = (steps.first ?? 1) * (countsDown && ends.count == 1 ? -1 : 1)
            let end = step < 0 ? range.lowerBound : range.upperBound
            let last = ends.count == 2 ? ends[1] : steps.isEmpty ? ends[0] : end
            guard ends.count == 1 || ends[0] <= last else { return nil }
            // systemd treats a step beyond the range as an error.
            if ends.count == 1, !steps.isEmpty, !range.contains(ends[0] + step) { return nil }
            values.formUnion(stride(from: ends[0], through: last, by: step))
        }
        return values
    }
}
