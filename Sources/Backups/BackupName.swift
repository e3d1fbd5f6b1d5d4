internal import Files
public import Foundation
internal import Remotes

/// The names of backups' files: `[2026-Nov-21] 09.01 AM +0100 Stores.zip`, in local time and English.
///
/// A name contains the offset from UTC unless that is 0, so that it means the same moment everywhere. An increment's
/// name ends in `Changes.zip`, to distinguish it from a full backup. An encrypted backup's name ends in `.age`.
public enum BackupName {
    /// The end of a full backup's name.
    public static let suffix = "Stores.zip"
    /// The end of an increment's name.
    public static let incrementSuffix = "Changes.zip"

    /// The last part of an encrypted backup's name.
    public static let encryptedEnding = ".age"

    /// The ends of all backups' names.
    ///
    /// A longer end precedes a shorter one that it contains.
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

    /// Returns whether a file may be an archive, whatever its name says of a backup.
    ///
    /// A program that synchronises the folder may have given another name to a backup.
    static func mayBeArchive(_ name: String) -> Bool {
        let name = name.lowercased()
        return (name.hasSuffix(".zip") || name.hasSuffix(encryptedEnding))
            && !PartialName.matches(name) && !name.hasPrefix("._")
    }

    /// Returns whether a file that has no backup's name has one with something added, as a copy of a backup has:
    /// `[2026-Nov-21] 09.01 AM Stores (1).zip`.
    static func isAltered(_ name: String) -> Bool {
        var scanner = TextScanner(name)
        guard suffix(of: name) == nil, mayBeArchive(name), moment(&scanner) != nil else {
            return false
        }
        let rest = scanner.remainder
        return rest.contains(" Stores") || rest.contains(" Changes")
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the name of a backup made at a time.
    ///
    /// The second and later backups of a minute get a number.
    public static func make(
        _ date: Date,
        in timeZone: LocalZone,
        number: Int = 1,
        isIncrement: Bool = false,
        isEncrypted: Bool = false
    ) -> String {
        let suffix =
            (isIncrement ? incrementSuffix : suffix) + (isEncrypted ? encryptedEnding : "")
        let parts = Timestamp.parts(of: date, in: timeZone)
        let hour = Timestamp.pad((parts.hour + 11) % 12 + 1, 2)
        let time = "\(hour).\(Timestamp.pad(parts.minute, 2)) \(parts.hour < 12 ? "AM" : "PM")"
        let place = parts.offset == 0 ? "" : " \(offset(parts.offset))"
        return "\(beginning(parts)) \(time)\(place)\(number > 1 ? " (\(number))" : "") \(suffix)"
    }

    /// Returns the name of a backup made at a time, and the names of the other kinds with the same display name.
    static func makeAll(
        _ date: Date,
        in timeZone: LocalZone,
        number: Int,
        isIncrement: Bool,
        isEncrypted: Bool
    ) -> (name: String, others: [String]) {
        let name = make(
            date,
            in: timeZone,
            number: number,
            isIncrement: isIncrement,
            isEncrypted: isEncrypted
        )
        let ending = suffix(of: name) ?? ""
        let base = name.dropLast(ending.count)
        return (name, suffixes.filter { $0 != ending }.map { base + $0 })
    }

    /// Returns the first part of the names of a day: `[2026-Nov-21]`.
    private static func beginning(_ parts: Timestamp.Parts) -> String {
        "[\(Timestamp.pad(parts.year, 4))-\(months[parts.month - 1])-\(Timestamp.pad(parts.day, 2))]"
    }

    /// Returns the first part of the names of a day given as `2026-11-21`; `nil` if the text is no valid day.
    static func beginning(ofDay text: String) -> String? {
        Timestamp.parts(rfc3339: text + "T00:00:00Z").flatMap { parts in
            Timestamp.date(of: parts).map { _ in beginning(parts) }
        }
    }

    /// Returns seconds east of UTC in the form of a name: `+0100`.
    private static func offset(_ seconds: Int) -> String {
        let minutes = abs(seconds) / 60
        return (seconds < 0 ? "-" : "+") + Timestamp.pad(minutes / 60 * 100 + minutes % 60, 4)
    }

    /// Returns the display name: the name without ` Stores.zip` or ` Changes.zip`.
    public static func display(_ name: String) -> String {
        guard let suffix = suffix(of: name) else { return name }
        let rest = name.dropLast(suffix.count)
        let trimmed = rest.hasSuffix(" ") ? rest.dropLast() : rest
        return trimmed.isEmpty ? name : String(trimmed)
    }

    /// Returns whether a text is a part of a backup's name, and not the whole name of another one.
    ///
    /// `[2026-Nov-21] 09.01 AM` is another backup than `[2026-Nov-21] 09.01 AM (2)`.
    static func mayBePart(_ text: String, of name: String) -> Bool {
        guard name.utf8.contains(text.utf8), date(of: text) == nil else { return false }
        let isWhole = date(of: "\(text) \(suffix)") != nil
        return !isWhole || !display(name).exact.hasPrefix("\(text) (".exact)
    }

    /// Returns the name to try after one that is taken: with a number, or with the next number.
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
        let end = "(\(number + 1)) \(suffix)"
        while base.utf8.count + end.utf8.count >= FileName.longest { base.removeLast() }
        return base.isEmpty ? end : "\(base) \(end)"
    }

    /// Shortens a name to a number of bytes.
    ///
    /// It drops whole characters before the end, and keeps the end.
    package static func fitting(_ name: String, _ limit: Int = FileName.longest) -> String {
        guard name.utf8.count > limit else { return name }
        let suffix = suffix(of: name).map { " \($0)" } ?? ""
        var base = display(name)
        while !base.isEmpty, base.utf8.count + suffix.utf8.count > limit { base.removeLast() }
        return base + suffix
    }

    /// Returns the backup's number within its minute, from its name; 1 if the name has no number.
    static func number(of name: String) -> Int {
        let shown = display(name)
        guard shown.hasSuffix(")"), let opening = shown.lastIndex(of: "("),
            let number = Int(shown[shown.index(after: opening)...].dropLast()), number > 0
        else { return 1 }
        return number
    }

    /// Parses the time in a name.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - timeZone: the time zone of a name without an offset. Names that this program made without an offset are in
    ///     UTC.
    /// - Returns: the time; `nil` if the name does not have this format.
    public static func date(of name: String, in timeZone: LocalZone = .utc) -> Date? {
        guard let (parts, offset) = Self.parts(of: name) else { return nil }
        let date = Timestamp.date(of: parts)
        return offset == nil ? date.map { timeZone.moment($0) } : date
    }

    /// Returns the offset from UTC in a name, in seconds; `nil` if it has none.
    static func offset(of name: String) -> Int? { parts(of: name)?.offset }

    private static func parts(of name: String) -> (Timestamp.Parts, offset: Int?)? {
        var scanner = TextScanner(name)
        guard var parts = moment(&scanner) else { return nil }
        var offset: Int?
        if let sign = scanner.take(oneOf: [" +", " -"]) {
            guard let digits = scanner.number(digits: 4), digits % 100 < 60 else { return nil }
            offset = (sign == 0 ? 60 : -60) * (digits / 100 * 60 + digits % 100)
        }
        if scanner.take(" ("), scanner.number(digits: 1...18) == nil || !scanner.take(")") {
            return nil
        }
        guard scanner.take(oneOf: suffixes.map { " \($0)" }) != nil, scanner.isAtEnd else {
            return nil
        }
        parts.offset = offset ?? 0
        return (parts, offset)
    }

    /// Takes the moment at the beginning of a name: `[2026-Nov-21] 09.01 AM`.
    private static func moment(_ scanner: inout TextScanner) -> Timestamp.Parts? {
        guard scanner.take("["), let year = scanner.number(digits: 4), scanner.take("-"),
            let month = scanner.take(oneOf: months), scanner.take("-"),
            let day = scanner.number(digits: 2), scanner.take("] "),
            let hour = scanner.number(digits: 2), scanner.take("."),
            let minute = scanner.number(digits: 2),
            let half = scanner.take(oneOf: [" AM", " PM"]), (1...12).contains(hour), minute < 60
        else { return nil }
        return Timestamp.Parts(
            year: year,
            month: month + 1,
            day: day,
            hour: hour % 12 + 12 * half,
            minute: minute,
            offset: 0
        )
    }
}
