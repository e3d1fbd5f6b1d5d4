internal import Archives
internal import Files
internal import SystemPackage

/// What is known of a file's content without having it.
struct KnownContent {
    /// Bytes.
    var size: Int64
    /// The SHA-256 of each segment; `nil` if they are not known.
    var digests: [Digest]?
    /// The CRC-32; asked if there are no digests.
    var checksum: UInt32?

    /// Returns whether a file has this content.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - context: asked whether to stop.
    /// - Returns: whether its size and its digests, or its checksum, are these.
    /// - Throws: `FileError`, `CancellationError`.
    func isContent(of path: FilePath, _ context: OperationContext) throws -> Bool {
        let file = try File.open(path)
        guard try file.info().size == size else { return false }
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Segment.size,
            alignment: 64
        )
        defer { buffer.deallocate() }
        var sum = Checksum()
        var read: [Digest] = []
        for offset in stride(from: 0, to: size, by: buffer.count) {
            try context.checkCancellation()
            let count = try file.read(into: buffer, at: offset)
            let part = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if digests == nil {
                sum.append(part)
            } else {
                read.append(Digest(of: part))
            }
        }
        return digests.map { $0 == read } ?? (checksum == sum.value)
    }
}

extension KnownContent {
    /// Takes what an archive says of one of its files.
    init(_ item: ArchiveExtractor.Item) {
        size = item.size
        digests = item.patched?.digests ?? item.segments?.map(\.digest)
        checksum = item.patched == nil ? item.entry.checksum : nil
    }
}
