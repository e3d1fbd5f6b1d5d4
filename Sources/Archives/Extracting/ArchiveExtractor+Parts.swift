internal import Files

extension ArchiveExtractor.Item {
    /// Calls `body` for each segment of the final file: the segment of the entry, and over it the runs of the patches,
    /// oldest first.
    ///
    /// - Parameters:
    ///   - file: the file to write; `nil` to write nothing.
    ///   - body: receives the segments in order.
    /// - Throws: `ArchiveError`, `FileError`; what `body` throws.
    func forEachPart(to file: File?, _ body: (ExtractJob.Part) throws -> Void) throws {
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
            var base: ExtractJob.Part.Base?
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
                ExtractJob.Part(
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

extension ArchiveExtractor {
    /// Checks the manifest's table against the archive, so that a wrong table cannot make a read leave the entry.
    static func checkTable(_ segments: [SegmentRecord], of entry: ArchiveReader.Entry) throws {
        guard segments.count == Segment.count(forSize: entry.size), entry.isPlain,
            segments.allSatisfy({ (0...Segment.compressedLimit).contains($0.length) }),
            segments.reduce(0, { $0 + Int64($1.length) }) == entry.compressedSize
        else { throw entry.archive.contradiction(entry) }
    }
}
