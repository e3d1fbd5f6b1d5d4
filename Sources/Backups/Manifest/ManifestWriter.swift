package import Archives
internal import Files
package import Foundation
package import SystemPackage

/// Makes a manifest while the archive is written: a line for each entry.
///
/// The header, which says what is in the stores, comes first in it and is known only when some
/// lines are there already: they wait for it.
package final class ManifestWriter {
    private static let waitingLimit = 1 << 20

    package let entry: DeferredEntry
    private var waiting: [UInt8]? = []
    private var entries = 0
    private var bytes: Int64 = 0
    private var content = Digest(of: UnsafeRawBufferPointer(start: nil, count: 0))

    /// - Parameters:
    ///   - modified: when the backup is made.
    ///   - compression: how hard to compress.
    ///   - directory: where it is kept while it is large.
    package init(modified: Date, compression: Compression, in directory: FilePath) {
        entry = DeferredEntry(
            EntryAttributes(
                path: Manifest.path,
                kind: .file,
                mode: 0o600,
                modified: Int64(modified.timeIntervalSince1970 * 1_000_000_000)
            ),
            compression: compression,
            in: directory
        )
    }

    /// Whether so many lines wait for the header that it should come now.
    package var isHeaderDue: Bool { (waiting?.count ?? 0) > Self.waitingLimit }

    /// Writes the first line, and what has waited for it; once.
    package func begin(_ header: ManifestHeader) throws {
        guard let lines = waiting else { return }
        waiting = nil
        var text = try Manifest.encoder.encode(header)
        text.removeLast()
        try entry.append(text)
        try entry.append(Manifest.headerEnding + [UInt8(ascii: "\n")])
        try entry.append(lines)
    }

    package func append(_ written: WrittenEntry) throws {
        if entries > 0 { try appendText(Array(",\n".utf8)) }
        let record = ManifestRecord(written)
        try appendText(record.line)
        content = (content.bytes + record.contentKey).withUnsafeBytes { Digest(of: $0) }
        entries += 1
        if written.attributes.kind == .file { bytes += written.size }
    }

    private func appendText(_ text: [UInt8]) throws {
        if waiting == nil {
            try entry.append(text)
        } else {
            waiting?.append(contentsOf: text)
        }
    }

    /// Writes the end.
    ///
    /// - Precondition: the header was written.
    package func finish(problems: [Problem]) throws -> ManifestTrailer {
        precondition(waiting == nil)
        let trailer = ManifestTrailer(
            problems: Self.fitting(problems),
            entries: entries,
            bytes: bytes,
            content: content.description
        )
        try entry.append("\n],".utf8)
        try entry.append(Manifest.encoder.encode(trailer).dropFirst())
        try entry.append("\n".utf8)
        return trailer
    }

    /// As many problems as surely fit into a last line that is read, and how many more there were.
    static func fitting(_ problems: [Problem]) -> [Problem] {
        // A byte may take six in JSON.
        var room = Manifest.trailerLimit / 8
        let fit = problems.prefix { problem in
            room -= problem.path.utf8.count + problem.reason.utf8.count + 64
            return room >= 0
        }
        guard fit.count < problems.count else { return problems }
        var last = problems[fit.count]
        last.reason += "; and \(problems.count - fit.count - 1) more that are not listed"
        return fit + [last]
    }
}
