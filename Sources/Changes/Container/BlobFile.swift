internal import Files

/// The format of a blob's file.
///
/// It may have 1 GiB, so it is written and read in parts.
///
/// The content follows the `start`. After it comes the SHA-256 of the start and the content. The blob's name in the
/// container is the SHA-256 of the content alone.
public enum BlobFile {
    /// The number of bytes before the content.
    public static let startLength = EnvelopeHead.length + 16

    /// Returns the bytes before the content.
    ///
    /// - Parameters:
    ///   - group: the group.
    ///   - size: the length of the content in bytes.
    /// - Returns: the bytes.
    /// - Throws: `ChangeError.beyondLimit`.
    public static func start(group: GroupID, size: UInt64) throws -> [UInt8] {
        guard size <= BlobReference.maximumSize else {
            throw ChangeError.beyondLimit("a value is over 1 GiB")
        }
        let head = EnvelopeHead(
            .blob,
            isDeflated: false,
            header: 16,
            body: Int(size),
            inflated: Int(size)
        )
        return head.bytes + group.bytes
    }

    /// Returns the file of a blob that fits into memory, and its id.
    ///
    /// - Throws: `ChangeError.beyondLimit`.
    public static func write(_ content: [UInt8], group: GroupID) throws -> WrittenFile {
        var writer = ByteWriter()
        writer.reserve(startLength + content.count + EnvelopeHead.trailerLength)
        writer.raw(try start(group: group, size: UInt64(content.count)))
        writer.raw(content)
        let id = writer.bytes.withUnsafeBytes { Digest(of: $0) }
        writer.digest(id)
        return WrittenFile(bytes: writer.bytes, id: id)
    }

    /// Reads the bytes before the content.
    ///
    /// A blob is never deflated, so that it can be read in parts, and checked before it is used.
    ///
    /// - Parameters:
    ///   - bytes: the file's first `startLength` bytes, or more; all bytes of a shorter file.
    ///   - fileLength: the length of the file in bytes, as the file system reports it.
    ///   - name: the name for errors.
    /// - Returns: the blob's group, and the range of its content in the file.
    /// - Throws: `ChangeError`.
    public static func readStart(
        _ bytes: [UInt8],
        fileLength: UInt64,
        name: String
    ) throws -> (group: GroupID, content: Range<UInt64>) {
        try bytes.withUnsafeBytes { bytes in
            let head = try EnvelopeHead(reading: bytes, fileLength: fileLength, name: name)
            guard head.kind == .blob else { throw ChangeError.otherKind(name, kind: head.kind) }
            guard !head.isDeflated, head.headerLength >= 16, bytes.count >= startLength else {
                throw ChangeError.malformed(
                    name,
                    reason: "its header is too short, or it is deflated"
                )
            }
            guard let group = GroupID(bytes: bytes[EnvelopeHead.length..<startLength]) else {
                throw ChangeError.malformed(name, reason: "its group cannot be read")
            }
            let start = UInt64(EnvelopeHead.length) + UInt64(head.headerLength)
            return (group, start..<start + head.bodyLength)
        }
    }
}
