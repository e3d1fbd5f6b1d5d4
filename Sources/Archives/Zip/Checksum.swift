internal import CIsal
internal import CZlib

/// CRC-32 as in zip (APPNOTE 4.4.7).
public struct Checksum {
    public private(set) var value: UInt32 = 0

    public init() {}

    init(of bytes: UnsafeRawBufferPointer) {
        append(bytes)
    }

    /// Appends bytes.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        value = cisal_crc32(value, start, bytes.count)
    }

    /// Appends `length` bytes whose own checksum is known.
    mutating func append(_ next: UInt32, length: Int) {
        // A checksum of 0 needs no shift.
        guard value != 0 else { return value = next }
        value = UInt32(truncatingIfNeeded: crc32_combine(UInt(value), UInt(next), length))
    }
}
