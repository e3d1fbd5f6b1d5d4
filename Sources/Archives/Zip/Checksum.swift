internal import CIsal
internal import CZlib

/// CRC-32 as in zip (ISA-L's `crc32_gzip_refl`).
struct Checksum {
    private(set) var value: UInt32 = 0

    init() {}

    init(of bytes: UnsafeRawBufferPointer) {
        value = crc32_gzip_refl(
            0,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            UInt64(bytes.count)
        )
    }

    /// The checksum of more bytes after these.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        value = crc32_gzip_refl(
            value,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            UInt64(bytes.count)
        )
    }

    /// The checksum of these bytes and `length` bytes after them whose checksum is known.
    mutating func append(_ next: UInt32, length: Int) {
        value = UInt32(truncatingIfNeeded: crc32_combine(UInt(value), UInt(next), length))
    }
}
