internal import Files

/// Reads the runs of a patch from its beginning to its end, a segment of the file at a time.
///
/// One inflated segment of the patch is in memory.
final class PatchCursor {
    /// Bytes of a patch that lie over a segment of the file.
    struct Run {
        /// Where in the segment.
        var offset: Int
        var bytes: [UInt8]
    }

    private let patch: Patch
    private let buffers = SegmentBuffers()
    private var place: Int64
    private var nextSegment = 0
    private var pending: ArraySlice<UInt8> = []
    private var last: Patch.Run?

    /// - Throws: `ArchiveError` if the table contradicts the archive, or the patch is larger than it can be.
    init(_ patch: Patch) throws {
        let entry = patch.entry
        try ArchiveExtractor.checkTable(patch.segments, of: entry)
        try patch.checkSize()
        self.patch = patch
        place = try entry.archive.dataOffset(entry)
    }

    /// Takes the runs in one segment of the file; those of earlier ones were taken.
    ///
    /// - Throws: `ArchiveError`, `FileError`.
    func takeRuns(ofSegment index: Int) throws -> [Run] {
        let start = Int64(index) * Int64(Segment.size)
        var runs: [Run] = []
        while let run = try peek(), run.offset < start + Int64(Segment.size) {
            guard run.offset >= start else {
                throw patch.damage("a run lies before the one before it")
            }
            let head = Int(PatchLayout.headLength)
            guard try fill(head + run.length) else { throw patch.endsWithinRun }
            let bytes = pending.dropFirst(head).prefix(run.length)
            runs.append(Run(offset: Int(run.offset - start), bytes: Array(bytes)))
            pending = pending.dropFirst(head + run.length)
            last = run
        }
        return runs
    }

    /// Reads the head of the next run, without taking it.
    private func peek() throws -> Patch.Run? {
        guard try fill(Int(PatchLayout.headLength)) else {
            guard pending.isEmpty else { throw patch.endsWithinRun }
            return nil
        }
        return try patch.run(pending.prefix(Int(PatchLayout.headLength)), after: last)
    }

    /// Reads on until so many bytes are pending.
    ///
    /// - Returns: `false` if there are not so many.
    private func fill(_ count: Int) throws -> Bool {
        while pending.count < count {
            guard nextSegment < patch.segments.count else { return false }
            let segment = patch.segments[nextSegment]
            let bytes = try buffers.read(
                at: place,
                length: segment.length,
                inflatingTo: Segment.length(at: nextSegment, ofSize: patch.entry.size),
                isLast: nextSegment == patch.segments.count - 1,
                of: patch.entry
            )
            guard Digest(of: UnsafeRawBufferPointer(bytes)) == segment.digest else {
                throw patch.damage("its SHA-256 is wrong")
            }
            pending = ArraySlice(Array(pending) + Array(bytes))
            place += Int64(segment.length)
            nextSegment += 1
        }
        return true
    }
}
