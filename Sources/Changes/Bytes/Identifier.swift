/// Sixteen bytes that identify a row, a device, a group or a schema.
///
/// They compare as bytes do (`memcmp`), and their text is 32 lower-case hexadecimal digits.
public protocol Identifier: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The first eight bytes as a big-endian number.
    var high: UInt64 { get }
    /// The last eight bytes as a big-endian number.
    var low: UInt64 { get }
    /// Creates an identifier from its two halves.
    init(high: UInt64, low: UInt64)
}

extension Identifier {
    /// Sixteen zeros, which identify nothing.
    public static var zero: Self { Self(high: 0, low: 0) }

    /// Whether it identifies nothing.
    public var isZero: Bool { high | low == 0 }

    /// Reads exactly sixteen bytes; `nil` if there are more or fewer.
    @inlinable
    public init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    /// Reads exactly sixteen bytes; `nil` if there are more or fewer.
    @inlinable
    public init?(bytes: some Collection<UInt8>) {
        let id = Array(bytes).withUnsafeBytes { Self(bytes: $0) }
        guard let id else { return nil }
        self = id
    }

    /// Reads 32 lower-case hexadecimal digits, as `description` writes them.
    public init?(hex: some StringProtocol) {
        let digits = hex.utf8
        guard digits.count == 32, let high = UInt64(lowerHex: digits.prefix(16)),
            let low = UInt64(lowerHex: digits.dropFirst(16))
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Its sixteen bytes.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Passes its sixteen bytes to a closure.
    @inlinable
    public func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try Swift.withUnsafeBytes(of: (high.bigEndian, low.bigEndian), body)
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { high.lowerHex + low.lowerHex }

    public static func < (left: Self, right: Self) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

/// The id of a device: one copy of a store that takes part.
public struct DeviceID: Identifier {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The eight hexadecimal digits that the names of its files contain.
    public var shortDescription: String { String(high.lowerHex.prefix(8)) }
}

/// The id of a group of devices.
///
/// A group has several ids if several devices began it at the same time.
public struct GroupID: Identifier {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// The first half of a hash of the part of a schema that syncs.
///
/// It serves for equality and messages only.
public struct SchemaID: Identifier {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension UInt64 {
    /// Sixteen lower-case hexadecimal digits.
    var lowerHex: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Reads one to sixteen lower-case hexadecimal digits.
    init?(lowerHex digits: some Collection<UInt8>) {
        guard (1...16).contains(digits.count) else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        self = value
    }
}
