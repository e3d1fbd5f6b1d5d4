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
    }

    private let patch: Patch
    private let buffers: SegmentBuffers
    private var place: Int64
    private var nextSegment = 0
    /// Bytes of the patch, and how many of them were taken.
    private var pending: [UInt8] = []
    private var taken = 0
    /// The end of the last run in the file.
    private var end: Int64 = 0

    /// Starts at the beginning of a patch.
    ///
    /// - Parameters:
    ///   - patch: the patch.
    ///   - buffers: nothing in them is kept, so that all cursors of a thread may have the same.
    /// - Throws: `ArchiveError` if the table contradicts the archive, or the patch is larger than it can be.
    init(_ patch: Patch, _ buffers: SegmentBuffers) throws {
        let entry = patch.entry
        try ArchiveExtractor.checkTable(patch.segments, of: entry)
        guard entry.size / 2 <= patch.fileSize + Int64(Segment.size) / 2 else {
            throw entry.archive.damage(entry, "it is larger than a patch of its file can be")
        }
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
        while let (offset, length) = try peek(), offset < start + Int64(Segment.size) {
            guard offset >= start else { throw damage("a run lies before the one before it") }
            let head = Int(PatchLayout.headLength)
            guard try fill(head + length) else { throw damage("it ends within a run") }
            runs.bytes.append(contentsOf: pending[(taken + head)..<(taken + head + length)])
            let place = Int(offset - start)
            runs.places.append(place..<(place + length))
            taken += head + length
            end = offset + Int64(length)
        }
        return runs.places.isEmpty ? nil : runs
    }

    /// Reads the head of the next run, without taking it.
    private func peek() throws -> (offset: Int64, length: Int)? {
        guard try fill(Int(PatchLayout.headLength)) else {
            guard taken == pending.count else { throw damage("it ends within a run") }
            return nil
        }
        let (offset, length) = pending.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: taken, as: UInt64.self)),
                Int(
                    UInt32(
                        littleEndian: bytes.loadUnaligned(
                            fromByteOffset: taken + 8,
                            as: UInt32.self
                        )
                    )
                )
            )
        }
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
            guard Digest(of: bytes) == segment.digest else { throw damage("its SHA-256 is wrong") }
            pending.removeSubrange(..<taken)
            taken = 0
            pending.append(contentsOf: bytes)
            place += Int64(segment.length)
            nextSegment += 1
        }
        return true
    }

    private func damage(_ reason: String) -> ArchiveError {
        patch.entry.archive.damage(patch.entry, reason)
    }
}
