/// The local and the central record of an entry.
struct EntryRecord {
    /// The name's bytes; a directory's name ends with `/`.
    var name: [UInt8]
    var method: UInt16
    var checksum: UInt32
    var compressedSize: UInt64
    var size: UInt64
    /// The file's st_mode.
    var mode: UInt32
    /// The modification time in nanoseconds since 1970-01-01 UTC.
    var modified: Int64
    /// The offset of the local record.
    var offset: UInt64
    /// Whether the local record has room for 64-bit sizes, decided before the data is written.
    var hasWideSizes: Bool
    /// Whether the checksum and sizes are in a data descriptor behind the data instead of the local record.
    var hasDescriptor = false

    private static let limit = UInt64(UInt32.max)

    /// Returns the local file header (4.3.7).
    func local() -> [UInt8] {
        var known = self
        if hasDescriptor { (known.checksum, known.compressedSize, known.size) = (0, 0, 0) }
        var record = RecordBuilder()
        let extra = extraFields(wide: hasWideSizes ? [known.size, known.compressedSize] : [])
        record.append(ZipRecords.localSignature)
        known.appendCommon(to: &record, extraLength: extra.count)
        record.append(name)
        record.append(extra)
        return record.bytes
    }

    /// Returns the central directory header (4.3.12).
    func central() -> [UInt8] {
        var wide: [UInt64] = []
        if hasWideSizes { wide += [size, compressedSize] }
        if offset >= Self.limit { wide.append(offset) }
        let extra = extraFields(wide: wide)
        var record = RecordBuilder()
        record.append(ZipRecords.centralSignature)
        record.append(ZipRecords.madeByUnix | versionNeeded)
        appendCommon(to: &record, extraLength: extra.count)
        record.append(UInt16(0))  // comment
        record.append(UInt16(0))  // disk
        record.append(UInt16(0))  // internal attributes
        let isDirectory = name.last == UInt8(ascii: "/")
        record.append(mode << 16 | (isDirectory ? 0x10 : 0))
        record.append(offset >= Self.limit ? UInt32.max : UInt32(offset))
        record.append(name)
        record.append(extra)
        return record.bytes
    }

    /// The data descriptor (4.3.9).
    var descriptor: DataDescriptor {
        DataDescriptor(
            checksum: checksum,
            compressedSize: compressedSize,
            size: size,
            isWide: hasWideSizes
        )
    }

    private var versionNeeded: UInt16 { hasWideSizes || offset >= Self.limit ? 45 : 20 }

    private func appendCommon(to record: inout RecordBuilder, extraLength: Int) {
        let isUTF8 = String(validating: name, as: UTF8.self) != nil
        record.append(versionNeeded)
        record.append(
            (isUTF8 ? ZipRecords.utf8Flag : 0) | (hasDescriptor ? ZipRecords.descriptorFlag : 0)
        )
        record.append(method)
        let (date, time) = DOSTime.of(modified)
        record.append(time)
        record.append(date)
        record.append(checksum)
        record.append(hasWideSizes ? UInt32.max : UInt32(compressedSize))
        record.append(hasWideSizes ? UInt32.max : UInt32(size))
        record.append(UInt16(name.count))
        record.append(UInt16(extraLength))
    }

    private func extraFields(wide: [UInt64]) -> [UInt8] {
        var extra = RecordBuilder()
        if !wide.isEmpty {
            extra.append(ZipRecords.zip64Extra)
            extra.append(UInt16(8 * wide.count))
            for value in wide { extra.append(value) }
        }
        // Info-ZIP's extended timestamp: seconds in UTC, if they fit.
        if let seconds = Int32(exactly: modified.floorDivided(by: 1_000_000_000)) {
            extra.append(ZipRecords.timestampExtra)
            extra.append(UInt16(5))
            extra.append([1])
            extra.append(UInt32(bitPattern: seconds))
        }
        return extra.bytes
    }
}

/// The checksum and sizes behind an entry's data, for a local record written before they were known (4.3.9).
struct DataDescriptor {
    var checksum: UInt32
    var compressedSize: UInt64
    var size: UInt64
    /// Whether the sizes have 64 bits, because the local record has the field for them (4.3.9.2).
    var isWide: Bool

    /// Returns the length in bytes.
    static func length(isWide: Bool) -> Int { isWide ? 24 : 16 }

    /// Returns the bytes, with the signature that most readers expect (4.3.9.3).
    func encoded() -> [UInt8] {
        var record = RecordBuilder()
        record.append(ZipRecords.descriptorSignature)
        record.append(checksum)
        for value in [compressedSize, size] {
            if isWide {
                record.append(value)
            } else {
                record.append(UInt32(truncatingIfNeeded: value))
            }
        }
        return record.bytes
    }
}

/// A builder of records from little-endian numbers.
struct RecordBuilder {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    mutating func append(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
    }
}

extension [UInt8] {
    /// Returns the little-endian number at an index.
    func uint16(at index: Int) -> UInt16 {
        UInt16(self[index]) | UInt16(self[index + 1]) << 8
    }
    func uint32(at index: Int) -> UInt32 {
        UInt32(uint16(at: index)) | UInt32(uint16(at: index + 2)) << 16
    }
    func uint64(at index: Int) -> UInt64 {
        UInt64(uint32(at: index)) | UInt64(uint32(at: index + 4)) << 32
    }
}
