internal import Files

/// One segment of a file that is put together from an archive's entry and patches over it.
struct FileSegment {
    var item: ArchiveItem
    /// A segment of the entry.
    struct Base {
        /// The offset in the archive.
        var source: Int64
        var compressedLength: Int
        /// The size in bytes after inflating.
        var length: Int
        var isLast: Bool
    }

    /// The segment of the entry; `nil` behind the end of the entry.
    var base: Base?
    /// The bytes of patches over the segment, if there are any.
    var overlay: Overlay?
    /// The patches with these bytes, unless they were verified.
    var unverified: [Patch] = []
    /// The offset in the file.
    var destination: Int64
    var length: Int
    var digest: Digest
    var isLast: Bool
    /// The file to write; `nil` to verify only.
    var target: File?

    /// Describes the segment at an index, without the bytes of patches.
    ///
    /// - Parameters:
    ///   - index: the index of the segment.
    ///   - item: the file, as whose segments its digests were checked.
    ///   - source: the offset in the archive of the segment of the entry, if there is one at the index.
    ///   - digest: the SHA-256 of the final segment.
    init(_ index: Int, of item: ArchiveItem, at source: Int64, _ digest: Digest) {
        self.item = item
        let segments = item.segments ?? []
        if index < segments.count {
            base = Base(
                source: source,
                compressedLength: segments[index].length,
                length: Segment.length(at: index, ofSize: item.entry.size),
                isLast: index == segments.count - 1
            )
        }
        destination = Int64(index) * Int64(Segment.size)
        length = Segment.length(at: index, ofSize: item.size)
        self.digest = digest
        isLast = index == Segment.count(forSize: item.size) - 1
    }
}

extension ArchiveItem {
    /// Calls `body` for each segment of the final file: the segment of the entry, and over it the runs of the patches,
    /// oldest first.
    ///
    /// - Parameters:
    ///   - file: the file to write; `nil` to write nothing.
    ///   - body: receives the segments in order.
    /// - Throws: `ArchiveError`, `FileError`; what `body` throws.
    func forEachSegment(to file: File?, _ body: (FileSegment) throws -> Void) throws {
        guard let segments, entry.isPlain else { throw entry.archive.contradiction(entry) }
        let digests = patched?.digests ?? segments.map(\.digest)
        guard digests.count == Segment.count(forSize: size) else {
            throw entry.archive.contradiction(entry)
        }
        let patches = patched?.patches ?? []
        let overlays = Overlay.Pool()
        let cursors = try patches.map { try PatchCursor($0, overlays) }
        var source = try entry.archive.dataOffset(entry)
        for (index, digest) in digests.enumerated() {
            var segment = FileSegment(index, of: self, at: source, digest)
            segment.target = file
            source += Int64(segment.base?.compressedLength ?? 0)
            for cursor in cursors { try cursor.takeRuns(ofSegment: index, into: &segment.overlay) }
            if segment.overlay != nil { segment.unverified = patches }
            try body(segment)
        }
    }
}
