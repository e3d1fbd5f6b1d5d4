internal import Files
internal import Foundation
internal import GRDB

// The files of a lineage's backups.
extension BackupState {
    /// A file, directory or link as in the last backup.
    public struct Entry: Sendable, Equatable {
        /// The attributes from the manifest: kind, mode, owner, times.
        public var attributes: String
        /// The size in bytes.
        public var size: Int64
        /// The state of its file on the disk; `nil` if that says nothing about its content.
        public var identity: String?
        /// The sector size in bytes; 0 if its sectors are not stored.
        public var sectorSize: Int
        /// The number of the first backup with this path, even if it was of another kind or was removed since.
        public var first: Int
        /// The numbers of the backups in which it appeared, in which its content last changed, and in which anything of
        /// it last changed.
        public var born: Int
        public var changed: Int
        public var touched: Int
        /// The number of the backup in which it was missing; `nil` if it exists.
        public var gone: Int?
        /// The concatenated SHA-256 digests of its segments.
        public var digests: [UInt8]

        public init(
            attributes: String,
            size: Int64,
            identity: String?,
            sectorSize: Int,
            first: Int,
            born: Int,
            changed: Int,
            touched: Int,
            gone: Int? = nil,
            digests: [UInt8]
        ) {
            self.attributes = attributes
            self.size = size
            self.identity = identity
            self.sectorSize = sectorSize
            self.first = first
            self.born = born
            self.changed = changed
            self.touched = touched
            self.gone = gone
            self.digests = digests
        }

        /// Everything except the digests: the numbers in this machine's byte order, and two lines of text.
        fileprivate var facts: [UInt8] {
            let numbers = [
                size, Int64(sectorSize), Int64(born), Int64(changed), Int64(touched),
                Int64(gone ?? -1), Int64(first),
            ]
            return numbers.withUnsafeBytes { Array($0) }
                + Array("\(attributes)\n\(identity ?? "")".utf8)
        }

        fileprivate init?(facts: [UInt8], digests: [UInt8]) {
            let width = MemoryLayout<Int64>.size
            let text = facts.dropFirst(7 * width)
            guard facts.count >= 7 * width, digests.count % 32 == 0,
                let end = text.firstIndex(of: UInt8(ascii: "\n"))
            else { return nil }
            let number = { (index: Int) in
                facts.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: index * width, as: Int64.self)
                }
            }
            let identity = text[(end + 1)...]
            self.init(
                attributes: String(decoding: text[..<end], as: UTF8.self),
                size: number(0),
                identity: identity.isEmpty ? nil : String(decoding: identity, as: UTF8.self),
                sectorSize: Int(number(1)),
                first: Int(number(6)),
                born: Int(number(2)),
                changed: Int(number(3)),
                touched: Int(number(4)),
                gone: number(5) < 0 ? nil : Int(number(5)),
                digests: digests
            )
        }
    }

    /// Returns a path's entry, and its number in this database.
    ///
    /// Paths should be requested in order, since the entries of the following paths are read with each.
    /// - Throws: `HistoryError`; `.damaged` if its checksum is wrong.
    public func entry(_ path: [UInt8]) throws -> (id: Int64, entry: Entry)? {
        if !ahead.knows(path) { try readAhead(from: path) }
        return ahead.entry(path)
    }

    private func readAhead(from path: [UInt8]) throws {
        try access { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT id, path, facts, digests, sum FROM file WHERE path >= ?
                    ORDER BY path LIMIT \(EntriesAhead.limit)
                    """
            )
            let rows = try Row.fetchCursor(statement, arguments: [Data(path)])
            var entries = EntriesAhead(from: path)
            while let row = try rows.next() {
                let path = Array(row[1] as Data)
                try entries.add((row[0], entry(row, path: path)), at: path)
            }
            ahead = entries
        }
    }

    private func entry(_ row: Row, path: [UInt8]) throws -> Entry {
        let (facts, digests) = (Array(row[2] as Data), Array(row[3] as Data))
        guard Array(row[4] as Data) == Self.sum(path, facts, digests),
            let entry = Entry(facts: facts, digests: digests)
        else { throw damaged("the row of a file is not as it was written") }
        return entry
    }

    /// Writes a path's entry, under its number if it has one, and returns the number.
    @discardableResult
    public func put(_ entry: Entry, at path: [UInt8], id: Int64?) throws -> Int64 {
        let facts = entry.facts
        let sum = Self.sum(path, facts, entry.digests)
        return try access { database in
            let statement = try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO file (id, path, facts, digests, sum)
                    VALUES (?, ?, ?, ?, ?)
                    """
            )
            try statement.execute(
                arguments: [id, Data(path), Data(facts), Data(entry.digests), Data(sum)]
            )
            let id = id ?? database.lastInsertedRowID
            ahead.replace((id, entry), at: path)
            return id
        }
    }

    /// Calls `body` for all entries except some.
    public func forEachEntry(
        besides ids: Set<Int64>,
        _ body: (Int64, [UInt8], Entry) throws -> Void
    ) throws {
        try access { database in
            let others = try Int64.fetchCursor(database, sql: "SELECT id FROM file")
            let statement = try database.cachedStatement(
                sql: "SELECT id, path, facts, digests, sum FROM file WHERE id = ?"
            )
            while let id = try others.next() {
                guard !ids.contains(id),
                    let row = try Row.fetchOne(statement, arguments: [id])
                else { continue }
                let path = Array(row[1] as Data)
                try body(id, path, entry(row, path: path))
            }
        }
    }

    // MARK: - Segments

    /// A segment's sectors as in the last backup.
    public struct Sectors: Sendable, Equatable {
        public var hashes: [UInt64]
        /// The number of the backup in which each sector last changed.
        public var versions: [UInt16]
        /// The number of the backup in which the segment's SHA-256 last changed.
        public var digested: Int

        public init(hashes: [UInt64], versions: [UInt16], digested: Int) {
            self.hashes = hashes
            self.versions = versions
            self.digested = digested
        }
    }

    /// Returns the sectors of a file's segment.
    ///
    /// - Throws: `HistoryError`; `.damaged` if its checksum is wrong.
    public func sectors(of file: Int64, segment: Int) throws -> Sectors? {
        try access { database in
            let statement = try database.cachedStatement(
                sql: "SELECT digested, sum, sectors FROM segment WHERE file = ? AND i = ?"
            )
            guard let row = try Row.fetchOne(statement, arguments: [file, segment]) else {
                return nil
            }
            let (digested, sum, bytes): (Int, Data, Data) = (row[0], row[1], row[2])
            let key = Array("\(file) \(segment) \(digested)".utf8)
            guard Array(sum) == Self.sum(key, Array(bytes), []) else {
                throw damaged("the row of a segment is not as it was written")
            }
            // Each sector takes ten bytes: first come all hashes, then all versions.
            let end = bytes.startIndex + bytes.count / 10 * 8
            return Sectors(
                hashes: bytes[..<end].numbers(),
                versions: bytes[end...].numbers(),
                digested: digested
            )
        }
    }

    /// Writes the sectors of a file's segment.
    public func put(_ sectors: Sectors, of file: Int64, segment: Int) throws {
        let bytes =
            sectors.hashes.withUnsafeBytes { Array($0) }
            + sectors.versions.withUnsafeBytes { Array($0) }
        let key = Array("\(file) \(segment) \(sectors.digested)".utf8)
        let sum = Self.sum(key, bytes, [])
        try access { database in
            let statement = try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO segment (file, i, digested, sum, sectors)
                    VALUES (?, ?, ?, ?, ?)
                    """
            )
            try statement.execute(
                arguments: [file, segment, sectors.digested, Data(sum), Data(bytes)]
            )
        }
    }

    /// Forgets a file's segments from an index on.
    public func removeSectors(of file: Int64, from segment: Int = 0) throws {
        try access {
            try $0.execute(
                sql: "DELETE FROM segment WHERE file = ? AND i >= ?",
                arguments: [file, segment]
            )
        }
    }

    /// Returns some bits of the SHA-256 of a row.
    ///
    /// It protects against accidental damage only, not against attacks.
    static func sum(_ key: [UInt8], _ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
        var digest = RunningDigest()
        for part in [Array("\(key.count) \(first.count)\n".utf8), key, first, second] {
            part.withUnsafeBytes { digest.update($0) }
        }
        return Array(digest.digest.bytes.prefix(8))
    }
}

extension Data {
    /// Reads numbers in this machine's byte order, since the database never leaves the machine.
    fileprivate func numbers<Number: FixedWidthInteger>() -> [Number] {
        withUnsafeBytes { bytes in
            (0..<bytes.count / MemoryLayout<Number>.size).map {
                bytes.loadUnaligned(
                    fromByteOffset: $0 * MemoryLayout<Number>.size,
                    as: Number.self
                )
            }
        }
    }
}
