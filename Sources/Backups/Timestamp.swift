package import Foundation

/// Conversions of dates to text and back, in the two forms that backups need, without a formatter's start-up time.
package enum Timestamp {
    /// The parts of a date in a time zone.
    package struct Parts: Equatable {
        package var year: Int, month: Int, day: Int
        package var hour: Int, minute: Int, second = 0, millisecond = 0
        /// The offset in seconds east of UTC.
        package var offset = 0
    }

    /// The moments that have a year of four digits, in milliseconds since 1970-01-01 UTC.
    package static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// The offsets that RFC 3339 can express, in seconds east of UTC.
    package static let offsets: ClosedRange<Int> = -362_340...362_340

    /// Returns the parts of a date.
    ///
    /// A date outside of `range` is clamped to it, since a file may have any number.
    package static func parts(of date: Date, in timeZone: LocalZone) -> Parts {
        func clamped(_ milliseconds: Double) -> Int {
            Int(min(max(milliseconds, Double(range.lowerBound)), Double(range.upperBound)))
        }
        let moment = clamped((date.timeIntervalSince1970 * 1000).rounded())
        let offset = timeZone.offset(at: Date(timeIntervalSince1970: Double(moment) / 1000))
        // The year may differ in a time zone other than UTC.
        let milliseconds = clamped(Double(moment + offset * 1000))
        let seconds = floorDivide(milliseconds, 1000)
        let days = floorDivide(seconds, 86_400)
        let rest = seconds - days * 86_400
        let (year, month, day) = civil(days)
        return Parts(
            year: year,
            month: month,
            day: day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            millisecond: milliseconds - seconds * 1000,
            offset: offset
        )
    }

    /// Returns the moment of some parts; `nil` if it does not exist.
    package static func date(of parts: Parts) -> Date? {
        guard (1...12).contains(parts.month), (1...31).contains(parts.day),
            (0...23).contains(parts.hour),
            (0...59).contains(parts.minute), (0...60).contains(parts.second),
            (1...9999).contains(parts.year)
        else { return nil }
        let days = daysSinceEpoch(parts.year, parts.month, parts.day)
        // February has no 30th, which would be a day of March.
        guard civil(days).2 == parts.day else { return nil }
        let seconds =
            days * 86_400 + parts.hour * 3600 + parts.minute * 60 + parts.second - parts.offset
        return Date(timeIntervalSince1970: Double(seconds) + Double(parts.millisecond) / 1000)
    }

    /// Formats a date as RFC 3339, with milliseconds and an offset: `2026-11-21T09:01:00.123+01:00`.
    package static func rfc3339(_ date: Date, in timeZone: LocalZone) -> String {
        let parts = parts(of: date, in: timeZone)
        let day = "\(pad(parts.year, 4))-\(pad(parts.month, 2))-\(pad(parts.day, 2))"
        let time =
            "\(pad(parts.hour, 2)):\(pad(parts.minute, 2)):\(pad(parts.second, 2)).\(pad(parts.millisecond, 3))"
        guard parts.offset != 0 else { return "\(day)T\(time)Z" }
        let minutes = abs(parts.offset) / 60
        let sign = parts.offset < 0 ? "-" : "+"
        return "\(day)T\(time)\(sign)\(pad(minutes / 60, 2)):\(pad(minutes % 60, 2))"
    }

    /// Parses RFC 3339; returns `nil` for any other text or a date that does not exist.
    package static func date(rfc3339 text: String) -> Date? {
        parts(rfc3339: text).flatMap(date(of:))
    }

    /// Parses RFC 3339; returns `nil` if the text has another form.
    static func parts(rfc3339 text: String) -> Parts? {
        var scanner = TextScanner(text)
        let parts = parts(&scanner)
        return scanner.isAtEnd ? parts : nil
    }

    /// Consumes a moment in RFC 3339, or in the same form with other separators.
    static func parts(
        _ scanner: inout TextScanner,
        dash: String = "-",
        colon: String = ":"
    ) -> Parts? {
        guard let year = scanner.number(digits: 4), scanner.take(dash),
            let month = scanner.number(digits: 2), scanner.take(dash),
            let day = scanner.number(digits: 2), scanner.take("T"),
            let hour = scanner.number(digits: 2), scanner.take(colon),
            let minute = scanner.number(digits: 2), scanner.take(colon),
            let second = scanner.number(digits: 2),
            let millisecond = milliseconds(&scanner), let offset = offset(&scanner)
        else { return nil }
        return Parts(
            year: year,
            month: month,
            day: day,
            hour: hour,
            minute: minute,
            second: second,
            millisecond: millisecond,
            offset: offset
        )
    }

    /// Consumes a fraction of a second of one to nine digits, or nothing.
    private static func milliseconds(_ scanner: inout TextScanner) -> Int? {
        guard scanner.take(".") else { return 0 }
        var nanoseconds = 0
        var unit = 1_000_000_000
        while unit > 1, let digit = scanner.number(digits: 1) {
            unit /= 10
            nanoseconds += digit * unit
        }
        return unit < 1_000_000_000 ? (nanoseconds + 500_000) / 1_000_000 : nil
    }

    /// Consumes an offset, and returns seconds east of UTC.
    private static func offset(_ scanner: inout TextScanner) -> Int? {
        if scanner.take("Z") { return 0 }
        guard let sign = scanner.take(oneOf: ["+", "-"]), let hours = scanner.number(digits: 2),
            scanner.take(":"), let minutes = scanner.number(digits: 2)
        else { return nil }
        return (sign == 0 ? 60 : -60) * (hours * 60 + minutes)
    }

    package static func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    // Days since 1970-01-01 in the proleptic Gregorian calendar, and back
    // (https://howardhinnant.github.io/date_algorithms.html).

    package static func daysSinceEpoch(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    package static func civil(_ days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    package static func floorDivide(_ dividend: Int, _ divisor: Int) -> Int {
        dividend >= 0 ? dividend / divisor : -((divisor - 1 - dividend) / divisor)
    }
}
