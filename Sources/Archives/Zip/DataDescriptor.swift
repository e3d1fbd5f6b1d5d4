/// Checksum and sizes behind an entry's data, if its local record was written before they were known
/// (4.3.9).
struct DataDescriptor {
    var checksum: UInt32
    var compressedSize: UInt64
    var size: UInt64
    /// Whether the sizes have 64 bits: if the local record has the field for such (4.3.9.2).
    var isWide: Bool

    /// Bytes in the archive.
    static func length(isWide: Bool) -> Int { isWide ? 24 : 16 }

    /// Returns the bytes, with the signature that most readers look for (4.3.9.3).
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
