public import Files

/// A growing array of bytes in the notation of the formats; see Documentation/Design/Sync.md.
public struct ByteWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// Reserves capacity for further bytes, so that they need no reallocation.
    public mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(bytes.count + count)
    }

    public mutating func byte(_ byte: UInt8) {
        bytes.append(byte)
    }

    /// Writes bytes without their length.
    public mutating func raw(_ content: some Collection<UInt8>) {
        bytes.append(contentsOf: content)
    }

    /// Writes a length, then that many bytes.
    public mutating func bytes(_ content: [UInt8]) {
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// Writes an unsigned number as LEB128 in its shortest form.
    public mutating func varint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a signed number as zigzag, then as a varint.
    public mutating func zigzag(_ number: Int64) {
        varint(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    /// Writes a number as eight bytes, big-endian.
    public mutating func bigEndian(_ number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    /// Writes a number as four bytes, big-endian.
    public mutating func bigEndian(_ number: UInt32) {
        for shift in stride(from: 24, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
        }
    }

    public mutating func identifier(_ id: some Identifier) {
        bigEndian(id.high)
        bigEndian(id.low)
    }

    public mutating func digest(_ digest: Digest) {
        digest.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// Writes a value: its tag, then the content that the tag requires.
    public mutating func value(_ value: Value) {
        bytes.append(value.tag)
        switch value {
        case .null: break
        case .integer(let number): zigzag(number)
        case .real(let number): bigEndian(number.bitPattern)
        case .text(let content), .blob(let content): bytes(content)
        case .row(let id): identifier(id)
        case .file(let name, let content):
            bytes(name)
            reference(content)
        case .longText(let content), .longBlob(let content): reference(content)
        case .plain(let content): self.value(content)
        case .naming(let id, let content):
            identifier(id)
            self.value(content)
        }
    }

    private mutating func reference(_ reference: BlobReference) {
        digest(reference.digest)
        varint(reference.size)
    }
}
