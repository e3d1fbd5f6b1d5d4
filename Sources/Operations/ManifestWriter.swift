internal import Archives
internal import Foundation

/// Makes a manifest while the archive is written: a line for each entry.
final class ManifestWriter {
    let entry: DeferredEntry
    private var entries = 0
    private var bytes: Int64 = 0

    init(_ header: ManifestHeader, compression: Compression) throws {
        entry = DeferredEntry(
            EntryAttributes(
                path: ManifestPlace.path,
                kind: .file,
                mode: 0o600,
                modified: Int64((header.date?.timeIntervalSince1970 ?? 0) * 1_000_000_000)
            ),
            compression: compression
        )
        var text = try Self.encoder.encode(header)
        text.removeLast()
        entry.append(text)
        entry.append(",\"files\":[\n".utf8)
    }

    func append(_ written: WrittenEntry) {
        if entries > 0 { entry.append(",\n".utf8) }
        entry.append(FileRecord(written).line)
        entries += 1
        if written.attributes.kind == .file { bytes += written.size }
    }

    func finish(problems: [Problem]) throws -> ManifestTrailer {
        let trailer = ManifestTrailer(problems: problems, entries: entries, bytes: bytes)
        entry.append("\n],".utf8)
        entry.append(try Self.encoder.encode(trailer).dropFirst())
        entry.append("\n".utf8)
        return trailer
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
