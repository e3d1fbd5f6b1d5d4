public import Foundation

/// What a backup's file is called: `[2026-Nov-21] 09.01 AM Stores.zip`, in local time and English.
public enum BackupName {
    /// What the name of every backup ends with.
    public static let suffix = "Stores.zip"

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The name of a backup made at a time.
    ///
    /// - Parameters:
    ///   - date: when.
    ///   - timeZone: where.
    ///   - number: 1 for the first one of that minute; from 2 on it is in the name.
    /// - Returns: a file name with its ending.
    public static func make(_ date: Date, in timeZone: TimeZone, number: Int = 1) -> String {
        let parts = Timestamp.parts(of: date, in: timeZone)
        let day =
            "\(Timestamp.pad(parts.year, 4))-\(months[parts.month - 1])-\(Timestamp.pad(parts.day, 2))"
        let hour = Timestamp.pad((parts.hour + 11) % 12 + 1, 2)
        let time = "\(hour).\(Timestamp.pad(parts.minute, 2)) \(parts.hour < 12 ? "AM" : "PM")"
        return "[\(day)] \(time)\(number > 1 ? " (\(number))" : "") \(suffix)"
    }

    /// What a person sees of a name: all but ` Stores.zip`.
    public static func display(_ name: String) -> String {
        guard name.hasSuffix(suffix) else { return name }
        let rest = name.dropLast(suffix.count)
        let trimmed = rest.hasSuffix(" ") ? rest.dropLast() : rest
        return trimmed.isEmpty ? name : String(trimmed)
    }

    /// The time that a name tells; `nil` where it is not a name of ours.
    public static func date(of name: String, in timeZone: TimeZone) -> Date? {
        var scanner = TextScanner(name)
        guard scanner.take("["), let year = scanner.number(digits: 4), scanner.take("-"),
            let month = scanner.take(oneOf: months), scanner.take("-"),
            let day = scanner.number(digits: 2), scanner.take("] "),
            let hour = scanner.number(digits: 2), scanner.take("."),
            let minute = scanner.number(digits: 2),
            let half = scanner.take(oneOf: [" AM", " PM"])
        else { return nil }
        if scanner.take(" ("), scanner.number(digits: 1...18) == nil || !scanner.take(")") {
            return nil
        }
        guard scanner.take(" \(suffix)"), scanner.isAtEnd, (1...12).contains(hour), minute < 60
        else {
            return nil
        }
        let parts = Timestamp.Parts(
            year: year,
            month: month + 1,
            day: day,
            hour: hour % 12 + 12 * half,
            minute: minute,
            second: 0,
            millisecond: 0,
            offset: 0
        )
        return Timestamp.date(of: parts).map { Timestamp.moment($0, in: timeZone) }
    }
}
