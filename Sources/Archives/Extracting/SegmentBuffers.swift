internal import Files

/// One thread's buffers and decompressor, for one segment at a time.
final class SegmentBuffers {
    private let inflater = SegmentInflater()
    private let input = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Segment.compressedLimit,
        alignment: 64
    )
    private let output = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Segment.size,
        alignment: 64
    )

    deinit {
        input.deallocate()
        output.deallocate()
    }

    /// A whole segment of nothing in particular.
    var blank: UnsafeMutableRawBufferPointer { output }

    /// The bytes of the archive that were read last.
    func compressed(_ length: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: input[..<length])
    }

    /// Reads and inflates one segment of an entry, or all of a small one.
    ///
    /// - Parameters:
    ///   - offset: where it is in the archive.
    ///   - length: how many bytes of the archive it takes.
    ///   - size: how many it inflates to; at most a segment.
    ///   - isLast: whether the entry's data ends with it.
    ///   - entry: the entry.
    /// - Returns: its bytes, until the next call; a whole segment lies behind their address.
    /// - Throws: `ArchiveError`, `FileError`.
    func read(
        at offset: Int64,
        length: Int,
        inflatingTo size: Int,
        isLast: Bool,
        of entry: ArchiveReader.Entry
    ) throws -> UnsafeMutableRawBufferPointer {
        let archive = entry.archive
        let data = UnsafeMutableRawBufferPointer(rebasing: input[..<length])
        try archive.source.readExactly(into: data, at: offset)
        guard entry.record.method == ZipRecords.deflated else {
            guard data.count == size else {
                throw archive.damage(entry, "its sizes contradict each other")
            }
            return data
        }
        let space = UnsafeMutableRawBufferPointer(rebasing: output[..<size])
        guard inflater.inflate(UnsafeRawBufferPointer(data), into: space, isLast: isLast) else {
            throw archive.damage(entry, "its data does not inflate to what it declares")
        }
        return space
    }
}
