internal import Files

/// A search for the end record of a zip, or for its 64-bit one.
struct EndLocator {
    let source: any ByteSource
    let size: UInt64

    func find() throws -> EndRecord {
        guard size > 0 else { throw ArchiveError.notAnArchive(source.path, reason: "it is empty") }
        // The comment at the end has at most 65,535 bytes.
        let tailLength = Int(min(size, UInt64(ZipRecords.endLength + Int(UInt16.max))))
        let tailOffset = size - UInt64(tailLength)
        let tail = try source.readExactly(count: tailLength, at: Int64(tailOffset))
        // This is computed only once: a malicious tail may have thousands of signatures followed by zeros.
        let used = (tail.lastIndex { $0 != 0 } ?? -1) + 1
        var hasBytesBehind = false
        for position in stride(from: tailLength - ZipRecords.endLength, through: 0, by: -1)
        where tail.uint32(at: position) == ZipRecords.endSignature {
            let commentEnd =
                position + ZipRecords.endLength + Int(tail.uint16(at: position + 20))
            // Some programs fill their last block with zeros.
            if (used...tailLength).contains(commentEnd) {
                return try read(tail, at: position, offset: tailOffset + UInt64(position))
            }
            hasBytesBehind = hasBytesBehind || commentEnd <= tailLength
        }
        if hasBytesBehind { throw damaged("something was added behind its end") }
        throw ArchiveError.notAnArchive(source.path, reason: try guessReason())
    }

    private func guessReason() throws -> String {
        guard size >= 4 else { return "it is only \(size) bytes long" }
        let start = try source.readExactly(count: 4, at: 0)
        return start.uint32(at: 0) == ZipRecords.localSignature
            ? "its end is missing: it was cut off, or is still being copied"
            : "it has no end record"
    }

    private func damaged(_ reason: String) -> ArchiveError { .damaged(source.path, reason: reason) }

    private func read(_ tail: [UInt8], at position: Int, offset: UInt64) throws -> EndRecord {
        guard tail.uint16(at: position + 4) == tail.uint16(at: position + 6),
            tail.uint16(at: position + 8) == tail.uint16(at: position + 10)
        else { throw damaged("it is one part of several") }
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
        guard end.directoryOffset &+ end.directorySize == directoryEnd else {
            throw damaged(
                "its directory does not end where it says; bytes are missing or were added"
            )
        }
        return end
    }

    /// Returns the 64-bit end record, if its locator precedes the end record (4.3.14, 4.3.15).
    private func wideEnd(before offset: UInt64) throws -> (record: EndRecord, offset: UInt64)? {
        let locatorLength = UInt64(ZipRecords.zip64LocatorLength)
        let recordLength = UInt64(ZipRecords.zip64EndLength)
        guard offset >= locatorLength + recordLength else { return nil }
        let locatorOffset = offset - locatorLength
        let locator = try source.readExactly(count: Int(locatorLength), at: Int64(locatorOffset))
        guard locator.uint32(at: 0) == ZipRecords.zip64LocatorSignature else { return nil }
        let place = locator.uint64(at: 8)
        guard place <= locatorOffset - recordLength else {
            throw damaged("its 64-bit end record lies outside the file")
        }
        let bytes = try source.readExactly(count: Int(recordLength), at: Int64(place))
        guard bytes.uint32(at: 0) == ZipRecords.zip64EndSignature else {
            throw damaged("its 64-bit end record is missing")
        }
        let record = EndRecord(
            entries: bytes.uint64(at: 32),
            directoryOffset: bytes.uint64(at: 48),
            directorySize: bytes.uint64(at: 40)
        )
        return (record, place)
    }
}
