/// A clock that goes with the wall's where it can, and never back.
///
/// It trusts no clock: one that is behind what was seen, or absurd, is counted on from what was seen.
public struct HybridClock: Hashable, Sendable {
    /// All readings are below this, 2⁵⁹ (some time in the year 2248).
    public static let limit: UInt64 = 1 << 59
    /// A wall clock from here on, the start of the year 2100 in milliseconds, is not believed.
    public static let unbelievable: Int64 = 4_102_444_800_000

    /// The greatest reading that was seen or used.
    public private(set) var last: UInt64

    /// Goes on from the greatest reading that was seen or used.
    public init(last: UInt64 = 0) {
        self.last = min(last, Self.limit - 1)
    }

    /// Takes note of another device's reading.
    public mutating func observe(_ clock: UInt64) {
        last = max(last, min(clock, Self.limit - 1))
    }

    /// Goes on to the reading of a capture, later than all that was seen.
    ///
    /// Once a reading just below the limit was seen, by malice, all further ones equal it: edits then
    /// compete by device and value.
    ///
    /// - Parameters:
    ///   - now: the wall clock, in milliseconds since 1970.
    ///   - modified: when the store or its log last changed, likewise: the edits are not later.
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
