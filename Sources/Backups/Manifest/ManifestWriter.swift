internal import Age
package import Archives
package import Files
package import Foundation
package import SystemPackage

/// A writer of the manifest, one line for each entry, while the archive is written.
///
/// The header is the first line, but is known only after some entries are written: their lines wait for it.
package final class ManifestWriter {
    package let entry: DeferredEntry
    private let waitingLimit: Int
    private var waiting: [UInt8]? = []
    /// The sums over this archive's own entries.
    private var own = BackupTally()
    /// The records of files whose patches are written next, by the paths of their entries.
    private var patches: [RelativePath: ManifestRecord] = [:]
    /// The digests of the helper files for restoring without this program, by name.
    private var helpers: [String: String]?
    private var hasher = SSHMessage.Hasher()
    private var isSigned = false

    /// Begins a manifest, which is kept in `directory` if it is large.
    ///
    /// The header is due once more than `waitingLimit` bytes wait for it.
    package init(
        modified: Date,
        compression: Compression,
        in directory: FilePath,
        waitingLimit: Int = 1 << 20
    ) {
        self.waitingLimit = waitingLimit
        entry = DeferredEntry(
            EntryAttributes(
                path: Manifest.path,
                kind: .file,
                mode: 0o600,
                modified: modified.nanoseconds
            ),
            compression: compression,
            in: directory
        )
    }

    /// Whether too many lines wait for the header.
    package var isHeaderDue: Bool { (waiting?.count ?? 0) > waitingLimit }

    /// Writes the first line, and the lines that have waited for it.
    ///
    /// A second call is a programming error.
    ///
    /// - Throws: `ArchivedBackupError.tooManyStores`, `FileError`.
    package func begin(_ header: ManifestHeader) throws {
        guard let lines = waiting else { preconditionFailure("a manifest has one header") }
        waiting = nil
        try write(Self.line(of: header))
        try write(lines)
    }

    /// Returns the first line, with the sums of each store in place of very many tables.
    ///
    /// - Throws: `ArchivedBackupError.tooManyStores` if the line could not be read again.
    static func line(of header: ManifestHeader) throws -> [UInt8] {
        var header = header
        var text = try Manifest.encoder.encode(header)
        if text.count > Manifest.lineLimit {
            header.stores = header.stores.map(\.summed)
            header.expectedRows = header.expectedRows?.map(\.summed)
            text = try Manifest.encoder.encode(header)
        }
        let line = Array(text.dropLast()) + Manifest.headerEnding
        guard line.count <= Manifest.headerLimit else {
            throw ArchivedBackupError.tooManyStores(header.stores.count)
        }
        return line + [UInt8(ascii: "\n")]
    }

    private func write(_ bytes: [UInt8]) throws {
        bytes.withUnsafeBytes { hasher.update($0) }
        try entry.append(bytes)
    }

    /// Adds a written entry.
    package func append(_ written: WrittenEntry) throws {
        let path = written.attributes.path
        if isSigned { return }
        if path == Manifest.readme || path == Manifest.script {
            // Each helper file has one segment.
            return helpers = (helpers ?? [:]).merging(
                [path.name.description: written.segments[0].digest.description]
            ) { $1 }
        }
        if var record = patches.removeValue(forKey: path), case .patched(var patch) = record.change
        {
            (patch.size, patch.segments) = (written.size, written.segments)
            record.change = .patched(patch)
            return try append(record)
        }
        try append(ManifestRecord(written))
    }

    /// Replaces the entry of a patch by the record of its file, once the entry is written.
    ///
    /// - Parameter record: the record of the file, whose patch has neither size nor segments yet.
    /// - Returns: the path for the patch's entry.
    package func expectPatch(of record: ManifestRecord) -> RelativePath {
        patches[record.patchPath] = record
        return record.patchPath
    }

    /// Forgets an expected patch that was given up.
    package func dropPatch(of record: ManifestRecord) { patches[record.patchPath] = nil }

    /// Adds a record.
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
            try write(text)
        } else {
            waiting?.append(contentsOf: text)
        }
    }

    /// Writes the last line; the header must be written before.
    ///
    /// - Parameters:
    ///   - problems: the problems of the backup.
    ///   - tally: the sums of the whole backup if the archive has only a part of it; `nil` if it has everything.
    ///   - recordsState: whether later backups may be built on this one.
    /// - Returns: the written trailer.
    /// - Throws: `FileError` if the manifest does not fit anywhere.
    package func finish(
        problems: [Problem],
        tally: BackupTally? = nil,
        recordsState: Bool = false
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
        trailer.helpers = helpers
        if recordsState || tally != nil { trailer.state = sums.state.description }
        let text = try Manifest.encoder.encode(trailer).dropFirst()
        try write(Array("\n],".utf8) + text + [UInt8(ascii: "\n")])
        return trailer
    }

    /// Adds the finished manifest to its archive, and its signature if backups are signed.
    ///
    /// - Returns: the signature.
    /// - Throws: `FileError`; `AgeError` if signing fails.
    package func add(
        to archive: ArchiveWriter,
        signing signers: Signers?
    ) throws -> BackupSignature {
        try archive.add(entry)
        guard let signature = try signers?.sign(hasher.message) else { return .none }
        var attributes = entry.attributes
        attributes.path = Manifest.signature
        isSigned = true
        try archive.add(attributes, content: Array(signature.text.utf8))
        return .by([signature.key])
    }

    /// Returns as many problems as fit into a last line for sure, with the number of omitted ones.
    static func fitting(_ problems: [Problem]) -> [Problem] {
        // A byte may take six bytes in JSON.
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

/// The last line of a manifest; see `Documentation/Design/ArchiveFormat.md`, 4.3.
public struct ManifestTrailer: Codable, Sendable {
    /// The problems of the backup.
    public var problems: [Problem]
    /// The number of entries, without the manifest.
    public var entries: Int
    /// The number of files; only in an increment.
    public var fileCount: Int?
    /// The total size of all files in bytes before compression.
    public var bytes: Int64
    /// The digest of all content.
    public var content: String
    /// The digest of all entries, from whatever archive, as `StateDigest` computes it.
    ///
    /// `nil` in an archive that no other is built on.
    public var state: String?
    /// The SHA-256 of each helper file for restoring an increment without this program, by its name.
    public var helpers: [String: String]?
}
