public import Files
public import SystemPackage

/// An archive opened for reading; its structure was checked when it was opened.
///
/// Checked are the end records, every central record, every name, that no two entries have one
/// name and that none lies over another or outside the file. Data is checked as it is read.
public final class ArchiveReader: Sendable {
    /// An entry, as the central directory has it.
    public struct Entry: Sendable {
        /// Where it is in the central directory.
        public let index: Int
        public let attributes: EntryAttributes
        /// Bytes before compression, as declared.
        public let size: Int64
        /// Bytes in the archive.
        public let compressedSize: Int64
        /// Whether its data is deflated or stored, and not encrypted.
        public let isPlain: Bool
        /// Whether another program's entry stands for a named pipe, a socket or a device: it has no data,
        /// and as a file it would be another thing.
        public let isSpecial: Bool
        let record: CentralDirectory.Record
    }

    /// The archive's path.
    public let path: FilePath
    /// The archive's size in bytes.
    public let size: Int64
    let file: File
    let directory: CentralDirectory
    /// Whether the archive's last entry is the one that ours end with.
    public let hasMark: Bool
    /// Whether the last entry would be that mark, had another program not written every record: it
    /// unpacked an archive of ours and packed the files anew, and what the mark says of the data is
    /// no longer so.
    public let isPackedAnew: Bool

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - mark: the path of the last entry in archives of our own, where there may be such, whose names are bytes with no
    ///     other meaning; in those of others a backslash may stand for a slash.
    /// - Returns: a reader of an archive whose structure is good.
    /// - Throws: `ArchiveError` where it is not one, or not a good one; `FileError`.
    public static func open(_ path: FilePath, mark: RelativePath? = nil) throws -> ArchiveReader {
        let reader = try openWithoutChecks(path, mark: mark)
        try reader.checkStructure()
        return reader
    }

    /// Opens an archive to look at an entry or two; only what is looked at is checked.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - mark: see `open(_:mark:)`.
    /// - Returns: a reader of an archive that may be bad elsewhere.
    /// - Throws: `ArchiveError`, `FileError`.
    public static func openWithoutChecks(
        _ path: FilePath,
        mark: RelativePath? = nil
    ) throws -> ArchiveReader {
        try ArchiveReader(file: File.open(path), mark: mark)
    }

    private init(file: File, mark: RelativePath?) throws {
        self.file = file
        path = file.path
        size = try file.info().size
        let directory = try CentralDirectory(of: file)
        self.directory = directory
        guard let mark, directory.count > 0 else {
            hasMark = false
            isPackedAnew = false
            return
        }
        let last = try Self.translating(path) { try directory.record(at: directory.count - 1) }
        let endsWithMark = directory.bytes[last.name].elementsEqual(mark.bytes)
        // Damage may change the form of a record or two, another program that of all.
        let isOwn =
            endsWithMark && (0..<directory.count).reversed().contains(where: directory.hasOwnForm)
        hasMark = endsWithMark && isOwn
        isPackedAnew = endsWithMark && !isOwn
    }

    /// The SHA-256 of the central directory.
    public var directoryDigest: Digest { directory.bytes.withUnsafeBytes { Digest(of: $0) } }

    /// How many entries there are.
    public var count: Int { directory.count }

    /// The entry at an index of the central directory.
    public func entry(at index: Int) throws -> Entry {
        let record = try record(at: index)
        // By its meaning, since DOS may end the name of a directory with a backslash.
        var meant = meaning(of: nameBytes(record), record: record)
        let isDirectory = meant.last == UInt8(ascii: "/")
        if isDirectory { meant.removeLast() }
        let path = try safePath(meant, record: record)
        let isUnix = record.host == ZipRecords.unixHost || record.host == ZipRecords.macHost
        let mode = isUnix ? record.externalAttributes >> 16 : 0
        let isLink = mode & 0o170000 == 0o120000
        let isSpecial = [0o010000, 0o020000, 0o060000, 0o140000].contains(mode & 0o170000)
        let kind: EntryAttributes.Kind = isDirectory ? .directory : isLink ? .link : .file
        let usual: UInt16 = isDirectory ? 0o700 : 0o600
        let permissions = UInt16(mode & 0o7777)
        return Entry(
            index: index,
            attributes: EntryAttributes(
                path: path,
                kind: kind,
                mode: mode == 0 ? usual : permissions,
                modified: record.modified
            ),
            size: Int64(record.size),
            compressedSize: Int64(record.compressedSize),
            isPlain: record.flags & ZipRecords.encryptedFlag == 0
                && (record.method == ZipRecords.stored || record.method == ZipRecords.deflated),
            // What a program read out of a pipe is data like any other.
            isSpecial: isSpecial && kind == .file && !hasMark && record.size == 0,
            record: record
        )
    }

    func nameBytes(at index: Int) throws -> ArraySlice<UInt8> { try nameBytes(record(at: index)) }

    /// What an entry is called, in UTF-8 if the archive has that; ours have every name once.
    private func nameBytes(_ record: CentralDirectory.Record) -> ArraySlice<UInt8> {
        directory.bytes[(hasMark ? nil : record.unicodeName) ?? record.name]
    }

    func record(at index: Int) throws -> CentralDirectory.Record {
        let record = try Self.translating(path) { try directory.record(at: index) }
        let length = UInt64(ZipRecords.localLength + record.name.count)
        let (end, overflow) = record.offset.addingReportingOverflow(length)
        guard !overflow, end <= directory.offset,
            record.compressedSize <= directory.offset - end
        else {
            throw ArchiveError.damaged(
                path,
                reason: "the data of '\(label(record))' lies outside the file"
            )
        }
        return record
    }

    private static func translating<Result>(
        _ path: FilePath,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let fault as CentralDirectory.RecordFault {
            throw ArchiveError.damaged(path, reason: fault.reason)
        }
    }

    private func safePath(
        _ meant: [UInt8],
        record: CentralDirectory.Record
    ) throws -> RelativePath {
        do {
            return try RelativePath(validating: meant)
        } catch {
            throw ArchiveError.unsafeEntry(path, entry: label(record), reason: error.unsafeReason)
        }
    }

    /// The bytes that a name stands for, with `/` between its components, and behind a directory's.
    ///
    /// In an archive of ours it is taken as it is. In others a backslash is a letter if Unix made them and
    /// a separator if not, and a name that would leave the directory if it were a separator is refused
    /// whoever wrote it.
    private func meaning(of name: ArraySlice<UInt8>, record: CentralDirectory.Record) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let backslash = UInt8(ascii: "\\")
        var meant = Array(name)
        if hasMark { return meant }
        if name.contains(backslash) {
            let slashed = name.map { $0 == backslash ? slash : $0 }
            let isUnix =
                record.host == ZipRecords.unixHost || record.host == ZipRecords.macHost
            let leaves =
                slashed.first == slash
                || slashed.split(separator: slash).contains { $0.elementsEqual([0x2E, 0x2E]) }
            if !isUnix || leaves { meant = slashed }
        }
        // Some programs begin every name with the directory itself.
        var start = 0
        while meant.count - start > 2, meant[start...].starts(with: [0x2E, slash]) { start += 2 }
        return Array(meant[start...])
    }

    private func label(_ record: CentralDirectory.Record) -> String {
        printable(bytes: nameBytes(record))
    }

    // MARK: - Data

    /// Where an entry's data begins in the file: after its local record, which is checked against
    /// the central one.
    func dataOffset(_ entry: Entry) throws -> Int64 {
        // Nothing was checked of an archive that is only looked into.
        guard entry.record.offset <= directory.offset else {
            throw damage(entry, "its data lies outside the file")
        }
        let header = try file.readExactly(
            count: ZipRecords.localLength,
            at: Int64(entry.record.offset)
        )
        let name = directory.bytes[entry.record.name]
        guard header.uint32(at: 0) == ZipRecords.localSignature,
            header.uint16(at: 8) == entry.record.method,
            Int(header.uint16(at: 26)) == name.count,
            hasMark || hasSameSizes(header, entry)
        else { throw damage(entry, "its local record contradicts the directory") }
        let nameOffset = Int64(entry.record.offset) + Int64(ZipRecords.localLength)
        guard try file.readExactly(count: name.count, at: nameOffset).elementsEqual(name) else {
            throw damage(entry, "its local record has another name")
        }
        let offset = nameOffset + Int64(name.count) + Int64(header.uint16(at: 28))
        guard entry.compressedSize <= Int64(directory.offset) - offset else {
            throw damage(entry, "its data lies outside the file")
        }
        return offset
    }

    /// Whether a local record has the checksum and sizes of the central one, as far as it has any.
    ///
    /// Without a manifest nothing else tells of a directory that says that a file is empty. A writer
    /// that could not seek has them behind the data (4.4.4, bit 3); large ones are in an extra field.
    private func hasSameSizes(_ local: [UInt8], _ entry: Entry) -> Bool {
        guard local.uint16(at: 6) & ZipRecords.descriptorFlag == 0 else { return true }
        let sizes = [(18, entry.compressedSize), (22, entry.size)]
        return local.uint32(at: 14) == entry.record.checksum
            && sizes.allSatisfy { position, size in
                let value = local.uint32(at: position)
                return value == UInt32.max || Int64(value) == size
            }
    }

    /// Reads an entry's data from its beginning, in parts, checking its size and CRC at the end.
    ///
    /// - Parameters:
    ///   - entry: which one.
    ///   - body: gets each part; returns `false` to read no further, and then nothing is checked.
    /// - Throws: `ArchiveError`; what `body` throws.
    public func read(_ entry: Entry, body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard entry.isPlain else { return try readWithLibzip(entry, body: body) }
        let input = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(256 << 10, max(1, entry.compressedSize))),
            alignment: 64
        )
        let output = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(256 << 10, max(1, entry.size))),
            alignment: 64
        )
        defer {
            input.deallocate()
            output.deallocate()
        }
        var source = RawStream(
            file: file,
            offset: try dataOffset(entry),
            left: entry.compressedSize,
            buffer: input
        )
        var checksum = Checksum()
        var given: Int64 = 0
        func give(_ part: UnsafeRawBufferPointer) throws -> Bool {
            given += Int64(part.count)
            guard given <= entry.size else { throw damage(entry, "it holds more than it declares") }
            checksum.append(part)
            return try body(part)
        }
        if entry.record.method == ZipRecords.stored {
            while let part = try source.next() {
                guard try give(part) else { return }
            }
        } else {
            guard try inflate(entry, from: &source, through: output, to: give) else { return }
        }
        guard given == entry.size else { throw damage(entry, "it holds less than it declares") }
        guard checksum.value == entry.record.checksum else {
            throw damage(entry, "its CRC-32 is wrong")
        }
    }

    private func inflate(
        _ entry: Entry,
        from source: inout RawStream,
        through output: UnsafeMutableRawBufferPointer,
        to give: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let inflater = SegmentInflater()
        inflater.startStream()
        var part = UnsafeRawBufferPointer(start: nil, count: 0)
        var finished = false
        while !finished {
            if part.isEmpty { part = try source.next() ?? part }
            guard let step = inflater.inflatePart(part, into: output) else {
                throw damage(entry, "its data is not deflate data")
            }
            if step.given > 0, try !give(UnsafeRawBufferPointer(rebasing: output[..<step.given])) {
                return false
            }
            guard step.taken > 0 || step.given > 0 || step.finished else {
                throw damage(entry, "its data ends early")
            }
            part = UnsafeRawBufferPointer(rebasing: part[step.taken...])
            finished = step.finished
        }
        guard part.isEmpty, source.left == 0 else {
            throw damage(entry, "there is something behind the end of its data")
        }
        return true
    }

    func contradiction(_ entry: Entry) -> ArchiveError {
        .contradictedManifest(path, entry: label(entry.record))
    }

    func damage(_ entry: Entry, _ reason: String) -> ArchiveError {
        .damagedEntry(path, entry: label(entry.record), reason: reason)
    }
}

/// Reads a range of a file a buffer at a time.
private struct RawStream {
    let file: File
    var offset: Int64
    var left: Int64
    let buffer: UnsafeMutableRawBufferPointer

    mutating func next() throws -> UnsafeRawBufferPointer? {
        guard left > 0 else { return nil }
        let length = Int(min(left, Int64(buffer.count)))
        try file.readExactly(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]),
            at: offset
        )
        offset += Int64(length)
        left -= Int64(length)
        return UnsafeRawBufferPointer(rebasing: buffer[..<length])
    }
}
