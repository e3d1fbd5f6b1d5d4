internal import Files

/// One thread's buffers and decompressor, for one segment at a time.
final class SegmentBuffers {
    private let inflater = SegmentInflater()
    private let input = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Segment.compressedLimit,
        alignment: 64
    )
    /// Made for whoever brings no space along.
    private var output: UnsafeMutableRawBufferPointer?

    deinit {
        input.deallocate()
        output?.deallocate()
    }

    /// Space for a whole segment.
    var space: UnsafeMutableRawBufferPointer {
        if let output { return output }
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: Segment.size, alignment: 64)
        output = made
        return made
    }

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
    ///   - space: where to inflate it to, with room for `size`; `nil` for a buffer of this object.
    /// - Returns: its bytes, until the next call, in `space` or in a buffer of a whole segment.
    /// - Throws: `ArchiveError`, `FileError`.
    func read(
        at offset: Int64,
        length: Int,
        inflatingTo size: Int,
        isLast: Bool,
        of entry: ArchiveReader.Entry,
        in space: UnsafeMutableRawBufferPointer? = nil
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
        let content = UnsafeMutableRawBufferPointer(rebasing: (space ?? self.space)[..<size])
        guard inflater.inflate(UnsafeRawBufferPointer(data), into: content, isLast: isLast) else {
            throw archive.damage(entry, "its data does not inflate to what it declares")
        }
        return content
    }
}
