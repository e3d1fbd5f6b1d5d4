internal import Crypto

/// A SHA-256 of bytes that come in parts.
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
