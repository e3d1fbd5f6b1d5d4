/// A clock that follows the wall clock if it can, and never goes back.
///
/// It trusts no wall clock: if one is behind the greatest known reading, or absurd, the clock counts on from that
/// reading.
public struct HybridClock: Hashable, Sendable {
    /// The upper limit of all readings, 2⁵⁹ (some time in the year 2248); readings are below it.
    public static let limit: UInt64 = 1 << 59
    /// The start of the year 2100 in milliseconds; a wall clock from then on is not believed.
    public static let unbelievable: Int64 = 4_102_444_800_000
    /// The start of the year 2026 in milliseconds; a wall clock before that is not believed either.
    private static let earliest: Int64 = 1_767_225_600_000
    /// The longest time by which another device's reading may be ahead of the wall clock here, in milliseconds: 75
    /// years.
    private static let reach: Int64 = 75 * 31_557_600_000

    /// The greatest reading that was seen or used.
    public private(set) var last: UInt64

    /// Continues from the greatest reading that was seen or used.
    public init(last: UInt64 = 0) {
        self.last = min(last, Self.limit - 1)
    }

    /// Takes another device's reading into account.
    public mutating func observe(_ clock: UInt64) {
        last = max(last, min(clock, Self.limit - 1))
    }

    /// Returns the limit of the readings that are taken from other devices at a time.
    ///
    /// A fixed limit would leave no room above a malicious reading just below it: nobody would take the later ones
    /// of honest devices. This limit moves by 65,536 readings a millisecond, and clocks count on by one a capture. It
    /// is beyond each wall clock that a device believes, by a year at least.
    ///
    /// - Parameter now: the wall clock, in milliseconds since 1970.
    /// - Returns: the limit; readings are below it.
    public static func horizon(at now: Int64) -> UInt64 {
        let wall = now < unbelievable ? max(now, earliest) : earliest
        return UInt64(wall + reach) << 16
    }

    /// Advances to the reading of a capture, which is later than all readings seen.
    ///
    /// - Parameters:
    ///   - now: the wall clock, in milliseconds since 1970.
    ///   - modified: the time of the last change of the store or its log, likewise; the edits are not later.
    /// - Returns: the reading.
    public mutating func tick(now: Int64, modified: Int64) -> UInt64 {
        let wall = min(now, modified)
        var reading = min(last + 1, Self.limit - 1)
        if now < Self.unbelievable, wall > 0 { reading = max(reading, UInt64(wall) << 16) }
        last = reading
        return reading
    }

    /// Returns a reading as milliseconds since 1970.
    public static func milliseconds(of clock: UInt64) -> Int64 { Int64(clock >> 16) }

    /// Returns the year of a reading, by years of 365.25 days.
    static func year(of clock: UInt64) -> Int64 { 1970 + milliseconds(of: clock) / 31_557_600_000 }
}
