internal import Archives
internal import Files
internal import Foundation
internal import Remotes
internal import SystemPackage

/// An archive's entries, with what its manifest says of them where it has one.
///
/// An archive of another program has none; then there is only what a zip says.
final class BackupContents {
    let reader: ArchiveReader
    /// `nil` where the archive has no manifest of ours.
    let header: ManifestHeader?
    private let manifest: ArchiveReader.Entry?
    private let name: String

    /// Opens an archive, whose structure is checked at once.
    ///
    /// - Throws: `ArchiveError`, `OperationError.newerFormat`, `.badManifest`.
    init(_ path: FilePath, name: String) throws {
        self.name = name
        let reader = try ArchiveReader.open(path, mark: ManifestPlace.path)
        let manifest = try Self.manifestEntry(of: reader)
        header = try manifest.map { try Self.readHeader($0, of: reader, name: name) }
        self.reader = reader
        self.manifest = manifest
    }

    /// What a backup's manifest says first, without looking at more of the archive than that takes;
    /// `nil` where it has none.
    static func header(of path: FilePath, name: String) throws -> ManifestHeader? {
        let reader = try ArchiveReader.openWithoutChecks(path, mark: ManifestPlace.path)
        return try manifestEntry(of: reader).map { try readHeader($0, of: reader, name: name) }
    }

    /// Our manifest, which is the last entry.
    ///
    /// One that is elsewhere came along when another program packed a directory anew, and describes
    /// an archive that is no more.
    private static func manifestEntry(of reader: ArchiveReader) throws -> ArchiveReader.Entry? {
        reader.origin == .ours ? try reader.entry(at: reader.count - 1) : nil
    }

    private static func readHeader(
        _ entry: ArchiveReader.Entry,
        of reader: ArchiveReader,
        name: String
    ) throws -> ManifestHeader {
        var text: [UInt8] = []
        try reader.read(entry) { part in
            let end = part.endOfLine
            text.append(contentsOf: UnsafeRawBufferPointer(rebasing: part[..<(end ?? part.count)]))
            return end == nil && text.count < ManifestPlace.headerLimit
        }
        let ending = Array(",\"files\":[".utf8)
        guard text.suffix(ending.count).elementsEqual(ending) else {
            throw OperationError.badManifest(
                name,
                reason: "its first line is not that of a manifest"
            )
        }
        text.removeLast(ending.count)
        text.append(UInt8(ascii: "}"))
        struct Version: Decodable { var format: Int }
        do {
            let format = try decoder.decode(Version.self, from: Data(text)).format
            guard format <= ManifestHeader.currentFormat else {
                throw OperationError.newerFormat(name, format: format)
            }
            let header = try decoder.decode(ManifestHeader.self, from: Data(text))
            guard format > 0, header.segmentSize == Segment.size else {
                throw OperationError.badManifest(
                    name,
                    reason: "there is no such format or size of segments"
                )
            }
            return header
        } catch is DecodingError {
            throw OperationError.badManifest(
                name,
                reason: "its first line is not what the format says"
            )
        }
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    // MARK: - Entries

    /// Calls `body` for every entry but the manifest, in the order of the archive.
    ///
    /// - Returns: what the manifest says at its end, where there is one.
    /// - Throws: where the manifest and the archive contradict each other; what `body` throws.
    @discardableResult
    func forEach(_ body: (ArchiveExtractor.Item) throws -> Void) throws -> ManifestTrailer? {
        guard let manifest else {
            for index in 0..<reader.count {
                let entry = try reader.entry(at: index)
                // It came along from an archive of ours that was unpacked.
                if entry.attributes.path == ManifestPlace.path { continue }
                var attributes = entry.attributes
                // A stranger's program must not run as whoever restores it.
                attributes.mode &= 0o777
                try body(ArchiveExtractor.Item(entry: entry, attributes: attributes))
            }
            return nil
        }
        var index = 0
        let trailer = try ManifestLines(reader: reader, entry: manifest, name: name).forEach {
            record in
            guard index < reader.count - 1 else { throw bad("it has more files than the archive") }
            let entry = try reader.entry(at: index)
            guard record.attributes.path == entry.attributes.path, record.size == entry.size,
                record.attributes.kind == entry.attributes.kind
            else { throw bad("it contradicts the archive at '\(entry.attributes.path)'") }
            try body(
                ArchiveExtractor.Item(
                    entry: entry,
                    attributes: record.attributes,
                    segments: record.segments
                )
            )
            index += 1
        }
        guard index == reader.count - 1 else { throw bad("it has fewer files than the archive") }
        return trailer
    }

    private func bad(_ reason: String) -> OperationError {
        .badManifest(name, reason: reason)
    }
}

/// Reads a manifest's records a few at a time, so that memory does not grow with their number.
private final class ManifestLines {
    private static let batch = 200
    /// A batch ends early where its records are long.
    private static let batchBytes = 1 << 20

    private let reader: ArchiveReader
    private let entry: ArchiveReader.Entry
    private let name: String
    private var line: [UInt8] = []
    /// A record that is longer is there to fill our memory.
    ///
    /// A segment takes 75 bytes of its file's line, and a thousand of the archive at least; a path's
    /// 65,535 bytes take six each at most.
    private let recordLimit: Int64
    private var records: [UInt8] = []
    private var count = 0
    private var isFirstLine = true
    private var trailer: ManifestTrailer?
    private let decoder = JSONDecoder()

    init(reader: ArchiveReader, entry: ArchiveReader.Entry, name: String) {
        self.reader = reader
        self.entry = entry
        self.name = name
        recordLimit = 1 << 20 + reader.size / 8
        decoder.keyDecodingStrategy = .useDefaultKeys
    }

    func forEach(_ body: (FileRecord) throws -> Void) throws -> ManifestTrailer {
        try reader.read(entry) { part in
            var rest = part
            while let end = rest.endOfLine {
                try extendLine(UnsafeRawBufferPointer(rebasing: rest[..<end]))
                rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
                try take(body)
                line.removeAll(keepingCapacity: true)
            }
            try extendLine(rest)
            return true
        }
        guard let trailer else { throw bad("its end is missing") }
        return trailer
    }

    private func extendLine(_ bytes: UnsafeRawBufferPointer) throws {
        // It was read before; tables and anomalies make it as long as they are many.
        if isFirstLine { return }
        let isTrailer = (line.first ?? bytes.first) == UInt8(ascii: "]")
        let limit = isTrailer ? Int64(ManifestPlace.trailerLimit) : recordLimit
        guard Int64(line.count + bytes.count) <= limit else { throw bad("a line is too long") }
        line.append(contentsOf: bytes)
    }

    private func take(_ body: (FileRecord) throws -> Void) throws {
        if isFirstLine {
            isFirstLine = false
        } else if trailer != nil {
            throw bad("something follows its end")
        } else if line.first == UInt8(ascii: "]") {
            try flush(body)
            try takeTrailer()
        } else if !line.isEmpty {
            records.append(contentsOf: line)
            count += 1
            if count == Self.batch || records.count > Self.batchBytes { try flush(body) }
        }
    }

    private func flush(_ body: (FileRecord) throws -> Void) throws {
        guard count > 0 else { return }
        if records.last == UInt8(ascii: ",") { records.removeLast() }
        let batch: [FileRecord]
        do {
            batch = try decoder.decode(
                [FileRecord].self,
                from: Data([UInt8(ascii: "[")] + records + [UInt8(ascii: "]")])
            )
        } catch {
            throw bad("a record of a file is not what the format says")
        }
        // A line that holds several records would make the count lie.
        guard batch.count == count else { throw bad("a line has not just one record") }
        records.removeAll(keepingCapacity: true)
        count = 0
        for record in batch { try body(record) }
    }

    private func takeTrailer() throws {
        let text = Array("{".utf8) + line.dropFirst(2)
        guard let trailer = try? decoder.decode(ManifestTrailer.self, from: Data(text)) else {
            throw bad("its end is not what the format says")
        }
        self.trailer = trailer
    }

    private func bad(_ reason: String) -> OperationError {
        .badManifest(name, reason: reason)
    }
}

extension BackupCatalog {
    /// Remembers what a backup that had to be fetched says of itself, which no list finds out.
    func learn(_ contents: BackupContents, of backup: Backup, in address: String) {
        guard backup.file.location == nil else { return }
        var known = backup
        if let header = contents.header { known.take(header) } else { known.isForeign = true }
        remember(known, in: address)
    }
}

extension UnsafeRawBufferPointer {
    /// Where the first line break in it is.
    fileprivate var endOfLine: Int? {
        guard let baseAddress, let end = memchr(baseAddress, 0x0A, count) else { return nil }
        return UnsafeRawPointer(end) - baseAddress
    }
}
