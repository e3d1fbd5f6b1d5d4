internal import SystemPackage

/// A file that grows only at its end, with a buffer, so that many small entries cost few calls.
///
/// If the file system allows it, whole buffers bypass the page cache. Archives are not read again soon, and filling and
/// emptying the cache takes more processor time than deflating. Otherwise the system is asked to write early and to
/// drop the pages. A sink that collects by itself gets everything at once.
public final class AppendingSink {
    private static let capacity = 2 << 20
    private static let writebackLag: Int64 = 24 << 20

    private let file: any ByteSink
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: capacity,
        alignment: File.uncachedBlock
    )
    /// The number of bytes in the buffer, which follow those in the file.
    private var buffered = 0
    /// The number of bytes in the file; a multiple of the block until the end.
    private var flushed: Int64 = 0
    private var dropped: Int64 = 0

    /// The offset of the next byte.
    public var position: Int64 { flushed + Int64(buffered) }

    /// Creates a sink that writes from the beginning of the file.
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

    /// Writes the rest of the buffer; afterwards nothing may be appended.
    public func finish() throws {
        try writeBlocks()
        try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<buffered]), at: flushed)
        flushed += Int64(buffered)
        buffered = 0
    }

    private func space(from start: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
    }

    /// Writes the whole blocks in the buffer, and keeps the rest.
    private func writeBlocks() throws {
        let length = buffered - buffered % File.uncachedBlock
        guard length > 0 else { return }
        let blocks = UnsafeRawBufferPointer(rebasing: buffer[..<length])
        // Only this call is uncached: reads, and writes of less than a block, need the cache.
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

    /// Starts the disk's writes early, so that the final sync has little left to do.
    ///
    /// The writes are awaited a few steps later, when they are done.
    private func writeBack(_ length: Int) {
        file.beginWriteback(from: flushed - Int64(length), length: Int64(length))
        let end = flushed - Self.writebackLag
        guard end - dropped >= Int64(Self.capacity) else { return }
        file.finishWriteback(from: dropped, length: end - dropped)
        dropped = end
    }
}
