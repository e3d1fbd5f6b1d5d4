internal import Backups

/// The rules for which backups to keep; restic's words, with restic's meaning
/// (https://restic.readthedocs.io/en/stable/060_forget.html).
public struct RetentionPolicy: Sendable, Equatable {
    /// The periods of which a number of backups is kept, the newest of each.
    public enum Period: String, Sendable, CaseIterable {
        case last, hourly, daily, weekly, monthly, yearly
    }

    /// How many to keep of each period; -1 keeps one of every.
    public var counts: [Period: Int] = [:]
    /// Keep all that are not older than this before the newest.
    public var within: CalendarSpan?
    /// Keep one of each period that is not older than this before the newest.
    public var withinPeriods: [Period: CalendarSpan] = [:]
    /// Keep backups that have all tags of one of these lists.
    public var tags: [[String]] = []

    public init() {}

    /// Whether it says nothing, and would keep nothing.
    public var isEmpty: Bool {
        counts.values.allSatisfy { $0 == 0 } && within == nil && withinPeriods.isEmpty
            && tags.isEmpty
    }
}

/// A length of time on the calendar, as restic writes it: `2y5m7d3h`.
public struct CalendarSpan: Sendable, Equatable, CustomStringConvertible {
    public var years = 0
    public var months = 0
    public var days = 0
    public var hours = 0

    /// Reads `2y5m7d3h`, each part once at most; `nil` for anything else.
    public init?(_ text: String) {
        var scanner = TextScanner(text)
        var parts: [WritableKeyPath<CalendarSpan, Int>] = []
        while !scanner.isAtEnd {
            guard let number = scanner.number(digits: 1...6),
                let unit = scanner.take(oneOf: ["y", "m", "d", "h"])
            else { return nil }
            let part = [\CalendarSpan.years, \.months, \.days, \.hours][unit]
            guard !parts.contains(part) else { return nil }
            parts.append(part)
            self[keyPath: part] = number
        }
        guard !parts.isEmpty else { return nil }
    }

    public var description: String {
        [(years, "y"), (months, "m"), (days, "d"), (hours, "h")]
            .filter { $0.0 != 0 }.map { "\($0.0)\($0.1)" }.joined()
    }
}
