internal import Files
internal import Foundation

/// The records of a zip, as APPNOTE.TXT 6.3 lays them out (section numbers below are its own).
enum ZipRecords {
    static let localSignature: UInt32 = 0x0403_4B50
    static let centralSignature: UInt32 = 0x0201_4B50
    static let digitalSignature: UInt32 = 0x0505_4B50
    static let endSignature: UInt32 = 0x0605_4B50
    static let zip64EndSignature: UInt32 = 0x0606_4B50
    static let zip64LocatorSignature: UInt32 = 0x0706_4B50

    static let localLength = 30
    static let centralLength = 46
    static let endLength = 22
    static let zip64EndLength = 56
    static let zip64LocatorLength = 20

    static let stored: UInt16 = 0
    static let deflated: UInt16 = 8
    /// Encrypted by AES; the method of what was encrypted is in an extra field.
    static let aes: UInt16 = 99

    /// Bit 0: encrypted; bit 3: sizes behind the data; bit 11: the name is UTF-8.
    static let encryptedFlag: UInt16 = 1
    static let descriptorFlag: UInt16 = 1 << 3
    static let utf8Flag: UInt16 = 1 << 11

    static let zip64Extra: UInt16 = 0x0001
    static let timestampExtra: UInt16 = 0x5455
    static let unicodePathExtra: UInt16 = 0x7075

    /// "Made by" Unix, whose file attributes are a mode in the upper half.
    static let unixHost: UInt16 = 3
    static let macHost: UInt16 = 19
}

/// Appends little-endian numbers.
struct RecordBuilder {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: UInt16) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    mutating func append(_ value: UInt32) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    mutating func append(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    mutating func append(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
    }
}

/// All that the local and the central record of one entry say.
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

    private static let limit = UInt64(UInt32.max)

    /// The local file header (4.3.7).
    func local() -> [UInt8] {
        var record = RecordBuilder()
        let extra = extraFields(wide: hasWideSizes ? [size, compressedSize] : [])
        record.append(ZipRecords.localSignature)
        appendCommon(to: &record)
        record.append(hasWideSizes ? UInt32.max : UInt32(compressedSize))
        record.append(hasWideSizes ? UInt32.max : UInt32(size))
        record.append(UInt16(name.count))
        record.append(UInt16(extra.count))
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
        record.append(ZipRecords.unixHost << 8 | versionNeeded)
        appendCommon(to: &record)
        record.append(hasWideSizes ? UInt32.max : UInt32(compressedSize))
        record.append(hasWideSizes ? UInt32.max : UInt32(size))
        record.append(UInt16(name.count))
        record.append(UInt16(extra.count))
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

    private var versionNeeded: UInt16 {
        hasWideSizes || offset >= Self.limit ? 45 : 20
    }

    private func appendCommon(to record: inout RecordBuilder) {
        let isUTF8 = String(validating: name, as: UTF8.self) != nil
        record.append(versionNeeded)
        record.append(isUTF8 ? ZipRecords.utf8Flag : 0)
        record.append(method)
        let (date, time) = DOSTime.of(modified)
        record.append(time)
        record.append(date)
        record.append(checksum)
    }

    private func extraFields(wide: [UInt64]) -> [UInt8] {
        var extra = RecordBuilder()
        if !wide.isEmpty {
            extra.append(ZipRecords.zip64Extra)
            extra.append(UInt16(8 * wide.count))
            for value in wide { extra.append(value) }
        }
        // Info-ZIP's extended timestamp: seconds in UTC, where they fit.
        if let seconds = Int32(exactly: modified.floorDivided(by: 1_000_000_000)) {
            extra.append(ZipRecords.timestampExtra)
            extra.append(UInt16(5))
            extra.append([1])
            extra.append(UInt32(bitPattern: seconds))
        }
        return extra.bytes
    }
}

/// The end of a zip: where its central directory is (4.3.14 to 4.3.16).
struct EndRecord {
    var entries: UInt64
    var directoryOffset: UInt64
    var directorySize: UInt64

    /// The bytes, with the 64-bit records where a number needs them and not otherwise.
    func encoded() -> [UInt8] {
        var record = RecordBuilder()
        let isWide =
            entries >= UInt64(UInt16.max) || directoryOffset >= UInt64(UInt32.max)
            || directorySize >= UInt64(UInt32.max)
        if isWide {
            record.append(ZipRecords.zip64EndSignature)
            record.append(UInt64(ZipRecords.zip64EndLength - 12))
            record.append(ZipRecords.unixHost << 8 | 45)
            record.append(UInt16(45))
            record.append(UInt32(0))
            record.append(UInt32(0))
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
        record.append(UInt16(0))
        record.append(UInt16(0))
        let count = isWide ? UInt16.max : UInt16(entries)
        record.append(count)
        record.append(count)
        record.append(isWide ? UInt32.max : UInt32(directorySize))
        record.append(isWide ? UInt32.max : UInt32(directoryOffset))
        record.append(UInt16(0))
        return record.bytes
    }
}

/// The date and time of DOS: local time, two seconds apart, from 1980 to 2107 (4.4.6).
enum DOSTime {
    static func of(_ nanoseconds: Int64) -> (date: UInt16, time: UInt16) {
        var seconds = time_t(nanoseconds.floorDivided(by: 1_000_000_000))
        var local = tm()
        guard localtime_r(&seconds, &local) != nil, (80...207).contains(local.tm_year) else {
            return local.tm_year > 207 ? (0xFF9F, 0xBF7D) : (0x0021, 0)
        }
        let date = (local.tm_year - 80) << 9 | (local.tm_mon + 1) << 5 | local.tm_mday
        let time = local.tm_hour << 11 | local.tm_min << 5 | min(local.tm_sec, 59) / 2
        return (UInt16(date), UInt16(time))
    }

    static func nanoseconds(date: UInt16, time: UInt16) -> Int64 {
        var local = tm()
        local.tm_year = CInt(date >> 9) + 80
        local.tm_mon = CInt(date >> 5 & 15) - 1
        local.tm_mday = CInt(date & 31)
        local.tm_hour = CInt(time >> 11)
        local.tm_min = CInt(time >> 5 & 63)
        local.tm_sec = CInt(time & 31) * 2
        local.tm_isdst = -1
        return Int64(mktime(&local)) * 1_000_000_000
    }
}

extension Int64 {
    /// The quotient rounded down, also below zero.
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
