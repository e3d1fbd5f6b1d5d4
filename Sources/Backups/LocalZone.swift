public import Foundation

/// The offsets of local clocks from UTC.
public struct LocalZone: Sendable {
    private let rules: @Sendable (Date) -> Int

    /// Creates a zone from any rules, which return seconds east of UTC.
    public init(_ rules: @escaping @Sendable (Date) -> Int) {
        self.rules = rules
    }

    /// Creates a zone with one offset for all moments, in seconds east of UTC.
    public init(offset: Int) {
        self.init { _ in offset }
    }

    public static let utc = LocalZone(offset: 0)

    /// The zone of this process as the C library knows it: that of `TZ`, which may be rules without a name, or else of
    /// `/etc/localtime`.
    public static let current: LocalZone = {
        tzset()
        return LocalZone { date in
            // The library cannot convert times beyond this range, and no backup has one.
            var time = time_t(min(max(date.timeIntervalSince1970, -1e14), 1e14).rounded(.down))
            var parts = tm()
            return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
        }
    }()

    /// Returns the offset at a moment in seconds east of UTC, in whole minutes, since names and RFC 3339 have no
    /// seconds.
    package func offset(at date: Date) -> Int { Timestamp.floorDivide(rules(date), 60) * 60 }

    /// Returns the moment at which local clocks show a given time.
    ///
    /// - Parameters:
    ///   - local: the moment at which UTC clocks show that time.
    ///   - isLast: whether to return the later moment if clocks were set back and show the time twice. A time that was
    ///     skipped is converted with the offset from before the change.
    /// - Returns: the moment.
    package func moment(_ local: Date, isLast: Bool = false) -> Date {
        // Clocks do not change twice within two days.
        let moments = [-86_400.0, 86_400].map { local - Double(offset(at: local + $0)) }
        let shown = moments.filter { $0 + Double(offset(at: $0)) == local }
        return (isLast ? shown.max() : shown.min()) ?? moments[0]
    }
}
