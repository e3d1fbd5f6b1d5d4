public import Files

/// An archive's entry with the runs of bytes that differ from a file of an older archive.
public struct Patch: Sendable {
    public var entry: ArchiveReader.Entry
    /// The manifest's segment table of the entry.
    public var segments: [SegmentRecord]
    /// The size of the patched file in bytes.
    public var fileSize: Int64

    public init(_ entry: ArchiveReader.Entry, segments: [SegmentRecord], fileSize: Int64) {
        self.entry = entry
        self.segments = segments
        self.fileSize = fileSize
    }

    /// A range of the file whose bytes come from the patch.
    struct Run {
        /// The offset in the file.
        var offset: Int64
        var length: Int

        var end: Int64 { offset + Int64(length) }
    }

    /// Reads the head of a run.
    ///
    /// - Parameters:
    ///   - head: the bytes of the head.
    ///   - last: the previous run.
    /// - Returns: the run.
    /// - Throws: `ArchiveError` if it cannot be the next run of this file.
    func run(_ head: some Collection<UInt8>, after last: Run?) throws -> Run {
        let offset = head.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let length = head.dropFirst(8).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard offset >= UInt64(last?.end ?? 0), length > 0, offset < UInt64(fileSize),
            Int64(length) <= fileSize - Int64(offset),
            Int(offset % UInt64(Segment.size)) + length <= Segment.size
        else { throw damage("a run does not lie in its file, or not behind the one before it") }
        return Run(offset: Int64(offset), length: length)
    }

    /// Throws if it is larger than a patch of its file can be.
    func checkSize() throws {
        guard entry.size / 2 <= fileSize + Int64(Segment.size) / 2 else {
            throw damage("it is larger than a patch of its file can be")
        }
    }

    /// The error for a patch that ends within a run.
    var endsWithinRun: ArchiveError { damage("it ends within a run") }

    func damage(_ reason: String) -> ArchiveError { entry.archive.damage(entry, reason) }
}

/// A file put together from an entry of one archive and the patches of later ones.
public struct PatchedContent: Sendable {
    /// The size of the final file in bytes.
    public var size: Int64
    /// The SHA-256 of each segment of the final file.
    public var digests: [Digest]
    /// The patches, oldest first.
    public var patches: [Patch]

    public init(size: Int64, digests: [Digest], patches: [Patch]) {
        self.size = size
        self.digests = digests
        self.patches = patches
    }
}
