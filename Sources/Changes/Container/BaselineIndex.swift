public import Files

/// A baseline's index: the parts that together hold all that a device knew, and the files that they cover.
public struct BaselineIndex: Sendable {
    public let id: Digest
    public let header: ChangeHeader
    /// The ids of its parts: all of them must be there.
    public let parts: [Digest]
    /// The ids of the files that need not be read by who has read the parts.
    public let covers: [Digest]

    /// Reads a file.
    ///
    /// - Throws: `ChangeError`.
    public init(reading bytes: [UInt8], name: String, inflate: Inflate) throws {
        try self.init(Envelope(reading: bytes, name: name, inflate: inflate), name: name)
    }

    /// Reads what an envelope held.
    ///
    /// - Throws: `ChangeError`.
    public init(_ envelope: Envelope, name: String) throws {
        guard envelope.kind == .baselineIndex else {
            throw ChangeError.otherKind(name, kind: envelope.kind)
        }
        do {
            header = try ChangeHeader(reading: envelope.header)
            (parts, covers) = try envelope.body.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                let parts = try Self.digests(&reader)
                let covers = try Self.digests(&reader)
                try reader.end()
                return (parts, covers)
            }
        } catch let breach as FormatBreach {
            throw ChangeError.malformed(name, reason: breach.reason)
        }
        id = envelope.id
    }

    private static func digests(_ reader: inout ByteReader) throws(FormatBreach) -> [Digest] {
        let count = try reader.count(of: 32, "files")
        var digests: [Digest] = []
        digests.reserveCapacity(count)
        for _ in 0..<count { digests.append(try reader.digest()) }
        return digests
    }

    /// Returns the bytes of an index, and its id.
    ///
    /// - Throws: `ChangeError.beyondLimit`.
    public static func write(
        _ header: ChangeHeader,
        parts: [Digest],
        covers: [Digest]
    ) throws -> WrittenFile {
        var writer = ByteWriter()
        for digests in [parts, covers] {
            writer.varint(UInt64(digests.count))
            for digest in digests { writer.digest(digest) }
        }
        return try Envelope.write(.baselineIndex, header: header.encoded(), body: writer.bytes)
    }
}
