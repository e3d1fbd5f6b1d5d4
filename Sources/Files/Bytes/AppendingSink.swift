/// A file that grows at its end and nowhere else, with a buffer, so that many small entries cost few
/// calls.
///
/// If the file system allows it, whole buffers go round the page cache: nobody reads an archive soon,
/// and to fill and empty the cache takes the processor longer than to deflate. If not, the system is
/// told to write early and to forget. What collects by itself gets everything at once.
public final class AppendingSink {
    private static let capacity = 2 << 20
    private static let writebackLag: Int64 = 24 << 20

    private let file: any ByteSink
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: capacity,
        alignment: File.uncachedBlock
    )
    /// Bytes in the buffer, which belong behind those in the file.
    private var buffered = 0
    /// Bytes in the file; a multiple of the block until the end.
    private var flushed: Int64 = 0
    private var dropped: Int64 = 0

    /// Where the next byte goes.
    public var position: Int64 { flushed + Int64(buffered) }

    /// Begins at the file's beginning.
    public init(_ file: any ByteSink) {
        self.file = file
    }

    deinit {
        buffer.deallocate()
    }

    /// Appends bytes.
    ///
    /// - Throws: what the file throws.
    public func append(_ bytes: UnsafeRawBufferPointer) throws {
        guard !file.collects else {
            try file.write(bytes, at: flushed)
            return flushed += Int64(bytes.count)
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(buffer.count - buffered)
            rest = rest.dropFirst(part.count)
            space(from: buffered).copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            buffered += part.count
            if buffered == buffer.count { try writeBlocks() }
        }
    }

    /// Appends bytes.
    ///
    /// - Throws: what the file throws.
    public func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try append($0) }
    }

    /// Writes all that is still in the buffer; nothing more may follow.
    public func finish() throws {
        try writeBlocks()
        try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<buffered]), at: flushed)
        flushed += Int64(buffered)
        buffered = 0
    }

    private func space(from start: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
    }

    /// Writes the whole blocks that are in the buffer, and keeps the rest.
    private func writeBlocks() throws {
        let length = buffered - buffered % File.uncachedBlock
        guard length > 0 else { return }
        let blocks = UnsafeRawBufferPointer(rebasing: buffer[..<length])
        // Only for this call: to read the file, or write less than a block, takes the cache.
        let isUncached = file.setUncached(true)
        defer { if isUncached { _ = file.setUncached(false) } }
        try file.write(blocks, at: flushed)
        flushed += Int64(length)
        buffered -= length
        space(from: 0).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: buffer[length..<(length + buffered)])
        )
        if !isUncached { writeBack(length) }
    }

    /// Lets the disk work while we compress, so that the sync at the end has little left to do.
    ///
    /// It is waited for a few steps later, when it is done.
    private func writeBack(_ length: Int) {
        file.beginWriteback(from: flushed - Int64(length), length: Int64(length))
        let end = flushed - Self.writebackLag
        guard end - dropped >= Int64(Self.capacity) else { return }
        file.finishWriteback(from: dropped, length: end - dropped)
        dropped = end
    }
}
