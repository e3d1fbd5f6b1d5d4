internal import Files

/// A rollback journal that a crash left beside a database
/// (https://www.sqlite.org/fileformat2.html#the_rollback_journal).
enum RollbackJournal {
    private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// Returns the damage that would make SQLite roll back a transaction in part or not at all, without an error.
    ///
    /// - Returns: `nil` if there is no damage, or if the file is no journal.
    /// - Throws: `FileError`.
    static func damage(in file: File) throws -> String? {
        let size = try file.size
        var place: Int64 = 0
        var records: Int64 = 0
        // A committed journal begins with zeros, or is empty. A further header may follow the records of a header.
        while size - place >= 28 {
            let header = Header(try file.readExactly(count: 28, at: place))
            guard header.hasMagic || place == 0, !header.isUnsynced else { return nil }
            guard header.hasSizes else {
                return header.hasMagic ? "the header of its journal is damaged" : nil
            }
            let start = place + header.sectorSize
            let length = Int64(header.pageSize) + 8
            let places = max(0, size - start) / length
            let count = header.isCounted ? min(places, Int64(header.count)) : places
            let bad = try damage(in: file, header, at: start, records, count)
            guard bad == nil, header.isCounted, header.hasMagic else { return bad }
            records += count
            let end = start + count * length
            place = (end + header.sectorSize - 1) / header.sectorSize * header.sectorSize
        }
        return nil
    }

    /// Returns the damage in the records of one header.
    private static func damage(
        in file: File,
        _ header: Header,
        at start: Int64,
        _ before: Int64,
        _ count: Int64
    ) throws -> String? {
        let length = header.pageSize + 8
        var firstBad: Int64?
        for index in 0..<count {
            let place = start + index * Int64(length)
            let isWhole = header.matches(try file.readExactly(count: length, at: place))
            // Without the magic, one valid record shows that the file is a journal.
            guard header.hasMagic else {
                return isWhole ? "the header of its journal is damaged" : nil
            }
            if isWhole, firstBad != nil { break }
            if !isWhole, firstBad == nil { firstBad = index }
            // A journal that was never synced has no count, and its end may be missing.
            if index == count - 1, !header.isCounted { return nil }
        }
        return firstBad.map { "record \(before + $0 + 1) of its journal is damaged" }
    }

    /// A header and its fields; its records follow it.
    private struct Header {
        let hasMagic: Bool
        /// Whether neither the magic nor the count is there: SQLite writes both as it syncs the journal, before it changes
        /// the database.
        let isUnsynced: Bool
        let count: UInt32
        let pageSize: Int
        let sectorSize: Int64
        private let nonce: UInt32

        /// Whether the header has a count; one that was never synced has none.
        var isCounted: Bool { count != 0 && count != .max }

        /// Whether the sizes of pages and sectors are possible.
        var hasSizes: Bool {
            pageSize.nonzeroBitCount == 1 && 512...65_536 ~= pageSize
                && sectorSize.nonzeroBitCount == 1 && 32...65_536 ~= sectorSize
        }

        init(_ bytes: [UInt8]) {
            func number(_ offset: Int) -> UInt32 {
                bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
            }
            hasMagic = bytes.starts(with: magic)
            isUnsynced = bytes.prefix(12).allSatisfy { $0 == 0 }
            (count, nonce) = (number(8), number(12))
            (sectorSize, pageSize) = (Int64(number(20)), Int(number(24)))
        }

        /// Returns whether a record is intact: a page number, a page and its checksum (pager_cksum() in pager.c).
        func matches(_ record: [UInt8]) -> Bool {
            var sum = nonce
            for index in stride(from: pageSize - 200, to: 0, by: -200) {
                sum &+= UInt32(record[4 + index])
            }
            return record.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == sum
        }
    }
}
