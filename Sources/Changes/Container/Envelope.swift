public import Files

/// The kind of a file of the container.
public enum FileKind: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    /// A change file, or a bundle of several.
    case changes = 1
    case baselinePart = 2
    case baselineIndex = 3
    case blob = 4
    case card = 5
    case group = 6
    case map = 7

    /// The greatest length of the inflated body, in bytes.
    public var maximumBody: UInt64 {
        switch self {
        case .changes, .baselinePart, .baselineIndex: 16 << 20
        case .blob: BlobReference.maximumSize
        case .card, .group, .map: 1 << 20
        }
    }

    public var description: String {
        switch self {
        case .changes: "change file"
        case .baselinePart: "part of a baseline"
        case .baselineIndex: "baseline"
        case .blob: "blob"
        case .card: "device's card"
        case .group: "group's mark"
        case .map: "map"
        }
    }
}

/// A function that inflates the input, a raw deflate stream (RFC 1951), into the output.
///
/// It returns whether the input was used up, the output is full and the stream ended. It never writes beyond the
/// output.
public typealias Inflate = (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Bool

/// A function that returns the input as a raw deflate stream (RFC 1951).
public typealias Deflate = (UnsafeRawBufferPointer) throws -> [UInt8]

/// The first bytes of every file: its kind, and the lengths of its header and body.
public struct EnvelopeHead: Hashable, Sendable {
    /// The length of the head in bytes.
    public static let length = 32
    /// The length of the hash at the end of the file, in bytes.
    public static let trailerLength = 32
    /// The greatest length of a header, in bytes.
    public static let maximumHeader: UInt32 = 1 << 20
    /// The version of the format that this program reads and writes.
    public static let version: UInt16 = 1
    static let magic = Array("GDSYNC1\n".utf8)
    static let deflated: UInt8 = 1
    static let encrypted: UInt8 = 2

    public let kind: FileKind
    public let isDeflated: Bool
    /// The length of the header in bytes.
    public let headerLength: UInt32
    /// The length of the body in the file, in bytes.
    public let bodyLength: UInt64
    /// The length of the inflated body, in bytes.
    public let inflatedLength: UInt64

    init(_ kind: FileKind, isDeflated: Bool, header: Int, body: Int, inflated: Int) {
        self.kind = kind
        self.isDeflated = isDeflated
        headerLength = UInt32(header)
        bodyLength = UInt64(body)
        inflatedLength = UInt64(inflated)
    }

    /// The length of the whole file in bytes.
    public var fileLength: UInt64 {
        UInt64(Self.length) + UInt64(headerLength) + bodyLength + UInt64(Self.trailerLength)
    }

    /// Returns whether a file begins as ours do; any other file is another program's.
    public static func isOurs(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.starts(with: magic)
    }

    /// Reads the first 32 bytes of a file.
    ///
    /// It does not check the file's hash, since a blob is not held in memory.
    ///
    /// - Parameters:
    ///   - bytes: the file's beginning, or all of it.
    ///   - fileLength: the length of the file in bytes, as the file system reports it.
    ///   - name: the name for errors.
    /// - Throws: `ChangeError`.
    public init(reading bytes: UnsafeRawBufferPointer, fileLength: UInt64, name: String) throws {
        guard bytes.count >= Self.length, Self.isOurs(bytes.prefix(Self.magic.count)) else {
            throw ChangeError.malformed(name, reason: "it does not begin as such files do")
        }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[8..<Self.length]))
        let kind = try reader.byte()
        let flags = try reader.byte()
        let version = UInt16(try reader.byte()) << 8 | UInt16(try reader.byte())
        if version > Self.version { throw ChangeError.newer(name, version: version) }
        guard version == Self.version else {
            throw ChangeError.malformed(name, reason: "its version is 0")
        }
        guard let kind = FileKind(rawValue: kind) else {
            throw ChangeError.unknownKind(name, kind: kind)
        }
        if flags & Self.encrypted != 0 { throw ChangeError.encrypted(name) }
        self.kind = kind
        isDeflated = flags & Self.deflated != 0
        headerLength = try reader.bigEndian32()
        bodyLength = try reader.bigEndian()
        inflatedLength = try reader.bigEndian()
        guard flags & ~Self.deflated == 0 else {
            throw ChangeError.malformed(name, reason: "it has unknown flags")
        }
        guard headerLength <= Self.maximumHeader, bodyLength <= kind.maximumBody,
            inflatedLength <= kind.maximumBody
        else { throw ChangeError.malformed(name, reason: "it is too long") }
        guard self.fileLength == fileLength, isDeflated || bodyLength == inflatedLength else {
            throw ChangeError.malformed(name, reason: "its lengths contradict each other")
        }
    }

    /// The head's 32 bytes.
    public var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.raw(Self.magic)
        writer.byte(kind.rawValue)
        writer.byte(isDeflated ? Self.deflated : 0)
        writer.byte(UInt8(Self.version >> 8))
        writer.byte(UInt8(Self.version & 0xFF))
        writer.bigEndian(headerLength)
        writer.bigEndian(bodyLength)
        writer.bigEndian(inflatedLength)
        return writer.bytes
    }
}

/// A complete file of the container: its kind, header, body and id.
public struct Envelope: Sendable {
    public let kind: FileKind
    public let header: [UInt8]
    /// The inflated body.
    public let body: [UInt8]
    /// The file's id: the SHA-256 of all bytes before its last 32.
    public let id: Digest

    /// Reads a file, and refuses it if its hash or its lengths are wrong.
    ///
    /// It takes the memory of the file and the inflated body.
    ///
    /// - Parameters:
    ///   - bytes: the file; a blob's file should be read in parts instead, see `BlobFile`.
    ///   - name: the name for errors.
    ///   - inflate: the function that inflates the body.
    /// - Throws: `ChangeError`.
    public init(reading bytes: [UInt8], name: String, inflate: Inflate) throws {
        self = try bytes.withUnsafeBytes { bytes in
            try Envelope(reading: bytes, name: name, inflate: inflate)
        }
    }

    private init(reading bytes: UnsafeRawBufferPointer, name: String, inflate: Inflate) throws {
        let end = bytes.count - EnvelopeHead.trailerLength
        guard end >= EnvelopeHead.length else { throw ChangeError.incomplete(name) }
        let id = Digest(of: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        guard Digest(bytes: UnsafeRawBufferPointer(rebasing: bytes[end...])) == id else {
            throw ChangeError.incomplete(name)
        }
        let head = try EnvelopeHead(reading: bytes, fileLength: UInt64(bytes.count), name: name)
        let bodyStart = EnvelopeHead.length + Int(head.headerLength)
        let body = UnsafeRawBufferPointer(rebasing: bytes[bodyStart..<end])
        self.kind = head.kind
        self.header = Array(bytes[EnvelopeHead.length..<bodyStart])
        self.id = id
        guard head.isDeflated else {
            self.body = Array(body)
            return
        }
        var isWhole = false
        self.body = [UInt8](unsafeUninitializedCapacity: Int(head.inflatedLength)) { place, count in
            let exact = UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(place)[..<Int(head.inflatedLength)]
            )
            isWhole = inflate(body, exact)
            if !isWhole { exact.initializeMemory(as: UInt8.self, repeating: 0) }
            count = Int(head.inflatedLength)
        }
        guard isWhole else {
            throw ChangeError.malformed(name, reason: "it does not inflate to what it says")
        }
    }

    /// Returns the bytes of a file, and its id.
    ///
    /// It deflates the body if that makes it smaller.
    ///
    /// - Throws: `ChangeError.beyondLimit`; any error of `deflate`.
    public static func write(
        _ kind: FileKind,
        header: [UInt8],
        body: [UInt8],
        deflate: Deflate? = nil
    ) throws -> WrittenFile {
        guard header.count <= EnvelopeHead.maximumHeader else {
            throw ChangeError.beyondLimit("a header would be over 1 MiB")
        }
        guard body.count <= kind.maximumBody else {
            throw ChangeError.beyondLimit("a \(kind) would be too long")
        }
        var content = body
        var isDeflated = false
        if let deflate, !body.isEmpty {
            let deflated = try body.withUnsafeBytes { try deflate($0) }
            if deflated.count < body.count {
                content = deflated
                isDeflated = true
            }
        }
        let head = EnvelopeHead(
            kind,
            isDeflated: isDeflated,
            header: header.count,
            body: content.count,
            inflated: body.count
        )
        var writer = ByteWriter()
        writer.reserve(Int(head.fileLength))
        writer.raw(head.bytes)
        writer.raw(header)
        writer.raw(content)
        let id = writer.bytes.withUnsafeBytes { Digest(of: $0) }
        writer.digest(id)
        return WrittenFile(bytes: writer.bytes, id: id)
    }
}

/// A file that is ready to be put into the container.
public struct WrittenFile: Sendable {
    public let bytes: [UInt8]
    /// The file's id, which is also its last 32 bytes.
    public let id: Digest
}
