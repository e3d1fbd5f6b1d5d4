internal import Files

/// Reads the runs of a patch from its beginning to its end, a segment of the file at a time.
///
/// One inflated segment of the patch is in memory.
final class PatchCursor {
    /// The runs of a patch that lie over a segment of the file.
    struct Runs {
        /// Where each lies in the segment, ascending.
        var places: [Range<Int>] = []
        /// The bytes of all, one behind the other.
        var bytes: [UInt8] = []

        /// Appends a run at a place of the segment.
        mutating func append(_ run: some Collection<UInt8>, at place: Int) {
            places.append(place..<(place + run.count))
            bytes.append(contentsOf: run)
        }
    }

    private let patch: Patch
    private let buffers: SegmentBuffers
    private var place: Int64
    private var nextSegment = 0
    /// Bytes of the patch, and how many of them were taken.
    private var pending: [UInt8] = []
    private var taken = 0
    private var last: Patch.Run?

    /// Starts at the beginning of a patch.
    ///
    /// - Parameters:
    ///   - patch: the patch.
    ///   - buffers: nothing in them is kept, so that all cursors of a thread may have the same.
    /// - Throws: `ArchiveError` if the table contradicts the archive, or the patch is larger than it can be.
    init(_ patch: Patch, _ buffers: SegmentBuffers) throws {
        let entry = patch.entry
        try ArchiveExtractor.checkTable(patch.segments, of: entry)
        try patch.checkSize()
        self.patch = patch
        self.buffers = buffers
        place = try entry.archive.dataOffset(entry)
    }

    /// Takes the runs in one segment of the file; those of earlier ones were taken.
    ///
    /// - Returns: `nil` if there are none.
    /// - Throws: `ArchiveError`, `FileError`.
    func takeRuns(ofSegment index: Int) throws -> Runs? {
        let start = Int64(index) * Int64(Segment.size)
        var runs = Runs()
        while let run = try peek(), run.offset < start + Int64(Segment.size) {
            guard run.offset >= start else {
                throw patch.damage("a run lies before the one before it")
            }
            let head = Int(PatchLayout.headLength)
            guard try fill(head + run.length) else { throw patch.endsWithinRun }
            let bytes = pending[(taken + head)..<(taken + head + run.length)]
            runs.append(bytes, at: Int(run.offset - start))
            taken += head + run.length
            last = run
        }
        return runs.places.isEmpty ? nil : runs
    }

    /// Reads the head of the next run, without taking it.
    private func peek() throws -> Patch.Run? {
        let head = Int(PatchLayout.headLength)
        guard try fill(head) else {
            guard taken == pending.count else { throw patch.endsWithinRun }
            return nil
        }
        return try patch.run(pending[taken..<(taken + head)], after: last)
    }

    /// Reads on until so many bytes are pending.
    ///
    /// - Returns: `false` if there are not so many.
    private func fill(_ count: Int) throws -> Bool {
        while pending.count - taken < count {
            guard nextSegment < patch.segments.count else { return false }
            let segment = patch.segments[nextSegment]
            let bytes = try UnsafeRawBufferPointer(
                buffers.read(
                    at: place,
                    length: segment.length,
                    inflatingTo: Segment.length(at: nextSegment, ofSize: patch.entry.size),
                    isLast: nextSegment == patch.segments.count - 1,
                    of: patch.entry
                )
            )
            guard Digest(of: bytes) == segment.digest else {
                throw patch.damage("its SHA-256 is wrong")
            }
            pending.removeSubrange(..<taken)
            taken = 0
            pending.append(contentsOf: bytes)
            place += Int64(segment.length)
            nextSegment += 1
        }
        return true
    }
}
