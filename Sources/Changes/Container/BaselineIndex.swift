public import Files

/// The index of a baseline: it lists the parts, which together hold all that a device knew, and the covered files.
public struct BaselineIndex: Sendable {
    public let id: Digest
    public let header: ChangeHeader
    /// The ids of its parts.
    ///
    /// The baseline is complete only with all of them.
    public let parts: [Digest]
    /// The ids of the covered files: a device that has read all parts need not read these.
    public let covers: [Digest]

    /// Reads a file.
    ///
    /// - Throws: `ChangeError`.
    public init(reading bytes: [UInt8], name: String, inflate: Inflate) throws {
        try self.init(Envelope(reading: bytes, name: name, inflate: inflate), name: name)
    }

    /// Reads the content of an envelope.
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
