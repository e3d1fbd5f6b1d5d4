internal import Crypto

/// A hash of bytes, added piece by piece, that only those can aim at who have the key.
public struct KeyedHash {
    private var hasher = SHA256()

    /// Begins with a key: a secret of this machine, 16 bytes or more.
    public init(key: [UInt8]) { hasher.update(data: key) }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hasher.update(bufferPointer: bytes)
    }

    /// The first 64 bits of the SHA-256 of the key and all bytes until now.
    public func finish() -> UInt64 {
        hasher.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}
