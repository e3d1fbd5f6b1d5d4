/// A clock that follows the wall clock if it can, and never goes back.
///
/// It trusts no wall clock: if one is behind the greatest known reading, or absurd, the clock counts on from that
/// reading.
public struct HybridClock: Hashable, Sendable {
    /// The upper limit of all readings, 2⁵⁹ (some time in the year 2248); readings are below it.
    public static let limit: UInt64 = 1 << 59
    /// The start of the year 2100 in milliseconds; a wall clock from then on is not believed.
    public static let unbelievable: Int64 = 4_102_444_800_000

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

    /// Advances to the reading of a capture, which is later than all readings seen.
    ///
    /// A malicious device may send a reading just below the limit. All further readings then equal it, and edits
    /// compete by device and value.
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
}
