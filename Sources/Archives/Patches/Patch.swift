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

    /// Some bytes of the file that are as the patch has them.
    struct Run {
        /// Where in the file.
        var offset: Int64
        var length: Int

        var end: Int64 { offset + Int64(length) }
    }

    /// Reads the head of a run.
    ///
    /// - Parameters:
    ///   - head: its bytes.
    ///   - last: the run before it.
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

    /// Reads the patch as far as its bytes are what the manifest says.
    ///
    /// - Returns: how many bytes of it these are: all, or whole segments before one that is not.
    /// - Throws: `ArchiveError` if its table contradicts the archive; `FileError`.
    func verifiedSize(_ buffers: SegmentBuffers) throws -> Int64 {
        try ArchiveExtractor.checkTable(segments, of: entry)
        var size: Int64 = 0
        do {
            try item.forEachPart(to: nil) { part in
                _ = try buffers.verifiedContent(of: part)
                size += Int64(part.length)
            }
        } catch is ArchiveError {
            return size
        }
        return size
    }

    /// The patch as an entry of its own, whose bytes are the runs.
    var item: ArchiveExtractor.Item {
        .init(entry: entry, attributes: entry.attributes, segments: segments)
    }

    /// Throws if it is larger than a patch of its file can be.
    func checkSize() throws {
        guard entry.size / 2 <= fileSize + Int64(Segment.size) / 2 else {
            throw damage("it is larger than a patch of its file can be")
        }
    }

    /// The fault of a patch that ends too early.
    var endsWithinRun: ArchiveError { damage("it ends within a run") }

    func damage(_ reason: String) -> ArchiveError { entry.archive.damage(entry, reason) }
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
