internal import Files

/// One thread's buffers and decompressor, for one segment at a time.
final class SegmentBuffers {
    private let inflater = SegmentInflater()
    private let input = UnsafeMutableRawBufferPointer.aligned(byteCount: Segment.compressedLimit)
    /// The output buffer, created for callers without a buffer of their own.
    private var output: UnsafeMutableRawBufferPointer?

    deinit {
        input.deallocate()
        output?.deallocate()
    }

    /// The buffer for a whole segment.
    var space: UnsafeMutableRawBufferPointer {
        if let output { return output }
        let made = UnsafeMutableRawBufferPointer.aligned(byteCount: Segment.size)
        output = made
        return made
    }

    /// Returns the bytes of the archive that were read last.
    func compressed(_ length: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: input[..<length])
    }

    /// Reads bytes of an archive without inflating them.
    func compressed(
        _ length: Int,
        at offset: Int64,
        of entry: ArchiveReader.Entry
    ) throws -> UnsafeMutableRawBufferPointer {
        let data = UnsafeMutableRawBufferPointer(rebasing: input[..<length])
        try entry.archive.source.readExactly(into: data, at: offset)
        return data
    }

    /// Reads and inflates one segment of an entry, or all of a small entry.
    ///
    /// - Parameters:
    ///   - offset: its offset in the archive.
    ///   - length: its length in the archive in bytes.
    ///   - size: its size in bytes after inflating; at most a segment.
    ///   - isLast: whether the entry's data ends with it.
    ///   - entry: the entry.
    ///   - space: the buffer to inflate into, with room for `size`; `nil` for a buffer of this object.
    /// - Returns: the bytes, valid until the next call, in `space` or in a buffer for a whole segment.
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
        let data = try compressed(length, at: offset, of: entry)
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
