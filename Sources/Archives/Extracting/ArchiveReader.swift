public import Files
public import SystemPackage

/// An archive opened for reading.
///
/// Its structure is checked when it is opened.
///
/// The check covers the end records, and every central record and its name. It finds entries of the same name, and
/// entries that overlap or lie outside the file. Data is checked while it is read.
public final class ArchiveReader: Sendable {
    /// An entry of the central directory.
    public struct Entry: Sendable {
        /// The archive that contains the entry.
        public let archive: ArchiveReader
        /// The entry's index in the central directory.
        public let index: Int
        public let attributes: EntryAttributes
        /// The declared size in bytes before compression.
        public let size: Int64
        /// The size in bytes in the archive.
        public let compressedSize: Int64
        /// Whether its data is deflated or stored, and not encrypted.
        public let isPlain: Bool
        /// Whether another program's entry represents a named pipe, a socket or a device, and has no data.
        public let isSpecial: Bool
        let record: CentralRecord

        /// The declared CRC-32 of its data.
        public var checksum: UInt32 { record.checksum }
    }

    /// The paths of the entries at the end of this program's archives.
    public struct Mark: Sendable {
        /// The last entry, or the last one before the seal.
        public var path: RelativePath
        /// An optional entry behind it.
        public var seal: RelativePath?

        public init(path: RelativePath, seal: RelativePath? = nil) {
            (self.path, self.seal) = (path, seal)
        }
    }

    public let path: FilePath
    /// The size in bytes.
    public let size: Int64
    let source: any ByteSource
    let directory: CentralDirectory
    public let origin: ArchiveOrigin
    /// The index of the mark's entry; `nil` if the archive has no mark.
    public let markIndex: Int?
    /// Whether the seal follows the mark.
    public var isSealed: Bool { markIndex.map { $0 < count - 1 } ?? false }

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - path: the archive's path.
    ///   - mark: the entries at the end of this program's archives, if it may be one. Its names are bytes without any
    ///     other meaning. In other archives a backslash may mean a slash.
    /// - Returns: a reader of an archive whose structure is valid.
    /// - Throws: `ArchiveError` if the file is no archive, or an invalid one; `FileError`.
    public static func open(_ path: FilePath, mark: Mark? = nil) throws -> ArchiveReader {
        try open(File.open(path), mark: mark)
    }

    /// Opens an archive in a source of bytes; see `open(_:mark:)`.
    ///
    /// If only the end is available, checks the end records and the central directory, but not the local records.
    public static func open(
        _ source: any ByteSource,
        mark: Mark? = nil,
        isAtHand: Bool = true
    ) throws -> ArchiveReader {
        let reader = try ArchiveReader(source, mark: mark, isChecked: true)
        try reader.checkStructure(isAtHand: isAtHand)
        return reader
    }

    /// Opens an archive like `open(_:mark:)`, to read an entry or two.
    ///
    /// Only those are checked.
    public static func openWithoutChecks(
        _ path: FilePath,
        mark: Mark? = nil
    ) throws -> ArchiveReader {
        try openWithoutChecks(File.open(path), mark: mark)
    }

    /// Opens an archive in a source of bytes, to read an entry or two.
    ///
    /// Only those are checked.
    public static func openWithoutChecks(
        _ source: any ByteSource,
        mark: Mark? = nil
    ) throws -> ArchiveReader {
        try ArchiveReader(source, mark: mark, isChecked: false)
    }

    private init(_ source: any ByteSource, mark: Mark?, isChecked: Bool) throws {
        self.source = source
        path = source.path
        size = try source.size
        var directory = try CentralDirectory(of: source)
        (directory, origin, markIndex) = try Self.translating(path) {
            let index = try Self.index(of: mark, in: directory)
            // Damage may change the form of a few records, but another program changes the form of all.
            let origin: ArchiveOrigin =
                index == nil ? .foreign : directory.hasOwnForm ? .ours : .repacked
            if isChecked { try directory.parse() }
            return (directory, origin, index)
        }
        self.directory = directory
    }

    /// Returns the index of the mark: the last entry, or the last one before a seal.
    private static func index(of mark: Mark?, in directory: CentralDirectory) throws -> Int? {
        guard let mark else { return nil }
        for case (let path?, let offset) in [(mark.path, 1), (mark.seal, 2)]
        where directory.count >= offset {
            let last = try directory.record(at: directory.count - 1)
            guard directory.bytes[last.name].elementsEqual(path.bytes) else { continue }
            let marked = try directory.record(at: directory.count - offset)
            guard directory.bytes[marked.name].elementsEqual(mark.path.bytes) else { return nil }
            return directory.count - offset
        }
        return nil
    }

    /// The SHA-256 of the central directory.
    public var directoryDigest: Digest { directory.bytes.withUnsafeBytes { Digest(of: $0) } }

    /// The number of entries.
    public var count: Int { directory.count }

    /// Returns the entry at an index of the central directory.
    public func entry(at index: Int) throws -> Entry {
        let record = try record(at: index)
        // The check uses the normalized name, since DOS may end the name of a directory with a backslash.
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
            // Data that a program read out of a pipe is ordinary data.
            isSpecial: isSpecial && kind == .file && origin != .ours && record.size == 0,
            record: record
        )
    }

    func nameBytes(at index: Int) throws -> ArraySlice<UInt8> { try nameBytes(record(at: index)) }

    /// Returns the name of an entry, in UTF-8 if the archive has it.
    ///
    /// This program's archives have each name only once.
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

    /// Returns the normalized bytes of a name: `/` separates its components, and ends a directory's name.
    ///
    /// In this program's archives the name is used as it is. In others a backslash is an ordinary character if Unix
    /// made them. It is a separator otherwise, or if the name would then leave the directory, so that it is refused.
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
        // Some programs begin every name with "./".
        var start = 0
        while meant.count - start > 2, meant[start...].starts(with: [0x2E, slash]) { start += 2 }
        return Array(meant[start...])
    }

    func label(_ record: CentralRecord) -> String {
        printable(bytes: nameBytes(record))
    }
}

/// The program that made an archive, according to the archive's records.
public enum ArchiveOrigin: Sendable {
    /// `ArchiveWriter`: the last entry is the mark at the end of its archives.
    case ours
    /// Another program that unpacked an archive of `ArchiveWriter` and packed the files again. The mark is still there,
    /// but no longer describes the data.
    case repacked
    /// Another program.
    case foreign
}
