public import Files
public import SystemPackage

/// An archive opened for reading; its structure was checked when it was opened.
///
/// That is: the end records, every central record and its name, that no two entries have one name, and
/// that none lies over another or outside the file. Data is checked as it is read.
public final class ArchiveReader: Sendable {
    /// An entry, as the central directory has it.
    public struct Entry: Sendable {
        /// The archive that it is in.
        public let archive: ArchiveReader
        /// Where it is in the central directory.
        public let index: Int
        public let attributes: EntryAttributes
        /// Bytes before compression, as declared.
        public let size: Int64
        /// Bytes in the archive.
        public let compressedSize: Int64
        /// Whether its data is deflated or stored, and not encrypted.
        public let isPlain: Bool
        /// Whether another program's entry stands for a named pipe, a socket or a device, and has no data.
        public let isSpecial: Bool
        let record: CentralRecord

        /// The CRC-32 of its data, as declared.
        public var checksum: UInt32 { record.checksum }
    }

    public let path: FilePath
    /// Bytes.
    public let size: Int64
    let source: any ByteSource
    let directory: CentralDirectory
    public let origin: ArchiveOrigin

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - mark: the path of the last entry in archives of ours, if it may be one. Names in those are bytes
    ///     with no other meaning; in others a backslash may stand for a slash.
    /// - Returns: a reader of an archive whose structure is good.
    /// - Throws: `ArchiveError` if it is not one, or not a good one; `FileError`.
    public static func open(_ path: FilePath, mark: RelativePath? = nil) throws -> ArchiveReader {
        try open(File.open(path), mark: mark)
    }

    /// Opens an archive in a source of bytes; see `open(_:mark:)`.
    ///
    /// If not all of it is at hand, everything is checked that the end records and the central directory
    /// tell, and no record among the data.
    public static func open(
        _ source: any ByteSource,
        mark: RelativePath? = nil,
        isAtHand: Bool = true
    ) throws -> ArchiveReader {
        let reader = try ArchiveReader(source, mark: mark, isChecked: true)
        try reader.checkStructure(isAtHand: isAtHand)
        return reader
    }

    /// Opens an archive, as `open(_:mark:)` does, to look at an entry or two; only those are checked.
    public static func openWithoutChecks(
        _ path: FilePath,
        mark: RelativePath? = nil
    ) throws -> ArchiveReader {
        try openWithoutChecks(File.open(path), mark: mark)
    }

    /// Opens an archive in a source of bytes to look at an entry or two; only those are checked.
    public static func openWithoutChecks(
        _ source: any ByteSource,
        mark: RelativePath? = nil
    ) throws -> ArchiveReader {
        try ArchiveReader(source, mark: mark, isChecked: false)
    }

    private init(_ source: any ByteSource, mark: RelativePath?, isChecked: Bool) throws {
        self.source = source
        path = source.path
        size = try source.size
        var directory = try CentralDirectory(of: source)
        (directory, origin) = try Self.translating(path) {
            let origin = try Self.origin(of: directory, mark: mark)
            if isChecked { try directory.parse() }
            return (directory, origin)
        }
        self.directory = directory
    }

    private static func origin(
        of directory: CentralDirectory,
        mark: RelativePath?
    ) throws -> ArchiveOrigin {
        guard let mark, directory.count > 0 else { return .foreign }
        let last = try directory.record(at: directory.count - 1)
        guard directory.bytes[last.name].elementsEqual(mark.bytes) else { return .foreign }
        // Damage may change the form of a record or two, another program changes that of all.
        return directory.hasOwnForm ? .ours : .repacked
    }

    /// The SHA-256 of the central directory.
    public var directoryDigest: Digest { directory.bytes.withUnsafeBytes { Digest(of: $0) } }

    /// How many entries there are.
    public var count: Int { directory.count }

    /// Returns the entry at an index of the central directory.
    public func entry(at index: Int) throws -> Entry {
        let record = try record(at: index)
        // By its meaning, since DOS may end the name of a directory with a backslash.
        var meant = meaning(of: nameBytes(record), record: record)
        let isDirectory = meant.last == UInt8(ascii: "/")
        if isDirectory { meant.removeLast() }
        let path = try safePath(meant, record: record)
        let mode = record.isUnix ? record.externalAttributes >> 16 : 0
        let isLink = mode & 0o170000 == 0o120000
        let isSpecial = [0o010000, 0o020000, 0o060000, 0o140000].contains(mode & 0o170000)
        let kind: EntryAttributes.Kind = isDirectory ? .directory : isLink ? .link : .file
        let permissions = mode == 0 ? (isDirectory ? 0o700 : 0o600) : UInt16(mode & 0o7777)
        return Entry(
            archive: self,
            index: index,
            attributes: EntryAttributes(
                path: path,
                kind: kind,
                mode: permissions,
                modified: record.modified
            ),
            size: Int64(record.size),
            compressedSize: Int64(record.compressedSize),
            isPlain: record.flags & ZipRecords.encryptedFlag == 0
                && (record.method == ZipRecords.stored || record.method == ZipRecords.deflated),
            // Data that a program read out of a pipe is data like any other.
            isSpecial: isSpecial && kind == .file && origin != .ours && record.size == 0,
            record: record
        )
    }

    func nameBytes(at index: Int) throws -> ArraySlice<UInt8> { try nameBytes(record(at: index)) }

    /// Returns the name of an entry, in UTF-8 if the archive has that; ours have every name once.
    private func nameBytes(_ record: CentralRecord) -> ArraySlice<UInt8> {
        directory.bytes[(origin == .ours ? nil : record.unicodeName) ?? record.name]
    }

    func record(at index: Int) throws -> CentralRecord {
        let record = try Self.translating(path) { try directory.record(at: index) }
        let length = UInt64(ZipRecords.localLength + record.name.count)
        let (end, overflow) = record.offset.addingReportingOverflow(length)
        guard !overflow, end <= directory.offset, record.compressedSize <= directory.offset - end
        else {
            let reason = "the data of '\(label(record))' lies outside the file"
            throw ArchiveError.damaged(path, reason: reason)
        }
        return record
    }

    private static func translating<Result>(
        _ path: FilePath,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let fault as CentralRecord.Fault {
            throw ArchiveError.damaged(path, reason: fault.reason)
        }
    }

    private func safePath(_ meant: [UInt8], record: CentralRecord) throws -> RelativePath {
        do {
            return try RelativePath(validating: meant)
        } catch {
            throw ArchiveError.unsafeEntry(path, entry: label(record), reason: error.unsafeReason)
        }
    }

    /// Returns the bytes that a name stands for, with `/` between its components, and behind a directory's.
    ///
    /// In an archive of ours the name is taken as it is. In others a backslash is a letter if Unix made
    /// them, and a separator if not or if the name would then leave the directory, to be refused.
    private func meaning(of name: ArraySlice<UInt8>, record: CentralRecord) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let backslash = UInt8(ascii: "\\")
        var meant = Array(name)
        if origin == .ours { return meant }
        if name.contains(backslash) {
            let slashed = name.map { $0 == backslash ? slash : $0 }
            let leaves =
                slashed.first == slash
                || slashed.split(separator: slash).contains { $0.elementsEqual([0x2E, 0x2E]) }
            if !record.isUnix || leaves { meant = slashed }
        }
        // Some programs begin every name with the directory itself.
        var start = 0
        while meant.count - start > 2, meant[start...].starts(with: [0x2E, slash]) { start += 2 }
        return Array(meant[start...])
    }

    func label(_ record: CentralRecord) -> String {
        printable(bytes: nameBytes(record))
    }
}
