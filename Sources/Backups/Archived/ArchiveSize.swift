internal import Archives
internal import Files

/// The size of an archive's content, as its directory declares it.
struct ArchiveSize {
    private(set) var entries = 0
    private(set) var files = 0
    /// The sum of the sizes of all files.
    private(set) var bytes: Int64 = 0
    /// The number of components of the longest path.
    private var depth = 0
    private var liar: RelativePath?

    init(of reader: ArchiveReader) throws {
        for index in 0..<reader.count {
            let entry = try reader.entry(at: index)
            depth = max(depth, entry.attributes.path.components.count)
            // The manifest is not restored, and pipes and devices are not created.
            let path = entry.attributes.path
            if path == Manifest.path || path == Manifest.signature || entry.isSpecial { continue }
            entries += 1
            if entry.attributes.kind == .file { files += 1 }
            bytes += entry.size
            // Deflate shrinks data to 1/1032 at most.
            if entry.isPlain, entry.size > 1 << 20, entry.size / 1032 > entry.compressedSize {
                liar = liar ?? entry.attributes.path
            }
        }
    }

    /// Throws if the archive is empty, if it declares an impossible size, or if another program's archive exceeds a
    /// limit.
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

/// Limits for unpacking an archive that has no manifest of this program.
public struct RestoreLimits: Sendable {
    /// The quantity that is limited.
    public enum Kind: String, Sendable, CaseIterable {
        case entries, size, ratio, depth
    }

    /// The maximum number of entries.
    ///
    /// Directories with a million files are rare, and each entry costs memory.
    public var entries = 1_000_000
    /// The maximum total of bytes.
    ///
    /// Besides, every archive must fit into the free space.
    public var bytes: Int64 = 1_000_000_000_000
    /// The maximum total of bytes for each byte of the archive; it applies only beyond `freeBytes`.
    ///
    /// Databases shrink to a third, logs to a twentieth. Deflate's maximum ratio is 1032.
    public var ratio: Int64 = 200
    /// The number of bytes that is allowed at any ratio: an empty database is mostly zeros.
    public var freeBytes: Int64 = 64 << 20
    /// The maximum number of components in a path.
    ///
    /// PATH_MAX is 4096 bytes, and real trees have a dozen components.
    public var depth = 128

    /// Creates the default limits.
    ///
    /// Every limit must stay above 0.
    public init() {}
}
