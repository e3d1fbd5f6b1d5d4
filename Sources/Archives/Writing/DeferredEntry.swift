internal import Files
public import SystemPackage

/// An entry whose content is produced while others are written, and is kept compressed until then.
public final class DeferredEntry {
    public let attributes: EntryAttributes
    private let deflater: SegmentDeflater
    private let data: Spool
    private var pending: [UInt8] = []
    private var block = [UInt8](repeating: 0, count: Segment.size / 2)
    private(set) var size: Int64 = 0
    private(set) var checksum = Checksum()

    /// Starts an entry.
    ///
    /// - Parameters:
    ///   - attributes: the attributes to write.
    ///   - compression: the compression level; the entry is compressed in any case.
    ///   - directory: the directory for the content if it is large.
    public init(_ attributes: EntryAttributes, compression: Compression, in directory: FilePath) {
        self.attributes = attributes
        deflater = SegmentDeflater(compression == .none ? .fast : compression)
        data = Spool(in: directory)
    }

    /// Appends bytes to the content.
    public func append(_ bytes: some Collection<UInt8>) throws {
        pending.append(contentsOf: bytes)
        if pending.count >= Segment.size / 4 { try compress(isLast: false) }
    }

    /// Ends the content, and returns the compressed data.
    func close() throws -> Spool {
        try compress(isLast: true)
        return data
    }

    private func compress(isLast: Bool) throws {
        if block.count < pending.count + 64 {
            block = [UInt8](repeating: 0, count: pending.count + 64)
        }
        try pending.withUnsafeBytes { bytes in
            checksum.append(bytes)
            size += Int64(bytes.count)
            let length = block.withUnsafeMutableBytes { space -> Int? in
                guard let base = space.baseAddress else { return nil }
                return deflater.deflate(bytes, into: base, capacity: space.count, isLast: isLast)
            }
            if let length {
                try data.append(block[..<length])
            } else {
                _ = try StoredBlocks.write(bytes, isLast: isLast) { try data.append($0) }
            }
        }
        pending.removeAll(keepingCapacity: true)
    }
}

/// Deflate's stored blocks (RFC 1951, 3.2.4), for segments of a stream that do not shrink.
enum StoredBlocks {
    private static let blockSize = 65_535

    /// Passes the block headers and the bytes between them to `write`, and returns their total length.
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
