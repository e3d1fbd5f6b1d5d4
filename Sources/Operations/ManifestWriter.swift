internal import Archives
internal import Foundation
internal import SystemPackage

/// Makes a manifest while the archive is written: a line for each entry.
final class ManifestWriter {
    let entry: DeferredEntry
    private var entries = 0
    private var bytes: Int64 = 0

    init(_ header: ManifestHeader, compression: Compression, in directory: FilePath) throws {
        entry = DeferredEntry(
            EntryAttributes(
                path: ManifestPlace.path,
                kind: .file,
                mode: 0o600,
                modified: Int64((header.date?.timeIntervalSince1970 ?? 0) * 1_000_000_000)
            ),
            compression: compression,
            in: directory
        )
        var text = try Self.encoder.encode(header)
        text.removeLast()
        try entry.append(text)
        try entry.append(",\"files\":[\n".utf8)
    }

    func append(_ written: WrittenEntry) throws {
        if entries > 0 { try entry.append(",\n".utf8) }
        try entry.append(FileRecord(written).line)
        entries += 1
        if written.attributes.kind == .file { bytes += written.size }
    }

    func finish(problems: [Problem]) throws -> ManifestTrailer {
        let trailer = ManifestTrailer(problems: problems, entries: entries, bytes: bytes)
        try entry.append("\n],".utf8)
        try entry.append(Self.encoder.encode(trailer).dropFirst())
        try entry.append("\n".utf8)
        return trailer
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
