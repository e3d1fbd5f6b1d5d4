public import Foundation

/// The names of backups' files: `[2026-Nov-21] 09.01 AM Stores.zip`, in local time and English.
///
/// An increment's ends in `Changes.zip`, so that nobody takes it for a whole one. `.age` follows if it is encrypted.
public enum BackupName {
    /// The end of a whole backup's name.
    public static let suffix = "Stores.zip"
    /// The end of an increment's name.
    public static let incrementSuffix = "Changes.zip"

    /// What follows the name of a backup that is encrypted.
    public static let encryptedEnding = ".age"

    /// The ends of all backups' names; none begins another that comes after it.
    public static let suffixes = [encryptedEnding, ""].flatMap { ending in
        [suffix, incrementSuffix].map { $0 + ending }
    }

    /// Returns whether a backup is encrypted.
    public static func isEncrypted(_ name: String) -> Bool { name.hasSuffix(encryptedEnding) }

    /// Returns whether a backup is built on others.
    public static func isIncrement(_ name: String) -> Bool {
        let plain = isEncrypted(name) ? name.dropLast(encryptedEnding.count) : name[...]
        return plain.hasSuffix(incrementSuffix)
    }

    /// Returns the end of a backup's name; `nil` for a file of another name.
    public static func suffix(of name: String) -> String? { suffixes.first(where: name.hasSuffix) }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the name of a backup made at a time; from the second one of a minute on, with its number.
    public static func make(
        _ date: Date,
        in timeZone: TimeZone,
        number: Int = 1,
        isIncrement: Bool = false,
        isEncrypted: Bool = false
    ) -> String {
        let suffix =
            (isIncrement ? incrementSuffix : suffix) + (isEncrypted ? encryptedEnding : "")
        let parts = Timestamp.parts(of: date, in: timeZone)
        let day =
            "\(Timestamp.pad(parts.year, 4))-\(months[parts.month - 1])-\(Timestamp.pad(parts.day, 2))"
        let hour = Timestamp.pad((parts.hour + 11) % 12 + 1, 2)
        let time = "\(hour).\(Timestamp.pad(parts.minute, 2)) \(parts.hour < 12 ? "AM" : "PM")"
        return "[\(day)] \(time)\(number > 1 ? " (\(number))" : "") \(suffix)"
    }

    /// Returns a name as people see it: without ` Stores.zip` or ` Changes.zip`.
    public static func display(_ name: String) -> String {
        guard let suffix = suffix(of: name) else { return name }
        let rest = name.dropLast(suffix.count)
        let trimmed = rest.hasSuffix(" ") ? rest.dropLast() : rest
        return trimmed.isEmpty ? name : String(trimmed)
    }

    /// Returns the name to try after one that is taken: with its number, or the next one.
    package static func next(after name: String) -> String {
        let suffix = suffix(of: name) ?? suffix
        var base = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
        while base.hasSuffix(" ") { base.removeLast() }
        var number = 1
        if base.hasSuffix(")"), let opening = base.lastIndex(of: "("),
            let old = Int(base[base.index(after: opening)...].dropLast()),
            (2..<1_000_000).contains(old)
        {
            number = old
            base = String(base[..<opening])
            while base.hasSuffix(" ") { base.removeLast() }
        }
        return [base, "(\(number + 1))", suffix].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Returns which backup of its minute one is, as its name tells; 1 if there is no number in it.
    static func number(of name: String) -> Int {
        let shown = display(name)
        guard shown.hasSuffix(")"), let opening = shown.lastIndex(of: "("),
            let number = Int(shown[shown.index(after: opening)...].dropLast()), number > 0
        else { return 1 }
        return number
    }

    /// Returns the time that a name tells; `nil` if it is not a name of ours.
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
        guard scanner.take(oneOf: suffixes.map { " \($0)" }) != nil, scanner.isAtEnd,
            (1...12).contains(hour), minute < 60
        else { return nil }
        let parts = Timestamp.Parts(
            year: year,
            month: month + 1,
            day: day,
            hour: hour % 12 + 12 * half,
            minute: minute
        )
        return Timestamp.date(of: parts).map { Timestamp.moment($0, in: timeZone) }
    }
}
