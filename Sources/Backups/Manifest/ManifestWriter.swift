package import Archives
package import Files
package import Foundation
package import SystemPackage

/// Makes a manifest while the archive is written: a line for each entry.
///
/// The header comes first, and is known only after some lines are there already: they wait for it.
package final class ManifestWriter {
    private static let waitingLimit = 1 << 20

    package let entry: DeferredEntry
    private var waiting: [UInt8]? = []
    /// The sums of what the archive itself has.
    private var own = BackupTally()
    /// The files whose patches are written next, by the paths of their entries.
    private var patches: [RelativePath: ManifestRecord] = [:]

    /// Begins a manifest, which waits in `directory` if it is large.
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

    /// Whether too many lines wait for the header.
    package var isHeaderDue: Bool { (waiting?.count ?? 0) > Self.waitingLimit }

    /// Writes the first line, and the lines that have waited for it; once.
    package func begin(_ header: ManifestHeader) throws {
        guard let lines = waiting else { return }
        waiting = nil
        var text = try Manifest.encoder.encode(header)
        text.removeLast()
        try entry.append(text)
        try entry.append(Manifest.headerEnding + [UInt8(ascii: "\n")])
        try entry.append(lines)
    }

    /// Tells of an entry that was written.
    package func append(_ written: WrittenEntry) throws {
        let path = written.attributes.path
        if path == Manifest.readme || path == Manifest.script { return }
        if var record = patches.removeValue(forKey: path), case .patched(var patch) = record.change
        {
            (patch.size, patch.segments) = (written.size, written.segments)
            record.change = .patched(patch)
            return try append(record)
        }
        try append(ManifestRecord(written))
    }

    /// Has the entry of a patch be told as its file, once it is written.
    ///
    /// - Parameter record: the file, whose patch has neither size nor segments yet.
    /// - Returns: the path for the patch's entry.
    package func expectPatch(of record: ManifestRecord) -> RelativePath {
        patches[record.patchPath] = record
        return record.patchPath
    }

    /// Expects no patch of a file any more: it was given up.
    package func dropPatch(of record: ManifestRecord) { patches[record.patchPath] = nil }

    /// Tells of a path.
    package func append(_ record: ManifestRecord) throws {
        try appendText(own.entries > 0 ? Array(",\n".utf8) + record.line : record.line)
        own.add(
            record.attributes,
            size: record.size,
            digests: record.segments.lazy.map(\.digest)
        )
    }

    private func appendText(_ text: [UInt8]) throws {
        if waiting == nil {
            try entry.append(text)
        } else {
            waiting?.append(contentsOf: text)
        }
    }

    /// Writes the end; the header is written by then.
    ///
    /// - Parameters:
    ///   - problems: everything that could not be done as it should.
    ///   - tally: the whole backup, if the archive has but a part of it; `nil` if all of it was appended.
    ///   - tellsState: whether later backups may be built on this one.
    /// - Returns: what was written.
    /// - Throws: `FileError` if it does not fit anywhere.
    package func finish(
        problems: [Problem],
        tally: BackupTally? = nil,
        tellsState: Bool = false
    ) throws -> ManifestTrailer {
        precondition(waiting == nil && patches.isEmpty)
        let sums = tally ?? own
        var trailer = ManifestTrailer(
            problems: Self.fitting(problems),
            entries: sums.entries,
            bytes: sums.bytes,
            content: sums.content.description
        )
        trailer.fileCount = tally?.files
        if tellsState || tally != nil { trailer.state = sums.state.description }
        try entry.append("\n],".utf8)
        try entry.append(Manifest.encoder.encode(trailer).dropFirst())
        try entry.append("\n".utf8)
        return trailer
    }

    /// Returns as many problems as surely fit into a last line, and a remark on how many more there were.
    static func fitting(_ problems: [Problem]) -> [Problem] {
        // A byte may take six in JSON.
        var room = Manifest.lineLimit / 8
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
