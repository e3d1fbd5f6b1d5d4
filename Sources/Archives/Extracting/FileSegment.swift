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
            var base: FileSegment.Base?
            if index < segments.count {
                base = .init(
                    source: source,
                    compressedLength: segments[index].length,
                    length: Segment.length(at: index, ofSize: entry.size),
                    isLast: index == segments.count - 1
                )
                source += Int64(segments[index].length)
            }
            var overlay: Overlay?
            for cursor in cursors { try cursor.takeRuns(ofSegment: index, into: &overlay) }
            try body(
                FileSegment(
                    item: self,
                    base: base,
                    overlay: overlay,
                    unverified: overlay == nil ? [] : patches,
                    destination: Int64(index) * Int64(Segment.size),
                    length: Segment.length(at: index, ofSize: size),
                    digest: digest,
                    isLast: index == digests.count - 1,
                    target: file
                )
            )
        }
    }
}
