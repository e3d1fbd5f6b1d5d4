public import Files

/// A violation of the format; readers add the name of the file.
public struct FormatBreach: Error, Equatable {
    public let reason: String

    public init(_ reason: String) {
        self.reason = reason
    }
}

/// A reader of bytes in the notation of the formats; it never reads beyond their end.
///
/// It is valid as long as the bytes that it was given. Its functions throw `FormatBreach`, and allocate no more than
/// the number of bytes left.
public struct ByteReader {
    private let base: UnsafeRawBufferPointer
    /// The number of bytes already read.
    public private(set) var position = 0

    public init(_ bytes: UnsafeRawBufferPointer) {
        base = bytes
    }

    /// The number of bytes not yet read.
    public var left: Int { base.count - position }

    public mutating func byte() throws(FormatBreach) -> UInt8 {
        guard position < base.count else { throw FormatBreach("it ends too early") }
        defer { position += 1 }
        return base[position]
    }

    /// Reads the given number of bytes without copying them.
    public mutating func raw(_ count: Int) throws(FormatBreach) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= left else { throw FormatBreach("it ends too early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: base[position..<position + count])
    }

    /// Reads a length, then that many bytes, without copying them.
    public mutating func bytes() throws(FormatBreach) -> UnsafeRawBufferPointer {
        let count = try varint()
        guard count <= UInt64(left) else { throw FormatBreach("a length is beyond its end") }
        return try raw(Int(count))
    }

    /// Reads an unsigned number of at most ten bytes of LEB128, in its shortest form only.
    public mutating func varint() throws(FormatBreach) -> UInt64 {
        let first = try byte()
        if first < 0x80 { return UInt64(first) }
        var number = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while true {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw FormatBreach("a number is beyond 64 bits") }
            number |= UInt64(next & 0x7F) << shift
            if next < 0x80 {
                guard next != 0 else { throw FormatBreach("a number is not in its shortest form") }
                return number
            }
            shift += 7
        }
    }

    /// Reads an unsigned number, and throws if it exceeds a limit.
    public mutating func varint(
        atMost limit: UInt64,
        _ reason: @autoclosure () -> String
    ) throws(FormatBreach) -> UInt64 {
        let number = try varint()
        guard number <= limit else { throw FormatBreach(reason()) }
        return number
    }

    /// Reads a count of elements of at least `width` bytes each, and throws if the remaining bytes cannot hold them.
    public mutating func count(
        of width: Int,
        atMost limit: Int = .max,
        _ things: @autoclosure () -> String
    ) throws(FormatBreach) -> Int {
        let number = try varint()
        guard number <= UInt64(limit) else { throw FormatBreach("it has too many \(things())") }
        guard number <= UInt64(left / width) else {
            throw FormatBreach("it says that it has more \(things()) than its bytes can hold")
        }
        return Int(number)
    }

    public mutating func zigzag() throws(FormatBreach) -> Int64 {
        let number = try varint()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    public mutating func bigEndian() throws(FormatBreach) -> UInt64 {
        UInt64(bigEndian: try raw(8).loadUnaligned(as: UInt64.self))
    }

    public mutating func bigEndian32() throws(FormatBreach) -> UInt32 {
        UInt32(bigEndian: try raw(4).loadUnaligned(as: UInt32.self))
    }

    public mutating func identifier<ID: Identifier>(
        _ type: ID.Type = ID.self
    ) throws(FormatBreach) -> ID {
        let high = try bigEndian()
        return ID(high: high, low: try bigEndian())
    }

    public mutating func digest() throws(FormatBreach) -> Digest {
        guard let digest = Digest(bytes: try raw(32)) else {
            throw FormatBreach("it ends too early")
        }
        return digest
    }

    /// Reads a hybrid clock's reading.
    public mutating func clock() throws(FormatBreach) -> UInt64 {
        let clock = try bigEndian()
        guard clock < HybridClock.limit else { throw FormatBreach("a clock is beyond its limit") }
        return clock
    }

    /// Throws if bytes are left.
    public func end() throws(FormatBreach) {
        guard left == 0 else { throw FormatBreach("it goes on after its end") }
    }
}

extension ByteReader {
    /// Reads a value.
    public mutating func value() throws(FormatBreach) -> Value {
        switch try byte() {
        case 0: .null
        case 1: .integer(try zigzag())
        case 2: .real(try real())
        case 3: .text(Array(try bytes()))
        case 4: .blob(Array(try bytes()))
        case 5: .row(try identifier())
        case 6: .file(name: Array(try fileName()), content: try reference())
        case 7: .longText(try reference())
        case 8: .longBlob(try reference())
        case 9: .plain(try storedValue())
        case 10: .naming(try identifier(), try storedValue())
        default: throw FormatBreach("a value is of an unknown kind")
        }
    }

    private mutating func storedValue() throws(FormatBreach) -> Value {
        try checkStored()
        return try value()
    }

    /// Checks that a number, a text or a blob follows.
    private func checkStored() throws(FormatBreach) {
        guard left > 0, [1, 2, 3, 4, 7, 8].contains(base[position]) else {
            throw FormatBreach("a value in a reference is no value of a store")
        }
    }

    /// Skips a value, and checks it as `value` does, without creating it.
    public mutating func skipValue() throws(FormatBreach) {
        let tag = try byte()
        switch tag {
        case 0: break
        case 1: _ = try varint()
        case 2: _ = try real()
        case 3, 4: _ = try bytes()
        case 5: _ = try raw(16)
        case 6:
            _ = try fileName()
            try skipReference()
        case 7, 8: try skipReference()
        case 9, 10:
            if tag == 10 { _ = try raw(16) }
            try checkStored()
            try skipValue()
        default: throw FormatBreach("a value is of an unknown kind")
        }
    }

    private mutating func real() throws(FormatBreach) -> Double {
        let number = Double(bitPattern: try bigEndian())
        guard !number.isNaN else { throw FormatBreach("a number is NaN, which SQLite cannot keep") }
        return number
    }

    private mutating func reference() throws(FormatBreach) -> BlobReference {
        let digest = try digest()
        return BlobReference(digest: digest, size: try blobSize())
    }

    private mutating func skipReference() throws(FormatBreach) {
        _ = try raw(32)
        _ = try blobSize()
    }

    private mutating func blobSize() throws(FormatBreach) -> UInt64 {
        try varint(atMost: BlobReference.maximumSize, "a blob is too long")
    }

    private mutating func fileName() throws(FormatBreach) -> UnsafeRawBufferPointer {
        let name = try bytes()
        guard Value.isFileName(name) else {
            throw FormatBreach("a file's name is no path below a directory")
        }
        return name
    }
}
