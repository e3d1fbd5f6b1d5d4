internal import Backups

/// The rules for the backups to keep, with restic's words and meaning
/// (https://restic.readthedocs.io/en/stable/060_forget.html).
public struct RetentionPolicy: Sendable, Equatable {
    /// The periods for which a number of backups is kept, the newest of each period.
    public enum Period: String, Sendable, CaseIterable {
        case last, hourly, daily, weekly, monthly, yearly
    }

    /// The number of backups to keep of each period; -1 keeps one of every period.
    public var counts: [Period: Int] = [:]
    /// The span before the newest backup in which all backups are kept.
    public var within: CalendarSpan?
    /// The spans before the newest backup in which one backup of each period is kept.
    public var withinPeriods: [Period: CalendarSpan] = [:]
    /// The lists of tags; backups that have all tags of one list are kept.
    public var tags: [[String]] = []

    public init() {}

    /// Whether the policy is empty, and would keep nothing.
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

    /// Reads `2y5m7d3h`, with each part at most once; `nil` for anything else.
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
