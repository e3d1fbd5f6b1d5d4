public import Files

/// The entry of an archive that holds the runs of bytes by which a file of an older archive differs.
public struct Patch: Sendable {
    public var entry: ArchiveReader.Entry
    /// The manifest's segment table of the entry.
    public var segments: [SegmentRecord]
    /// Bytes that the patched file has.
    public var fileSize: Int64

    public init(_ entry: ArchiveReader.Entry, segments: [SegmentRecord], fileSize: Int64) {
        self.entry = entry
        self.segments = segments
        self.fileSize = fileSize
    }
}

/// A file that is put together: an entry of one archive, and patches of later ones.
public struct PatchedContent: Sendable {
    /// Bytes of the file in the end.
    public var size: Int64
    /// The SHA-256 of each of its segments in the end.
    public var digests: [Digest]
    /// Oldest first.
    public var patches: [Patch]

    public init(size: Int64, digests: [Digest], patches: [Patch]) {
        self.size = size
        self.digests = digests
        self.patches = patches
    }
}
