/// The local and the central record of an entry.
struct EntryRecord {
    /// The name's bytes; a directory's end with `/`.
    var name: [UInt8]
    var method: UInt16
    var checksum: UInt32
    var compressedSize: UInt64
    var size: UInt64
    /// st_mode.
    var mode: UInt32
    /// Nanoseconds since 1970-01-01 UTC.
    var modified: Int64
    /// Where the local record is.
    var offset: UInt64
    /// Whether the local record has room for 64-bit sizes; decided before the data is written.
    var hasWideSizes: Bool
    /// Whether checksum and sizes are not in the local record, but in a data descriptor behind the data.
    var hasDescriptor = false

    private static let limit = UInt64(UInt32.max)

    /// The local file header (4.3.7).
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

    /// The central directory header (4.3.12).
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
