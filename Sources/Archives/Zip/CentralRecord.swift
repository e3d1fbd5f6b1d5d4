/// A record of the central directory (4.3.12).
///
/// There may be millions of records, so a record refers to the directory's bytes for its name.
struct CentralRecord {
    /// A contradiction in a record; the text is for `ArchiveError.damaged`.
    struct Fault: Error {
        var reason: String
    }

    let compressedSize: UInt64
    let size: UInt64
    /// The offset of the local record.
    let offset: UInt64
    /// The modification time in nanoseconds since 1970-01-01 UTC.
    let modified: Int64
    let checksum: UInt32
    let externalAttributes: UInt32
    let flags: UInt16
    let method: UInt16
    let host: UInt8
    /// Whether it has 64-bit sizes.
    let hasWideSizes: Bool
    private let nameLength: UInt16
    private let unicodeLength: UInt16
    private let nameStart: UInt32
    private let unicodeStart: UInt32

    /// The range of its name in the directory.
    var name: Range<Int> { Int(nameStart)..<(Int(nameStart) + Int(nameLength)) }

    /// The range of its name in UTF-8, if that is another one and is known.
    var unicodeName: Range<Int>? {
        unicodeLength == 0 ? nil : Int(unicodeStart)..<(Int(unicodeStart) + Int(unicodeLength))
    }

    /// Whether the upper half of its attributes is a mode.
    var isUnix: Bool { host == ZipRecords.unixHost || host == ZipRecords.macHost }

    /// Whether a data descriptor follows its data.
    var hasDescriptor: Bool { flags & ZipRecords.descriptorFlag != 0 }

    /// The descriptor that it should have.
    var descriptor: DataDescriptor {
        DataDescriptor(
            checksum: checksum,
            compressedSize: compressedSize,
            size: size,
            isWide: hasWideSizes
        )
    }

    /// Reads the record at an index of the directory's bytes.
    ///
    /// Its fixed part and its lengths must lie within the bytes.
    init(_ bytes: [UInt8], at start: Int) throws(Fault) {
        flags = bytes.uint16(at: start + 8)
        method = bytes.uint16(at: start + 10)
        checksum = bytes.uint32(at: start + 16)
        host = UInt8(bytes.uint16(at: start + 4) >> 8)
        externalAttributes = bytes.uint32(at: start + 38)
        nameStart = UInt32(start + ZipRecords.centralLength)
        nameLength = bytes.uint16(at: start + 28)
        let name = Int(nameStart)..<(Int(nameStart) + Int(nameLength))
        var sizes = WideSizes(
            size: UInt64(bytes.uint32(at: start + 24)),
            compressedSize: UInt64(bytes.uint32(at: start + 20)),
            offset: UInt64(bytes.uint32(at: start + 42))
        )
        hasWideSizes = sizes.size == UInt32.max || sizes.compressedSize == UInt32.max
        var seconds: Int32?
        var unicodeName = 0..<0
        let isUTF8 = flags & ZipRecords.utf8Flag != 0
        try Self.forEachExtra(at: start, of: bytes) { identifier, field throws(Fault) in
            switch identifier {
            case ZipRecords.zip64Extra: try sizes.widen(bytes, field)
            case ZipRecords.timestampExtra
            where field.count >= 5 && bytes[field.lowerBound] & 1 == 1:
                seconds = Int32(bitPattern: bytes.uint32(at: field.lowerBound + 1))
            case ZipRecords.unicodePathExtra:
                unicodeName = isUTF8 ? 0..<0 : Self.unicodeName(in: field, of: bytes, beside: name)
            default: break
            }
        }
        (size, compressedSize, offset) = (sizes.size, sizes.compressedSize, sizes.offset)
        modified =
            seconds.map { Int64($0) * 1_000_000_000 }
            ?? DOSTime.nanoseconds(
                date: bytes.uint16(at: start + 14),
                time: bytes.uint16(at: start + 12)
            )
        unicodeStart = UInt32(unicodeName.lowerBound)
        unicodeLength = UInt16(unicodeName.count)
    }

    /// Returns the range of the name in Info-ZIP's Unicode path field (4.6.9), for a name in an unknown code page.
    ///
    /// The range is empty if the field has another version, or belongs to another name: some programs rename an entry
    /// and leave the field unchanged.
    private static func unicodeName(
        in field: Range<Int>,
        of bytes: [UInt8],
        beside name: Range<Int>
    ) -> Range<Int> {
        guard field.count > 5, bytes[field.lowerBound] == 1,
            bytes.uint32(at: field.lowerBound + 1)
                == bytes[name].withUnsafeBytes({ Checksum(of: $0).value })
        else { return 0..<0 }
        let unicodeName = field.dropFirst(5)
        return String(validating: bytes[unicodeName], as: UTF8.self) == nil ? 0..<0 : unicodeName
    }

    /// Returns whether a record has the form that only `ArchiveWriter` uses.
    ///
    /// Such a record was made by Unix with this program's versions, has no comment, and leaves unused fields empty. It
    /// has a data descriptor only behind deflated data, and only the time's extra field, as long as in the local
    /// record. After 2038 the time does not fit into that field, and the DOS time must be as late.
    static func hasOwnForm(_ bytes: [UInt8], at start: Int) -> Bool {
        let (version, needed) = (bytes.uint16(at: start + 4), bytes.uint16(at: start + 6))
        let flags = bytes.uint16(at: start + 8) & ~ZipRecords.utf8Flag
        let isDeflated = bytes.uint16(at: start + 10) == ZipRecords.deflated
        guard needed == 20 || needed == 45, version == ZipRecords.madeByUnix | needed,
            flags == 0 || flags == ZipRecords.descriptorFlag && isDeflated,
            bytes[(start + 32)..<(start + 38)].allSatisfy({ $0 == 0 })
        else { return false }
        var fields: [UInt16] = []
        do {
            try forEachExtra(at: start, of: bytes) { identifier, field throws(Fault) in
                let isPlain = identifier != ZipRecords.timestampExtra || field.count == 5
                fields.append(isPlain ? identifier : 0)
            }
        } catch {
            return false
        }
        if fields.first == ZipRecords.zip64Extra { fields.removeFirst() }
        if fields == [ZipRecords.timestampExtra] { return true }
        let date = bytes.uint16(at: start + 14)
        return fields.isEmpty && (date >> 9 >= 2038 - 1980 || date == 0x0021)
    }

    private static func forEachExtra(
        at start: Int,
        of bytes: [UInt8],
        _ body: (UInt16, Range<Int>) throws(Fault) -> Void
    ) throws(Fault) {
        var position = start + ZipRecords.centralLength + Int(bytes.uint16(at: start + 28))
        let end = position + Int(bytes.uint16(at: start + 30))
        // Fewer than four bytes at the end are padding of some programs.
        while position + 4 <= end {
            let length = Int(bytes.uint16(at: position + 2))
            let field = (position + 4)..<(position + 4 + length)
            guard field.upperBound <= end else {
                throw Fault(reason: "an extra field is longer than its record")
            }
            try body(bytes.uint16(at: position), field)
            position = field.upperBound
        }
    }
}

/// The numbers of a record that may have 64 bits.
private struct WideSizes {
    var size: UInt64
    var compressedSize: UInt64
    var offset: UInt64

    /// Reads the 64-bit values of the fields that refer to them (4.5.3).
    mutating func widen(_ bytes: [UInt8], _ field: Range<Int>) throws(CentralRecord.Fault) {
        var rest = field
        func next() throws(CentralRecord.Fault) -> UInt64 {
            guard rest.count >= 8 else {
                throw CentralRecord.Fault(reason: "its 64-bit sizes are missing")
            }
            defer { rest = rest.dropFirst(8) }
            return bytes.uint64(at: rest.lowerBound)
        }
        if size == UInt32.max { size = try next() }
        if compressedSize == UInt32.max { compressedSize = try next() }
        if offset == UInt32.max { offset = try next() }
        guard max(size, compressedSize, offset) <= Int64.max else {
            throw CentralRecord.Fault(reason: "a size is beyond all bounds")
        }
    }
}
