internal import Files
internal import SystemPackage

/// The central directory of a zip, read strictly: contradictions are refused, and nothing is guessed.
///
/// Records are read on request, which is faster for a few, or all at once and kept.
struct CentralDirectory {
    private enum Records {
        /// The offset of each record in `bytes`.
        case starts([UInt32])
        case parsed([CentralRecord])
    }

    /// The maximum number of entries of an archive.
    static let entriesLimit = 16_000_000

    /// The bytes of all records.
    let bytes: [UInt8]
    private var records: Records
    /// The offset of the directory in the file.
    let offset: UInt64

    var count: Int {
        switch records {
        case .starts(let starts): starts.count
        case .parsed(let records): records.count
        }
    }

    /// Finds and reads the directory of an archive.
    ///
    /// - Throws: `ArchiveError`, `FileError`.
    init(of source: any ByteSource) throws {
        let size = UInt64(try source.size)
        let end = try EndLocator(source: source, size: size).find()
        let path = source.path
        guard end.directorySize <= size, end.directoryOffset <= size - end.directorySize else {
            throw ArchiveError.damaged(path, reason: "its directory lies outside the file")
        }
        guard end.entries <= end.directorySize / UInt64(ZipRecords.centralLength),
            end.directorySize <= UInt64(UInt32.max), end.entries <= Self.entriesLimit
        else { throw ArchiveError.damaged(path, reason: "it cannot have \(end.entries) entries") }
        offset = end.directoryOffset
        bytes = try source.readExactly(
            count: Int(end.directorySize),
            at: Int64(end.directoryOffset)
        )
        // Some programs have an entry for the directory itself, "./", which is no file.
        let bytes = bytes
        let starts = try Self.index(bytes, count: Int(end.entries), path: path).filter { start in
            let name = Int(start) + ZipRecords.centralLength
            let length = Int(bytes.uint16(at: Int(start) + 28))
            return !(1...2).contains(length) || bytes[name] != UInt8(ascii: ".")
                || length == 2 && bytes[name + 1] != UInt8(ascii: "/")
        }
        records = .starts(starts)
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
        // Only a digital signature may follow the records (4.3.13).
        guard
            position == bytes.count
                || bytes.count - position >= 6
                    && bytes.uint32(at: position) == ZipRecords.digitalSignature
        else {
            throw ArchiveError.damaged(path, reason: "its directory has more entries than it says")
        }
        return starts
    }

    /// Reads all records, and keeps them.
    mutating func parse() throws(CentralRecord.Fault) {
        guard case .starts(let starts) = records else { return }
        var parsed: [CentralRecord] = []
        parsed.reserveCapacity(starts.count)
        for start in starts { parsed.append(try CentralRecord(bytes, at: Int(start))) }
        records = .parsed(parsed)
    }

    /// Returns the record at an index.
    func record(at index: Int) throws(CentralRecord.Fault) -> CentralRecord {
        switch records {
        case .starts(let starts): try CentralRecord(bytes, at: Int(starts[index]))
        case .parsed(let records): records[index]
        }
    }

    /// Whether any record has the form that `ArchiveWriter` uses; valid only before `parse`.
    var hasOwnForm: Bool {
        guard case .starts(let starts) = records else { preconditionFailure("too late") }
        return starts.reversed().contains { CentralRecord.hasOwnForm(bytes, at: Int($0)) }
    }
}
