internal import Crypto
public import SystemPackage

/// A SHA-256 (FIPS 180-4).
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    /// The bytes, in the order of memory.
    ///
    /// This is no vector, which would be aligned to 32 bytes. As Swift 6.3.1 optimizes asynchronous functions, their
    /// frames are too small for such a value, so that the program overwrites its own memory.
    private struct Words: Hashable {
        var first: UInt64 = 0
        var second: UInt64 = 0
        var third: UInt64 = 0
        var fourth: UInt64 = 0
    }

    private let value: Words

    /// Hashes bytes.
    public init(of bytes: UnsafeRawBufferPointer) {
        var hasher = SHA256()
        hasher.update(bufferPointer: bytes)
        self.init(hasher)
    }

    /// The digest of zero bytes.
    public static let ofNothing = Digest(of: UnsafeRawBufferPointer(start: nil, count: 0))

    /// Hashes all bytes of a file, following symbolic links.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - progressed: called with the number of bytes just read; throws to stop.
    /// - Throws: `FileError`; what `progressed` throws.
    public init(contentsOf path: FilePath, progressed: (Int64) throws -> Void = { _ in }) throws {
        let file = try File.open(path)
        var hasher = SHA256()
        try file.forEachPart { bytes, _ in
            hasher.update(bufferPointer: bytes)
            try progressed(Int64(bytes.count))
        }
        self.init(hasher)
    }

    /// Creates a digest from its 32 bytes; `nil` for any other number of bytes.
    public init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        value = bytes.loadUnaligned(as: Words.self)
    }

    init(_ hasher: SHA256) {
        value = hasher.finalize().withUnsafeBytes { $0.loadUnaligned(as: Words.self) }
    }

    /// Calls a closure with the 32 bytes.
    public func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows
        -> Result
    {
        try Swift.withUnsafeBytes(of: value) { try body($0) }
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Some of the bits as a number, as evenly distributed as the digest.
    public var key: UInt32 {
        withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self)) }
    }

    /// Parses 64 lower-case hexadecimal digits, as `description` writes them.
    public init?(hex: [UInt8]) {
        guard hex.count == 64 else { return nil }
        var value = Words()
        let isHex = Swift.withUnsafeMutableBytes(of: &value) { bytes in
            for (index, digit) in hex.enumerated() {
                guard let half = hexValue(digit) else { return false }
                bytes[index / 2] = bytes[index / 2] << 4 | half
            }
            return true
        }
        guard isHex else { return nil }
        self.value = value
    }

    /// The digest as 64 lower-case hexadecimal digits.
    public var description: String {
        withUnsafeBytes { bytes in
            String(unsafeUninitializedCapacity: 64) { buffer in
                for (index, byte) in bytes.enumerated() {
                    buffer[2 * index] = hexDigit(byte >> 4)
                    buffer[2 * index + 1] = hexDigit(byte & 15)
                }
                return 64
            }
        }
    }
}

private func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

private func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
}

/// A SHA-256 of bytes that arrive in parts.
public struct RunningDigest: Sendable {
    private var hasher = SHA256()

    public init() {}

    /// Adds the next part.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hasher.update(bufferPointer: bytes)
    }

    /// The digest of all parts so far; more may follow.
    public var digest: Digest { Digest(hasher) }
}

/// A hash of bytes, added piece by piece.
///
/// Without the key, nobody can construct bytes with a chosen hash.
public struct KeyedHash {
    private var hasher = SHA256()

    /// Starts with a key: a secret of this machine, 16 bytes or more.
    public init(key: [UInt8]) { hasher.update(data: key) }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hasher.update(bufferPointer: bytes)
    }

    /// Returns the first 64 bits of the SHA-256 of the key and all bytes so far.
    public func finish() -> UInt64 {
        hasher.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}
