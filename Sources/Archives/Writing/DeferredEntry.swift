internal import Files
public import SystemPackage

/// An entry whose content is made while others are written, and kept compressed until they are.
public final class DeferredEntry {
    let attributes: EntryAttributes
    private let deflater: SegmentDeflater
    private let data: Spool
    private var pending: [UInt8] = []
    private var block = [UInt8](repeating: 0, count: Segment.size / 2)
    private(set) var size: Int64 = 0
    private(set) var checksum = Checksum()

    /// Starts an entry.
    ///
    /// - Parameters:
    ///   - attributes: those to write.
    ///   - compression: how hard to compress; the entry is compressed in any case.
    ///   - directory: where the content is kept if it is large.
    public init(_ attributes: EntryAttributes, compression: Compression, in directory: FilePath) {
        self.attributes = attributes
        deflater = SegmentDeflater(compression == .none ? .fast : compression)
        data = Spool(in: directory)
    }

    /// Appends to its content.
    public func append(_ bytes: some Collection<UInt8>) throws {
        pending.append(contentsOf: bytes)
        if pending.count >= Segment.size / 4 { try compress(isLast: false) }
    }

    /// Ends the content, and returns it, compressed.
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
