internal import Age
package import Archives
package import Files
package import SystemPackage

/// An opened archive of a backup: its entries, with everything that its manifest says about them.
///
/// An archive of another program has no manifest, only the zip's own description.
package final class ArchivedBackup {
    /// The backup's file name.
    package let name: String
    package let id: BackupID
    /// The first line of the manifest; `nil` if the archive has no manifest of this program.
    package let header: ManifestHeader?
    /// The proof of who made this archive, and not of those that it is built on.
    package let signature: BackupSignature
    /// The reason not to trust it or something that it is built on, once that was checked; see `BackupKeys.distrust`.
    package internal(set) var distrust: String?
    /// Whether a trusted key signed it and everything that it is built on, as far as that was checked.
    package internal(set) var isTrusted = false
    /// The number of files that it unpacks to, and their bytes, including those from archives that an increment needs.
    package let files: Int
    package let bytes: Int64
    /// The archives that an increment is built on, the full backup first.
    package internal(set) var needs: [ArchivedBackup] = []

    /// Whether its data can be read; if not, only the central directory and the manifest were fetched.
    package let isAtHand: Bool

    /// A closure that gets the path of each entry before it is extracted to stay.
    package var extracting: ((RelativePath) -> Void)?

    let reader: ArchiveReader
    /// The number of leading directories to remove from every path; see `strip`.
    private(set) var strippedComponents = 0
    /// The directory of a fetched archive, which is deleted with the last reference.
    private let scratch: ScratchDirectory?

    /// The archive's file, encrypted or not, if it is available.
    package let path: FilePath

    /// Opens an archive on this machine, and checks its structure.
    ///
    /// - Parameters:
    ///   - path: the archive.
    ///   - name: the backup's file name, for messages; its end says whether the archive is encrypted.
    ///   - keys: the keys that open an encrypted archive.
    ///   - scratch: a directory to keep while the archive is open.
    ///   - limits: the limits that the archive must not exceed; `nil` for one that is only inspected.
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `AgeError`, `FileError`.
    package convenience init(
        _ path: FilePath,
        name: String,
        keys: BackupKeys,
        in scratch: ScratchDirectory? = nil,
        holdingTo limits: RestoreLimits? = nil
    ) throws {
        // The name of a fetched file would say nothing.
        let shown = path.lastComponent?.string == name ? path : FilePath(name)
        let source = try keys.opened(File.open(path, shownAs: shown), name: name)
        try self.init(
            source,
            at: path,
            isAtHand: true,
            name: name,
            in: scratch,
            holdingTo: limits
        )
    }

    /// Opens an archive if its end can be read; the data may be missing.
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
        reader = try ArchiveReader.open(source, mark: Manifest.mark, isAtHand: isAtHand)
        header = try ManifestReader(of: reader, name: name)?.header()
        id = header?.id ?? Self.foreignID(of: reader)
        signature = try BackupSignature(of: reader, vouchers: header?.vouchers ?? [])
        let size = try ArchiveSize(of: reader)
        if header?.isIncrement == true {
            let trailer = try Self.trailer(of: reader, name: name)
            (files, bytes) = (trailer.fileCount ?? trailer.entries, trailer.bytes)
        } else {
            (files, bytes) = (size.files, size.bytes)
        }
        if let limits { try size.check(reader, name: name, isForeign: header == nil, limits) }
    }

    /// Reads the identity and the first line of the manifest, and nothing else of the archive.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `FileError`; `AgeError`, also if a passphrase is needed, since
    ///   none is requested.
    static func glance(
        at path: FilePath,
        name: String,
        keys: BackupKeys
    ) throws -> (id: BackupID, header: ManifestHeader?, signature: BackupSignature) {
        let reader = try ArchiveReader.openWithoutChecks(
            keys.opened(File.open(path), name: name, asks: false),
            mark: Manifest.mark
        )
        let header = try ManifestReader(of: reader, name: name)?.header()
        let signature = try BackupSignature(of: reader, vouchers: header?.vouchers ?? [])
        return (header?.id ?? foreignID(of: reader), header, signature)
    }

    /// Returns whether a glance failed because the archive has no end, although the file begins as an archive.
    static func isCutOff(_ path: FilePath, _ error: any Error) -> Bool {
        if case AgeError.wrongEnd = error { return true }
        guard case ArchiveError.notAnArchive = error, let file = try? File.open(path),
            let size = try? file.info().size
        else { return false }
        let mark = Array("PK\u{3}\u{4}".utf8)
        // A copying program creates the file before it writes into it.
        let count = Int(min(size, Int64(mark.count)))
        return (try? file.readExactly(count: count, at: 0)) == Array(mark.prefix(count))
    }

    private static func foreignID(of reader: ArchiveReader) -> BackupID {
        BackupID(rawValue: "sha256:\(reader.directoryDigest)")
    }

    /// A remark about an archive that another program repacked, so that the manifest no longer describes it.
    package var originRemark: String? {
        reader.origin == .repacked
            ? "another program packed this backup again: its manifest no longer describes it, so each file is held to its CRC-32 instead of its SHA-256"
            : nil
    }

    /// Removes a number of leading directories from every path, as `tar --strip-components` does.
    ///
    /// Entries with no components left are ignored. Paths in a manifest do not change.
    package func strip(_ count: Int) { strippedComponents = count }

    // MARK: - Entries

    /// Calls `body` for every entry except the manifest, in the order of the archive.
    ///
    /// - Returns: the manifest's last line, if there is a manifest.
    /// - Throws: `ArchivedBackupError.badManifest` if the manifest and the archive contradict each other;
    ///   `ArchiveError`; what `body` throws.
    @discardableResult
    package func forEach(_ body: (ArchiveItem) throws -> Void) throws -> ManifestTrailer? {
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

    /// Calls `body` for every record of this archive's own manifest, with the record's entry if there is one.
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
        let end = reader.markIndex ?? 0
        let trailer = try manifest.forEach { record in
            guard let (path, size) = record.entry else { return try body(record, nil) }
            guard index < end else { throw bad("it has more files than the archive") }
            let entry = try reader.entry(at: index)
            guard path == entry.attributes.path, size == entry.size,
                record.attributes.kind == entry.attributes.kind
            else { throw bad("it contradicts the archive at '\(entry.attributes.path)'") }
            try body(record, entry)
            index += 1
        }
        if header?.isIncrement == true {
            index += try countHelpers(from: index, until: end, named: trailer.helpers)
        }
        guard index == end else { throw bad("it has fewer files than the archive") }
        return trailer
    }

    /// Counts the entries from an index on that help to restore without this program.
    ///
    /// - Parameters:
    ///   - index: the index of the first entry that the manifest does not name.
    ///   - end: the manifest's index.
    ///   - digests: their digests in the manifest. A person may run one of these entries.
    /// - Returns: the number of entries.
    /// - Throws: `ArchivedBackupError.badManifest` if a signed manifest has another digest for one of them;
    ///   `ArchiveError`.
    private func countHelpers(
        from index: Int,
        until end: Int,
        named digests: [String: String]?
    ) throws -> Int {
        let paths = [Manifest.readme, Manifest.script]
        for (offset, path) in paths.enumerated() {
            guard index + offset < end else { return offset }
            let entry = try reader.entry(at: index + offset)
            guard entry.attributes.path == path, entry.size <= Self.helperLimit else {
                return offset
            }
            guard reader.isSealed, isAtHand else { continue }
            let digest = try reader.contents(of: entry).withUnsafeBytes { Digest(of: $0) }
                .description
            guard digests?[path.name.description] == digest else {
                throw bad("it does not name the '\(path)' that is in the archive")
            }
        }
        return paths.count
    }

    /// The maximum size in bytes of a text or a script that helps to restore without this program.
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

    private func foreignItem(at index: Int) throws -> ArchiveItem? {
        let entry = try reader.entry(at: index)
        // The manifest comes from an archive of this program that was unpacked and packed again.
        guard let path = restoredPath(entry.attributes.path), path != Manifest.path,
            path != Manifest.signature
        else {
            return nil
        }
        var attributes = entry.attributes
        attributes.path = path
        // Another program's archive must not bring set-user-id files to the user who restores it.
        attributes.mode &= 0o777
        return ArchiveItem(entry: entry, attributes: attributes)
    }
}
