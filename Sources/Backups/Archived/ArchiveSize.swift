internal import Archives
internal import Files

/// The size of an archive's content, as its directory declares it.
struct ArchiveSize {
    private(set) var entries = 0
    private(set) var files = 0
    /// In all files.
    private(set) var bytes: Int64 = 0
    /// Components of the longest path.
    private var depth = 0
    private var liar: RelativePath?

    init(of reader: ArchiveReader) throws {
        for index in 0..<reader.count {
            let entry = try reader.entry(at: index)
            depth = max(depth, entry.attributes.path.components.count)
            // The manifest is read, and not restored; a pipe or a device is not made.
            if entry.attributes.path == Manifest.path || entry.isSpecial { continue }
            entries += 1
            if entry.attributes.kind == .file { files += 1 }
            bytes += entry.size
            // Deflate makes data at most 1,032 times as small.
            if entry.isPlain, entry.size > 1 << 20, entry.size / 1032 > entry.compressedSize {
                liar = liar ?? entry.attributes.path
            }
        }
    }

    /// Throws if the archive is empty, lies, or is another program's and beyond a limit.
    func check(
        _ reader: ArchiveReader,
        name: String,
        isForeign: Bool,
        _ limits: RestoreLimits
    ) throws {
        if let liar {
            let reason = "'\(liar)' declares more than its data can hold"
            throw ArchiveError.beyondLimit(reader.path, reason: reason)
        }
        guard entries > 0 else {
            throw ArchiveError.notAnArchive(reader.path, reason: "there is nothing in it")
        }
        guard isForeign else { return }
        func refuse(_ reason: String, _ limit: RestoreLimits.Kind) -> ArchivedBackupError {
            .beyondLimit(name, reason: reason, limit)
        }
        guard reader.count <= limits.entries else {
            throw refuse("it has \(reader.count) entries", .entries)
        }
        guard bytes <= limits.bytes else {
            throw refuse("it would unpack to \(byteCount(bytes))", .size)
        }
        guard bytes <= limits.freeBytes || (bytes - 1) / limits.ratio < reader.size else {
            let sizes = "its \(byteCount(reader.size)) would unpack to \(byteCount(bytes))"
            throw refuse("\(sizes), as a zip bomb does", .ratio)
        }
        guard depth <= limits.depth else { throw refuse("a path has \(depth) components", .depth) }
        try reader.checkNamesIgnoringCase()
    }
}
