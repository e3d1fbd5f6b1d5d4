internal import Archives
internal import Files
internal import SystemPackage

/// The facts about a file's content that are known without the content.
struct KnownContent {
    /// The size in bytes.
    var size: Int64
    /// The SHA-256 of each segment; `nil` if not known.
    var digests: [Digest]?
    /// The CRC-32; used only without digests.
    var checksum: UInt32?

    /// Returns whether a file has this content.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - context: the context whose cancellation check is called.
    /// - Returns: whether the size matches, and the digests or the checksum.
    /// - Throws: `FileError`, `CancellationError`.
    func isContent(of path: FilePath, _ context: OperationContext) throws -> Bool {
        let file = try File.open(path)
        guard try file.info().size == size else { return false }
        let buffer = UnsafeMutableRawBufferPointer.aligned(byteCount: Segment.size)
        defer { buffer.deallocate() }
        var sum = Checksum()
        var read: [Digest] = []
        for offset in stride(from: 0, to: size, by: buffer.count) {
            try context.checkCancellation()
            let count = try file.read(into: buffer, at: offset)
            let part = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if digests == nil {
                sum.append(part)
            } else if let digests, read.count < digests.count,
                digests[read.count] == Digest(of: part)
            {
                read.append(digests[read.count])
            } else {
                return false
            }
        }
        return digests.map { $0 == read } ?? (checksum == sum.value)
    }
}

extension KnownContent {
    /// Creates the facts from an archive's record of a file.
    init(_ item: ArchiveItem) {
        size = item.size
        digests = item.patched?.digests ?? item.segments?.map(\.digest)
        checksum = item.patched == nil ? item.entry.checksum : nil
    }
}
