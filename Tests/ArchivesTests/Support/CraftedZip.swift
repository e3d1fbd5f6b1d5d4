@testable internal import Archives
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

/// A zip that is made record by record, so that each record can be wrong.
struct CraftedZip {
    struct Entry {
        var name: [UInt8]
        /// The data as it is in the archive.
        var data: [UInt8]
        var method: UInt16 = 0
        var flags: UInt16 = 0
        var host: UInt16 = 3
        var mode: UInt32 = 0o100644
        var checksum: UInt32
        var compressedSize: UInt32
        var size: UInt32
        var centralExtra: [UInt8] = []
        /// The name in the local record, if it differs.
        var localName: [UInt8]?
        /// The offset of the local record according to the central one, if it is wrong.
        var offset: UInt32?
        /// The bytes after the data.
        var descriptor: [UInt8] = []

        init(_ name: [UInt8], _ data: [UInt8] = []) {
            self.name = name
            self.data = data
            checksum = data.withUnsafeBytes { Checksum(of: $0).value }
            compressedSize = UInt32(data.count)
            size = UInt32(data.count)
        }

        init(_ name: String, _ data: String = "") {
            self.init(Array(name.utf8), Array(data.utf8))
        }

        /// Makes an entry with deflated data.
        init(deflated name: String, _ bytes: [UInt8]) {
            self.init(Array(name.utf8), bytes)
            var output = [UInt8](repeating: 0, count: bytes.count + 100)
            let length = output.withUnsafeMutableBytes { space in
                bytes.withUnsafeBytes { input in
                    space.baseAddress.flatMap {
                        SegmentDeflater(.default)
                            .deflate(input, into: $0, capacity: space.count, isLast: true)
                    }
                }
            }
            data = Array(output[..<(length ?? 0)])
            method = 8
            compressedSize = UInt32(data.count)
        }
    }

    var entries: [Entry]
    var comment: [UInt8] = []
    /// The number of entries in the end record, if it is wrong.
    var count: UInt16?
    var directorySize: UInt32?
    var directoryOffset: UInt32?
    /// The bytes between the last entry and the directory, and after the directory.
    var gap: [UInt8] = []
    /// The DOS date of all entries.
    var date: UInt16 = 0x5A21
    var signature: [UInt8] = []

    init(_ entries: [Entry]) {
        self.entries = entries
    }

    func bytes() -> [UInt8] {
        var archive = RecordBuilder()
        var central = RecordBuilder()
        for entry in entries {
            let offset = UInt32(archive.bytes.count)
            let localName = entry.localName ?? entry.name
            archive.append(ZipRecords.localSignature)
            appendCommon(entry, to: &archive)
            archive.append(UInt16(localName.count))
            archive.append(UInt16(0))
            archive.append(localName)
            archive.append(entry.data)
            archive.append(entry.descriptor)
            central.append(ZipRecords.centralSignature)
            central.append(entry.host << 8 | 20)
            appendCommon(entry, to: &central)
            central.append(UInt16(entry.name.count))
            central.append(UInt16(entry.centralExtra.count))
            central.append([0, 0, 0, 0, 0, 0])
            central.append(entry.mode << 16)
            central.append(entry.offset ?? offset)
            central.append(entry.name)
            central.append(entry.centralExtra)
        }
        archive.append(gap)
        let start = UInt32(archive.bytes.count)
        archive.append(central.bytes)
        archive.append(signature)
        archive.append(ZipRecords.endSignature)
        archive.append(UInt32(0))
        archive.append(count ?? UInt16(entries.count))
        archive.append(count ?? UInt16(entries.count))
        archive.append(directorySize ?? UInt32(central.bytes.count + signature.count))
        archive.append(directoryOffset ?? start)
        archive.append(UInt16(comment.count))
        archive.append(comment)
        return archive.bytes
    }

    private func appendCommon(_ entry: Entry, to record: inout RecordBuilder) {
        record.append(UInt16(20))
        record.append(entry.flags)
        record.append(entry.method)
        record.append(UInt16(0x6000))
        record.append(date)
        record.append(entry.checksum)
        record.append(entry.compressedSize)
        record.append(entry.size)
    }
}

/// Returns an extra field with 64-bit values.
func wideExtra(_ values: UInt64...) -> [UInt8] {
    var extra = RecordBuilder()
    extra.append(ZipRecords.zip64Extra)
    extra.append(UInt16(8 * values.count))
    for value in values { extra.append(value) }
    return extra.bytes
}
