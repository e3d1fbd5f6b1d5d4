internal import Archives
internal import Files

/// A file that is read while others may write to it.
///
/// The data is of one moment if the file's attributes did not change. A file that changes is read twice: if all bytes
/// are equal, they were so at the moment in between. A log that only grows is compared up to its first length.
final class LiveFile {
    private let file: File
    /// The attributes before the file was read.
    let info: FileInfo
    /// The SHA-256 of each segment in the first pass; `nil` without such a pass.
    private var first: [Digest]?
    /// Whether bytes differed from the first pass.
    private var isOther = false
    /// The last data range found, and the offset from which it was searched: the bytes in between are zeros.
    private var data: (from: Int64, range: Range<Int64>)?

    init(_ file: File, _ info: FileInfo) {
        (self.file, self.info) = (file, info)
    }

    /// Reads the whole file, and keeps its digests for a later comparison.
    ///
    /// - Parameter advanced: called after each segment; throws to stop.
    /// - Throws: `FileError`; errors of `advanced`.
    func look(_ advanced: () throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.aligned(byteCount: Segment.size)
        defer { buffer.deallocate() }
        var digests: [Digest] = []
        for index in 0..<Segment.count(forSize: info.size) {
            let length = Segment.length(at: index, ofSize: info.size)
            let space = UnsafeMutableRawBufferPointer(rebasing: buffer[..<length])
            isOther = try read(into: space, at: Int64(index) * Int64(Segment.size)) < length
            if isOther { break }
            digests.append(Digest(ofSegment: UnsafeRawBufferPointer(space)))
            try advanced()
        }
        first = digests
    }

    /// Whether the data read is of one moment, as far as can be determined.
    func isStill() throws -> Bool {
        guard first != nil else { return try file.info() == info }
        return try !isOther && file.info().size >= info.size
    }

    /// Reads from an offset until the buffer is full or the file ends; holes are not read, but filled with zeros.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let end = offset + Int64(buffer.count)
        guard try end <= info.size && isHole(offset..<end) else {
            let count = try file.read(into: buffer, at: offset)
            compare(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            return count
        }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        compare(UnsafeRawBufferPointer(buffer), at: offset)
        return buffer.count
    }

    private func isHole(_ range: Range<Int64>) throws -> Bool {
        guard info.allocated < info.size else { return false }
        // At offset 0 a new pass begins, and a former hole may have been written.
        if range.lowerBound > 0, let data, data.from <= range.lowerBound,
            range.lowerBound < data.range.upperBound
        {
            return range.upperBound <= data.range.lowerBound
        }
        let found = try file.data(from: range.lowerBound)
        data = (range.lowerBound, found)
        return range.upperBound <= found.lowerBound
    }

    /// Compares bytes with the first pass, if they are a whole segment: only whole segments have digests.
    private func compare(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        guard let first, offset % Int64(Segment.size) == 0 else { return }
        let index = Int(offset / Int64(Segment.size))
        guard index < first.count, bytes.count == Segment.length(at: index, ofSize: info.size)
        else { return }
        if Digest(ofSegment: bytes) != first[index] { isOther = true }
    }
}
