internal import Age
package import Archives
package import Files
package import SystemPackage

/// A backup whose archive was opened: its entries, with everything that its manifest says of them.
///
/// An archive of another program has no manifest; then there is only the zip's own description.
package final class ArchivedBackup {
    /// The backup's file name.
    package let name: String
    package let id: BackupID
    /// `nil` if the archive has no manifest of ours.
    package let header: ManifestHeader?
    /// How many files it unpacks to, and their bytes; with everything that an increment needs.
    package let files: Int
    package let bytes: Int64
    /// The archives that an increment is built on, the whole one first.
    package internal(set) var needs: [ArchivedBackup] = []

    /// Whether its data can be read; if not, only its directory and its manifest were fetched.
    package let isAtHand: Bool

    let reader: ArchiveReader
    /// How many directories are taken off every name; see `strip`.
    private(set) var strippedComponents = 0
    /// The directory of an archive that was fetched, which goes with the last reference.
    private let scratch: ScratchDirectory?

    /// Its archive's file, encrypted or not, if that is at hand.
    package let path: FilePath

    /// Opens an archive on this machine, whose structure is checked at once.
    ///
    /// - Parameters:
    ///   - path: the archive.
    ///   - name: the backup's file name, for messages; it says whether the archive is encrypted.
    ///   - keys: what opens it if so.
    ///   - scratch: a directory to keep as long as the archive is open.
    ///   - limits: limits to hold the archive to; `nil` for one that is only looked at.
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `AgeError`, `FileError`.
    package convenience init(
        _ path: FilePath,
        name: String,
        keys: BackupKeys,
        in scratch: ScratchDirectory? = nil,
        holdingTo limits: RestoreLimits? = nil
    ) throws {
        let source = try keys.opened(File.open(path), name: name)
        try self.init(
            source,
            at: path,
            isAtHand: true,
            name: name,
            in: scratch,
            holdingTo: limits
        )
    }

    /// Opens an archive of which the end can be read, and perhaps the data.
    init(
        _ source: any ByteSource,
        at path: FilePath? = nil,
        isAtHand: Bool,
        name: String,
        in scratch: ScratchDirectory? = nil,
        holdingTo limits: RestoreLimits? = nil
    ) throws {
        self.name = name
        self.path = path ?? source.path
        self.scratch = scratch
        self.isAtHand = isAtHand
        reader = try ArchiveReader.open(source, mark: Manifest.path, isAtHand: isAtHand)
        header = try ManifestReader(of: reader, name: name)?.header()
        id = header?.id ?? Self.foreignID(of: reader)
        let size = try ArchiveSize(of: reader)
        if header?.isIncrement == true {
            let trailer = try Self.trailer(of: reader, name: name)
            (files, bytes) = (trailer.fileCount ?? trailer.entries, trailer.bytes)
        } else {
            (files, bytes) = (size.files, size.bytes)
        }
        if let limits { try size.check(reader, name: name, isForeign: header == nil, limits) }
    }

    /// Reads the identity and the first line of the manifest, and no more of the archive.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `FileError`; `AgeError`, also if a passphrase is
    ///   needed, which is not asked for.
    static func glance(
        at path: FilePath,
        name: String,
        keys: BackupKeys
    ) throws -> (id: BackupID, header: ManifestHeader?) {
        let reader = try ArchiveReader.openWithoutChecks(
            keys.opened(File.open(path), name: name, asks: false),
            mark: Manifest.path
        )
        let header = try ManifestReader(of: reader, name: name)?.header()
        return (header?.id ?? foreignID(of: reader), header)
    }

    /// Returns whether the error of a glance is that an archive has no end, and the file begins as one.
    static func isCutOff(_ path: FilePath, _ error: any Error) -> Bool {
        if case AgeError.wrongEnd = error { return true }
        guard case ArchiveError.notAnArchive = error, let file = try? File.open(path),
            let size = try? file.info().size
        else { return false }
        let mark = Array("PK\u{3}\u{4}".utf8)
        // A copy makes the file before it writes into it.
        let count = Int(min(size, Int64(mark.count)))
        return (try? file.readExactly(count: count, at: 0)) == Array(mark.prefix(count))
    }

    private static func foreignID(of reader: ArchiveReader) -> BackupID {
        BackupID(rawValue: "sha256:\(reader.directoryDigest)")
    }

    /// A remark on an archive that its manifest no longer describes.
    package var originRemark: String? {
        reader.origin == .repacked
            ? "another program packed this backup anew: its manifest no longer describes it, so each file is held to its CRC-32 instead of its SHA-256"
            : nil
    }

    /// Takes so many directories off every name, as tar's `--strip-components` does.
    ///
    /// An entry that has no more names is then as if it were not in the archive. A manifest's names stay.
    package func strip(_ count: Int) { strippedComponents = count }

    // MARK: - Entries

    /// Calls `body` for every entry but the manifest, in the order of the archive.
    ///
    /// - Returns: the manifest's last line, if there is a manifest.
    /// - Throws: `ArchivedBackupError.badManifest` if the manifest and the archive contradict each other;
    ///   `ArchiveError`; what `body` throws.
    @discardableResult
    package func forEach(_ body: (ArchiveExtractor.Item) throws -> Void) throws -> ManifestTrailer?
    {
        guard let header else {
            for index in 0..<reader.count { try foreignItem(at: index).map(body) }
            return nil
        }
        if header.isIncrement { return try Assembly(of: self).forEach(body) }
        guard reader.origin == .ours else {
            for index in 0..<reader.count { try foreignItem(at: index).map(body) }
            return nil
        }
        return try forEachRecord { record, entry in
            guard let entry, record.change == .whole else {
                throw bad("only an increment has parts of files")
            }
            let (attributes, segments) = (record.attributes, record.segments)
            try body(.init(entry: entry, attributes: attributes, segments: segments))
        }
    }

    /// Calls `body` for every record of this archive's own manifest, with the entry that it tells of, if
    /// there is one.
    ///
    /// - Returns: the manifest's last line.
    /// - Throws: `ArchivedBackupError.badManifest`, `ArchiveError`; what `body` throws.
    func forEachRecord(
        _ body: (ManifestRecord, ArchiveReader.Entry?) throws -> Void
    ) throws -> ManifestTrailer {
        guard let manifest = try ManifestReader(of: reader, name: name) else {
            throw bad("the archive has none")
        }
        var index = 0
        let trailer = try manifest.forEach { record in
            guard let (path, size) = record.entry else { return try body(record, nil) }
            guard index < reader.count - 1 else { throw bad("it has more files than the archive") }
            let entry = try reader.entry(at: index)
            guard path == entry.attributes.path, size == entry.size,
                record.attributes.kind == entry.attributes.kind
            else { throw bad("it contradicts the archive at '\(entry.attributes.path)'") }
            try body(record, entry)
            index += 1
        }
        if header?.isIncrement == true { index += try countHelpers(from: index) }
        guard index == reader.count - 1 else { throw bad("it has fewer files than the archive") }
        return trailer
    }

    /// Returns how many entries from an index on are for restoring without this program.
    private func countHelpers(from index: Int) throws -> Int {
        let paths = [Manifest.readme, Manifest.script]
        for (offset, path) in paths.enumerated() {
            guard index + offset < reader.count - 1 else { return offset }
            let entry = try reader.entry(at: index + offset)
            guard entry.attributes.path == path, entry.size <= Self.helperLimit else {
                return offset
            }
        }
        return paths.count
    }

    /// The most bytes of a text or a script for restoring without this program.
    private static let helperLimit: Int64 = 64 << 10

    private static func trailer(of reader: ArchiveReader, name: String) throws -> ManifestTrailer {
        guard let trailer = try ManifestReader(of: reader, name: name)?.forEach({ _ in }) else {
            throw ArchivedBackupError.badManifest(name, reason: "the archive has none")
        }
        return trailer
    }

    /// Reads the last line of the archive's own manifest; `nil` if it has none.
    ///
    /// - Throws: see `forEach`.
    package func trailer() throws -> ManifestTrailer? {
        header?.isIncrement == true ? try forEachRecord { _, _ in } : try forEach { _ in }
    }

    func bad(_ reason: String) -> ArchivedBackupError { .badManifest(name, reason: reason) }

    private func foreignItem(at index: Int) throws -> ArchiveExtractor.Item? {
        let entry = try reader.entry(at: index)
        // The manifest came along from an archive of ours that was unpacked.
        guard let path = restoredPath(entry.attributes.path), path != Manifest.path else {
            return nil
        }
        var attributes = entry.attributes
        attributes.path = path
        // A stranger's program must not run with the rights of the user who restores it.
        attributes.mode &= 0o777
        return ArchiveExtractor.Item(entry: entry, attributes: attributes)
    }
}
