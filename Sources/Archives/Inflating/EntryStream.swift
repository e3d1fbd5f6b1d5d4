internal import Files

/// The inflated data of an entry from beginning to end, one part at a time.
///
/// Only one part and the decompressor are in memory, whatever the entry's size.
final class EntryStream {
    private let entry: ArchiveReader.Entry
    /// The range of the compressed data that was not read yet.
    private var offset: Int64
    private var left: Int64
    private let input: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer
    private let inflater = SegmentInflater()
    /// The compressed data that was read, but not inflated yet.
    private var rest = UnsafeRawBufferPointer(start: nil, count: 0)
    private var isAtEnd = false
    private var given: Int64 = 0

    /// Starts at the beginning of an entry.
    ///
    /// - Parameters:
    ///   - entry: a stored or deflated entry.
    ///   - partSize: the maximum size of a part in bytes.
    /// - Throws: `ArchiveError` if its local record contradicts the directory; `FileError`.
    init(_ entry: ArchiveReader.Entry, partSize: Int = 256 << 10) throws {
        self.entry = entry
        offset = try entry.archive.dataOffset(entry)
        left = entry.compressedSize
        input = .aligned(byteCount: partSize)
        output = .aligned(byteCount: partSize)
        inflater.startStream()
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    /// Returns the next part, valid until the next call; `nil` at the end.
    ///
    /// - Throws: `ArchiveError` if the data is no deflate data, or if its size is not the declared one; `FileError`.
    func next() throws -> UnsafeRawBufferPointer? {
        guard let part = try isDeflated ? inflated() : readOn() else {
            guard given == entry.size else { throw damage("it holds less than it declares") }
            return nil
        }
        given += Int64(part.count)
        guard given <= entry.size else { throw damage("it holds more than it declares") }
        return part
    }

    private var isDeflated: Bool { entry.record.method == ZipRecords.deflated }

    private func inflated() throws -> UnsafeRawBufferPointer? {
        while !isAtEnd {
            if rest.isEmpty { rest = try readOn() ?? rest }
            guard let step = inflater.inflatePart(rest, into: output) else {
                throw damage("its data is not deflate data")
            }
            guard step.taken > 0 || step.given > 0 || step.finished else {
                throw damage("its data ends early")
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[step.taken...])
            isAtEnd = step.finished
            if step.given > 0 { return UnsafeRawBufferPointer(rebasing: output[..<step.given]) }
        }
        guard rest.isEmpty, left == 0 else {
            throw damage("there is something behind the end of its data")
        }
        return nil
    }

    private func readOn() throws -> UnsafeRawBufferPointer? {
        guard left > 0 else { return nil }
        let length = Int(min(left, Int64(input.count)))
        let part = UnsafeMutableRawBufferPointer(rebasing: input[..<length])
        try entry.archive.source.readExactly(into: part, at: offset)
        offset += Int64(length)
        left -= Int64(length)
        return UnsafeRawBufferPointer(part)
    }

    private func damage(_ reason: String) -> ArchiveError { entry.archive.damage(entry, reason) }
}
