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
    /// The end of the last run in the file.
    private var end: Int64 = 0

    /// - Throws: `ArchiveError` if the table contradicts the archive, or the patch is larger than it can be.
    init(_ patch: Patch) throws {
        let entry = patch.entry
        try ArchiveExtractor.checkTable(patch.segments, of: entry)
        guard entry.size / 2 <= patch.fileSize + Int64(Segment.size) / 2 else {
            throw entry.archive.damage(entry, "it is larger than a patch of its file can be")
        }
        self.patch = patch
        place = try entry.archive.dataOffset(entry)
    }

    /// Takes the runs in one segment of the file; those of earlier ones were taken.
    ///
    /// - Throws: `ArchiveError`, `FileError`.
    func takeRuns(ofSegment index: Int) throws -> [Run] {
        let start = Int64(index) * Int64(Segment.size)
        var runs: [Run] = []
        while let (offset, length) = try peek(), offset < start + Int64(Segment.size) {
            guard offset >= start else { throw damage("a run lies before the one before it") }
            let head = Int(PatchLayout.headLength)
            guard try fill(head + length) else { throw damage("it ends within a run") }
            let bytes = pending.dropFirst(head).prefix(length)
            runs.append(Run(offset: Int(offset - start), bytes: Array(bytes)))
            pending = pending.dropFirst(head + length)
            end = offset + Int64(length)
        }
        return runs
    }

    /// Reads the head of the next run, without taking it.
    private func peek() throws -> (offset: Int64, length: Int)? {
        guard try fill(Int(PatchLayout.headLength)) else {
            guard pending.isEmpty else { throw damage("it ends within a run") }
            return nil
        }
        let offset = pending.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let length = pending.dropFirst(8).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard offset >= UInt64(end), length > 0, offset < UInt64(patch.fileSize),
            Int64(length) <= patch.fileSize - Int64(offset),
            Int(offset % UInt64(Segment.size)) + length <= Segment.size
        else { throw damage("a run does not lie in its file, or not behind the one before it") }
        return (Int64(offset), length)
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
                throw damage("its SHA-256 is wrong")
            }
            pending = ArraySlice(Array(pending) + Array(bytes))
            place += Int64(segment.length)
            nextSegment += 1
        }
        return true
    }

    private func damage(_ reason: String) -> ArchiveError {
        patch.entry.archive.damage(patch.entry, reason)
    }
}
