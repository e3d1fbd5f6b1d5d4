internal import Archives
internal import Foundation

/// A reader of a manifest's records, a few at a time, so that memory does not grow with their number.
final class ManifestReader {
    private static let batch = 200
    /// The maximum size of a batch in bytes, if its records are long.
    private static let batchBytes = 1 << 20

    private let reader: ArchiveReader
    private let entry: ArchiveReader.Entry
    private let name: String
    private var line: [UInt8] = []
    /// The maximum size of a record.
    ///
    /// A longer one would only exhaust memory.
    ///
    /// A segment takes 75 bytes of a line, and at least a thousand of the archive. A path's 65,535 bytes take at most
    /// six bytes each.
    private let recordLimit: Int64
    private var records: [UInt8] = []
    private var count = 0
    private var isFirstLine = true
    private var trailer: ManifestTrailer?
    /// Whether the last record had no comma behind it.
    private var isLastRecord = false
    private let decoder = JSONDecoder()

    /// Opens the manifest of this program, which is the last entry except for a signature; `nil` if there is none.
    ///
    /// A manifest in another position was repacked by another program, and describes an archive that no longer exists.
    init?(of reader: ArchiveReader, name: String) throws {
        guard reader.origin == .ours, let index = reader.markIndex else { return nil }
        self.reader = reader
        entry = try reader.entry(at: index)
        self.name = name
        recordLimit = 1 << 20 + reader.size / 8
    }

    /// Reads the first line.
    ///
    /// - Throws: `ArchivedBackupError`, `ArchiveError`.
    func header() throws -> ManifestHeader {
        var text: [UInt8] = []
        let limit = Manifest.headerLimit(archive: reader.size)
        try reader.read(entry) { part in
            let end = part.endOfLine
            text.append(contentsOf: UnsafeRawBufferPointer(rebasing: part[..<(end ?? part.count)]))
            return end == nil && text.count <= limit
        }
        guard text.count <= limit else {
            throw bad("its first line is longer than that of any backup of this size")
        }
        guard text.suffix(Manifest.headerEnding.count).elementsEqual(Manifest.headerEnding) else {
            throw bad("its first line is not that of a manifest")
        }
        text.removeLast(Manifest.headerEnding.count)
        text.append(UInt8(ascii: "}"))
        do {
            let header = try decodedHeader(Data(text))
            guard header.format > 0, header.segmentSize == Segment.size, !header.id.rawValue.isEmpty
            else {
                throw bad("there is no such format, identity or size of segments")
            }
            guard header.keptTexts.allSatisfy({ $0.utf8.count <= Manifest.textLimit }) else {
                throw bad("a text in its first line is too long")
            }
            guard header.hasPossibleNeeds else {
                throw bad("it is built on nothing, or on what cannot be")
            }
            return header
        } catch is DecodingError {
            throw bad("its first line is not what the format says")
        }
    }

    private func decodedHeader(_ text: Data) throws -> ManifestHeader {
        struct Version: Decodable { var format: Int }
        let decoder = Manifest.decoder
        let header = Result { try decoder.decode(ManifestHeader.self, from: text) }
        // For a newer version only the format is known.
        let format = try header.map(\.format).flatMapError { _ in
            Result { try decoder.decode(Version.self, from: text).format }
        }.get()
        guard format <= ManifestHeader.currentFormat else {
            throw ArchivedBackupError.newerFormat(name, format: format)
        }
        return try header.get()
    }

    /// Calls `body` for every record, in the order of the archive.
    ///
    /// - Throws: `ArchivedBackupError.badManifest`, `ArchiveError`; what `body` throws.
    func forEach(_ body: (ManifestRecord) throws -> Void) throws -> ManifestTrailer {
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
        // The line was read before; it may be long because of many tables and anomalies.
        if isFirstLine { return }
        let isTrailer = (line.first ?? bytes.first) == UInt8(ascii: "]")
        let limit = isTrailer ? Int64(Manifest.lineLimit) : recordLimit
        guard Int64(line.count + bytes.count) <= limit else { throw bad("a line is too long") }
        line.append(contentsOf: bytes)
    }

    private func take(_ body: (ManifestRecord) throws -> Void) throws {
        if isFirstLine {
            isFirstLine = false
        } else if trailer != nil {
            throw bad("something follows its end")
        } else if line.first == UInt8(ascii: "]") {
            try flush(body)
            try takeTrailer()
        } else if !line.isEmpty {
            if let record = try writtenRecord() {
                try flush(body)
                return try body(record)
            }
            records.append(contentsOf: line)
            count += 1
            if count == Self.batch || records.count > Self.batchBytes { try flush(body) }
        }
    }

    /// Parses the line if it has the form that this program writes; returns `nil` otherwise.
    private func writtenRecord() throws -> ManifestRecord? {
        // A comma separates two records.
        guard !isLastRecord else { throw bad("a record of a file is not what the format says") }
        let hasComma = line.last == UInt8(ascii: ",")
        let record = ManifestRecord(line: hasComma ? line.dropLast() : line[...])
        isLastRecord = record != nil && !hasComma
        return record
    }

    private func flush(_ body: (ManifestRecord) throws -> Void) throws {
        guard count > 0 else { return }
        if records.last == UInt8(ascii: ",") { records.removeLast() }
        let batch: [ManifestRecord]
        do {
            let text = Data([UInt8(ascii: "[")] + records + [UInt8(ascii: "]")])
            batch = try decoder.decode([ManifestRecord].self, from: text)
        } catch {
            throw bad("a record of a file is not what the format says")
        }
        // A line with several records would make the count wrong.
        guard batch.count == count else { throw bad("a line has not just one record") }
        records.removeAll(keepingCapacity: true)
        count = 0
        for record in batch { try body(record) }
    }

    private func takeTrailer() throws {
        let text = Array("{".utf8) + line.dropFirst(2)
        guard let trailer = try? Manifest.decoder.decode(ManifestTrailer.self, from: Data(text))
        else {
            throw bad("its end is not what the format says")
        }
        self.trailer = trailer
    }

    private func bad(_ reason: String) -> ArchivedBackupError {
        .badManifest(name, reason: reason)
    }
}

extension UnsafeRawBufferPointer {
    /// The position of the first line break.
    fileprivate var endOfLine: Int? {
        guard let baseAddress, let end = memchr(baseAddress, 0x0A, count) else { return nil }
        return UnsafeRawPointer(end) - baseAddress
    }
}
