/// The end of a zip, with the place of its central directory (4.3.14 to 4.3.16).
struct EndRecord {
    var entries: UInt64
    var directoryOffset: UInt64
    var directorySize: UInt64

    /// Returns the bytes, with the 64-bit records only if a number needs them.
    func encoded() -> [UInt8] {
        var record = RecordBuilder()
        let isWide =
            entries >= UInt64(UInt16.max) || directoryOffset >= UInt64(UInt32.max)
            || directorySize >= UInt64(UInt32.max)
        if isWide {
            record.append(ZipRecords.zip64EndSignature)
            record.append(UInt64(ZipRecords.zip64EndLength - 12))
            record.append(ZipRecords.madeByUnix | 45)
            record.append(UInt16(45))
            record.append(UInt64(0))
            record.append(entries)
            record.append(entries)
            record.append(directorySize)
            record.append(directoryOffset)
            record.append(ZipRecords.zip64LocatorSignature)
            record.append(UInt32(0))
            record.append(directoryOffset + directorySize)
            record.append(UInt32(1))
        }
        record.append(ZipRecords.endSignature)
        record.append(UInt32(0))
        let count = isWide ? UInt16.max : UInt16(entries)
        record.append(count)
        record.append(count)
        record.append(isWide ? UInt32.max : UInt32(directorySize))
        record.append(isWide ? UInt32.max : UInt32(directoryOffset))
        record.append(UInt16(0))
        return record.bytes
    }
}
