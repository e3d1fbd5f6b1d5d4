public import Files

/// One segment of an entry's data, as it is in the archive.
public struct SegmentRecord: Sendable, Equatable {
    /// The SHA-256 of the bytes before compression.
    public var digest: Digest
    /// How many bytes of the archive it takes.
    public var length: Int

    public init(digest: Digest, length: Int) {
        self.digest = digest
        self.length = length
    }
}
