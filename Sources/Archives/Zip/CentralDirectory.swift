internal import Files
internal import SystemPackage

/// The central directory of a zip, read strictly: every record is looked at, and what contradicts
/// itself is refused rather than guessed at.
///
/// It keeps the records' bytes as they are and an offset for each.
struct CentralDirectory {
    /// What one central record says.
    struct Record {
        var host: UInt16
        var flags: UInt16
        var method: UInt16
        var checksum: UInt32
        var compressedSize: UInt64
        var size: UInt64
        var externalAttributes: UInt32
        /// Where its local record is.
        var offset: UInt64
        /// Nanoseconds since 1970-01-01 UTC.
        var modified: Int64
        /// Its bytes, which its local record has too.
        var name: Range<Int>
        /// What the name is in UTF-8, where it is not and that is known.
        var unicodeName: Range<Int>?
    }

    /// The most entries that an archive may have.
    static let entriesLimit = 16_000_000

    /// The bytes from the first record to the last.
    let bytes: [UInt8]
    /// Where each record begins in `bytes`.
    private let starts: [UInt32]
    /// Where the directory begins in the file.
    let offset: UInt64

    var count: Int { starts.count }

    /// Finds and reads the directory of an archive.
    ///
    /// - Throws: `ArchiveError`, `FileError`.
    init(of file: File) throws {
        let size = UInt64(try file.info().size)
        let end = try EndLocator(file: file, size: size).find()
        let path = file.path
        guard end.directorySize <= size, end.directoryOffset <= size - end.directorySize else {
            throw ArchiveError.damaged(path, reason: "its directory lies outside the file")
        }
        let smallest = UInt64(ZipRecords.centralLength)
        guard end.entries <= end.directorySize / smallest, end.directorySize <= UInt64(UInt32.max),
            end.entries <= Self.entriesLimit
        else { throw ArchiveError.damaged(path, reason: "it cannot have \(end.entries) entries") }
        offset = end.directoryOffset
        bytes = try file.readExactly(count: Int(end.directorySize), at: Int64(end.directoryOffset))
        let all = try Self.index(bytes, count: Int(end.entries), path: path)
        // Some programs have an entry for the directory itself, "./", which is no file of it.
        let bytes = bytes
        func isRoot(_ start: UInt32) -> Bool {
            let name = Int(start) + ZipRecords.centralLength
            let length = Int(bytes.uint16(at: Int(start) + 28))
            return (1...2).contains(length) && bytes[name] == UInt8(ascii: ".")
                && (length == 1 || bytes[name + 1] == UInt8(ascii: "/"))
        }
        starts = all.filter { !isRoot($0) }
    }

    private static func index(_ bytes: [UInt8], count: Int, path: FilePath) throws -> [UInt32] {
        var starts: [UInt32] = []
        starts.reserveCapacity(count)
        var position = 0
        for _ in 0..<count {
            guard position + ZipRecords.centralLength <= bytes.count,
                bytes.uint32(at: position) == ZipRecords.centralSignature
            else { throw ArchiveError.damaged(path, reason: "its directory ends early") }
            starts.append(UInt32(position))
            position +=
                ZipRecords.centralLength + Int(bytes.uint16(at: position + 28))
                + Int(bytes.uint16(at: position + 30)) + Int(bytes.uint16(at: position + 32))
        }
        guard position <= bytes.count else {
            throw ArchiveError.damaged(path, reason: "its directory ends early")
        }
        // A digital signature may follow the records (4.3.13), and nothing else.
        guard
            position == bytes.count
                || bytes.count - position >= 6
                    && bytes.uint32(at: position) == ZipRecords.digitalSignature
        else {
            throw ArchiveError.damaged(path, reason: "its directory has more entries than it says")
        }
        return starts
    }

    /// The record with an index.
    ///
    /// - Throws: a text for `ArchiveError.damaged`.
    func record(at index: Int) throws(RecordFault) -> Record {
        let start = Int(starts[index])
        let nameStart = start + ZipRecords.centralLength
        let nameEnd = nameStart + Int(bytes.uint16(at: start + 28))
        let extraEnd = nameEnd + Int(bytes.uint16(at: start + 30))
        var record = Record(
            host: bytes.uint16(at: start + 4) >> 8,
            flags: bytes.uint16(at: start + 8),
            method: bytes.uint16(at: start + 10),
            checksum: bytes.uint32(at: start + 16),
            compressedSize: UInt64(bytes.uint32(at: start + 20)),
            size: UInt64(bytes.uint32(at: start + 24)),
            externalAttributes: bytes.uint32(at: start + 38),
            offset: UInt64(bytes.uint32(at: start + 42)),
            modified: 0,
            name: nameStart..<nameEnd
        )
        var hasTimestamp = false
        try forEachExtra(nameEnd..<extraEnd) { identifier, field throws(RecordFault) in
            if identifier == ZipRecords.zip64Extra { try Self.widen(&record, bytes[field]) }
            if identifier == ZipRecords.timestampExtra, field.count >= 5,
                bytes[field.lowerBound] & 1 == 1
            {
                let seconds = Int32(bitPattern: bytes.uint32(at: field.lowerBound + 1))
                record.modified = Int64(seconds) * 1_000_000_000
                hasTimestamp = true
            }
            if identifier == ZipRecords.unicodePathExtra {
                record.unicodeName = unicodeName(in: field, of: record)
            }
        }
        if !hasTimestamp {
            record.modified = DOSTime.nanoseconds(
                date: bytes.uint16(at: start + 14),
                time: bytes.uint16(at: start + 12)
            )
        }
        return record
    }

    /// The name in Info-ZIP's Unicode path field (4.6.9), beside one in a code page that nothing tells.
    ///
    /// - Returns: where it is; `nil` where it is of another version, or of another name, as a program
    ///   leaves it that gives the entry a new one.
    private func unicodeName(in field: Range<Int>, of record: Record) -> Range<Int>? {
        let name = bytes[record.name]
        guard field.count > 5, bytes[field.lowerBound] == 1,
            record.flags & ZipRecords.utf8Flag == 0,
            bytes.uint32(at: field.lowerBound + 1)
                == name.withUnsafeBytes({ Checksum(of: $0).value })
        else { return nil }
        let unicodeName = field.dropFirst(5)
        return String(validating: bytes[unicodeName], as: UTF8.self) == nil ? nil : unicodeName
    }

    /// Whether a record has the form that `ArchiveWriter` gives every record, which no other program
    /// does: made by Unix with our versions, no comment, nothing in the fields that we leave empty,
    /// and of the extra fields only the time's, in the directory as long as in the local record.
    ///
    /// Beyond 2038 there is no room for a time; then one of DOS's beyond it has to do.
    func hasOwnForm(at index: Int) -> Bool {
        let start = Int(starts[index])
        let (version, needed) = (bytes.uint16(at: start + 4), bytes.uint16(at: start + 6))
        guard needed == 20 || needed == 45, version == ZipRecords.unixHost << 8 | needed,
            bytes.uint16(at: start + 8) & ~ZipRecords.utf8Flag == 0,
            bytes[(start + 32)..<(start + 38)].allSatisfy({ $0 == 0 })
        else { return false }
        let extra = start + ZipRecords.centralLength + Int(bytes.uint16(at: start + 28))
        let range = extra..<(extra + Int(bytes.uint16(at: start + 30)))
        var fields: [UInt16] = []
        do {
            try forEachExtra(range) { identifier, field throws(RecordFault) in
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

    /// A contradiction in a record.
    struct RecordFault: Error {
        var reason: String
    }

    private func forEachExtra(
        _ range: Range<Int>,
        _ body: (UInt16, Range<Int>) throws(RecordFault) -> Void
    ) throws(RecordFault) {
        var position = range.lowerBound
        // Fewer than four bytes at the end are padding that some programs leave.
        while position + 4 <= range.upperBound {
            let length = Int(bytes.uint16(at: position + 2))
            let field = (position + 4)..<(position + 4 + length)
            guard field.upperBound <= range.upperBound else {
                throw RecordFault(reason: "an extra field is longer than its record")
            }
            try body(bytes.uint16(at: position), field)
            position = field.upperBound
        }
    }

    /// Takes the 64-bit values for the fields that say they have one (4.5.3).
    private static func widen(
        _ record: inout Record,
        _ field: ArraySlice<UInt8>
    ) throws(RecordFault) {
        var rest = field
        func next() throws(RecordFault) -> UInt64 {
            guard rest.count >= 8 else { throw RecordFault(reason: "its 64-bit sizes are missing") }
            let low = UInt64(Array(rest.prefix(4)).uint32(at: 0))
            let high = UInt64(Array(rest.dropFirst(4).prefix(4)).uint32(at: 0))
            rest = rest.dropFirst(8)
            return high << 32 | low
        }
        if record.size == UInt32.max { record.size = try next() }
        if record.compressedSize == UInt32.max { record.compressedSize = try next() }
        if record.offset == UInt32.max { record.offset = try next() }
        guard record.size <= Int64.max, record.compressedSize <= Int64.max,
            record.offset <= Int64.max
        else {
            throw RecordFault(reason: "a size is beyond all bounds")
        }
    }
}

/// Finds the end record of a zip, and the 64-bit one where there is one.
private struct EndLocator {
    let file: File
    let size: UInt64

    func find() throws -> EndRecord {
        guard size > 0 else { throw ArchiveError.notAnArchive(file.path, reason: "it is empty") }
        // The comment at the end has at most 65,535 bytes.
        let tailLength = Int(min(size, UInt64(ZipRecords.endLength + Int(UInt16.max))))
        let tailOffset = size - UInt64(tailLength)
        let tail = try file.readExactly(count: tailLength, at: Int64(tailOffset))
        // Looked for once: a hostile tail may have thousands of signatures with zeros behind them.
        let used = (tail.lastIndex { $0 != 0 } ?? -1) + 1
        var hasBytesBehind = false
        for position in stride(from: tailLength - ZipRecords.endLength, through: 0, by: -1)
        where tail.uint32(at: position) == ZipRecords.endSignature {
            let commentEnd =
                position + ZipRecords.endLength + Int(tail.uint16(at: position + 20))
            // Some programs fill up a last block of what they write with zeros.
            if (used...tailLength).contains(commentEnd) {
                return try read(tail, at: position, offset: tailOffset + UInt64(position))
            }
            hasBytesBehind = hasBytesBehind || commentEnd <= tailLength
        }
        if hasBytesBehind {
            throw ArchiveError.damaged(file.path, reason: "something was added behind its end")
        }
        throw ArchiveError.notAnArchive(file.path, reason: try guessReason())
    }

    private func guessReason() throws -> String {
        guard size >= 4 else { return "it is only \(size) bytes long" }
        let start = try file.readExactly(count: 4, at: 0)
        return start.uint32(at: 0) == ZipRecords.localSignature
            ? "its end is missing: it was cut off, or is still being copied"
            : "it has no end record"
    }

    private func read(_ tail: [UInt8], at position: Int, offset: UInt64) throws -> EndRecord {
        guard tail.uint16(at: position + 4) == tail.uint16(at: position + 6),
            tail.uint16(at: position + 8) == tail.uint16(at: position + 10)
        else { throw ArchiveError.damaged(file.path, reason: "it is one part of several") }
        var end = EndRecord(
            entries: UInt64(tail.uint16(at: position + 10)),
            directoryOffset: UInt64(tail.uint32(at: position + 16)),
            directorySize: UInt64(tail.uint32(at: position + 12))
        )
        var directoryEnd = offset
        if let wide = try wideEnd(before: offset) {
            end = wide.record
            directoryEnd = wide.offset
        }
        guard
            end.directoryOffset.addingReportingOverflow(end.directorySize).partialValue
                == directoryEnd
        else {
            throw ArchiveError.damaged(
                file.path,
                reason: "its directory does not end where it says; bytes are missing or were added"
            )
        }
        return end
    }

    /// The 64-bit end record, where its locator stands before the end record (4.3.14, 4.3.15).
    private func wideEnd(before offset: UInt64) throws -> (record: EndRecord, offset: UInt64)? {
        let locatorLength = UInt64(ZipRecords.zip64LocatorLength)
        let recordLength = UInt64(ZipRecords.zip64EndLength)
        guard offset >= locatorLength + recordLength else { return nil }
        let locator = try file.readExactly(
            count: Int(locatorLength),
            at: Int64(offset - locatorLength)
        )
        guard locator.uint32(at: 0) == ZipRecords.zip64LocatorSignature else { return nil }
        let place = locator.uint64(at: 8)
        guard place <= offset - locatorLength - recordLength else {
            throw ArchiveError.damaged(
                file.path,
                reason: "its 64-bit end record lies outside the file"
            )
        }
        let bytes = try file.readExactly(count: Int(recordLength), at: Int64(place))
        guard bytes.uint32(at: 0) == ZipRecords.zip64EndSignature else {
            throw ArchiveError.damaged(file.path, reason: "its 64-bit end record is missing")
        }
        let record = EndRecord(
            entries: bytes.uint64(at: 32),
            directoryOffset: bytes.uint64(at: 48),
            directorySize: bytes.uint64(at: 40)
        )
        return (record, place)
    }
}

extension [UInt8] {
    /// The little-endian number at an index.
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
