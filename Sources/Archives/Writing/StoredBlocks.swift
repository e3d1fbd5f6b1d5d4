/// Deflate's stored blocks (RFC 1951, 3.2.4), for a segment of a stream that does not shrink.
enum StoredBlocks {
    private static let blockSize = 65_535

    /// Gives the headers and the bytes between them to `write`, and returns their length.
    static func write(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        to write: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Int {
        var written = 0
        var rest = input[...]
        repeat {
            let block = rest.prefix(blockSize)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            let header: [UInt8] = [
                isLast && rest.isEmpty ? 1 : 0,
                UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8),
                UInt8(truncatingIfNeeded: ~length), UInt8(truncatingIfNeeded: ~length >> 8),
            ]
            try header.withUnsafeBytes(write)
            try write(UnsafeRawBufferPointer(rebasing: block))
            written += header.count + block.count
        } while !rest.isEmpty
        return written
    }
}
