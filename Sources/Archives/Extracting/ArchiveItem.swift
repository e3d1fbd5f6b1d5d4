internal import Files
internal import SystemPackage

/// An entry with its attributes, segments and patches.
public struct ArchiveItem: Sendable {
    public var entry: ArchiveReader.Entry
    /// The attributes for the file.
    ///
    /// They come from the manifest if there is one, since its time is finer.
    public var attributes: EntryAttributes
    /// The manifest's segment table; without one, the CRC-32 is verified.
    public var segments: [SegmentRecord]?
    /// The final file, if entries of later archives patch this one.
    public var patched: PatchedContent?

    public init(
        entry: ArchiveReader.Entry,
        attributes: EntryAttributes,
        segments: [SegmentRecord]? = nil,
        patched: PatchedContent? = nil
    ) {
        self.entry = entry
        self.attributes = attributes
        self.segments = segments
        self.patched = patched
    }

    /// Creates the item of a patch as an ordinary entry, whose bytes are the runs.
    init(_ patch: Patch) {
        let entry = patch.entry
        self.init(entry: entry, attributes: entry.attributes, segments: patch.segments)
    }

    /// The size of the final file in bytes.
    public var size: Int64 { patched?.size ?? entry.size }

    /// The bytes that it needs on a disk.
    ///
    /// Whole segments of zeros become holes if the manifest has their digests.
    public var allocatedSize: Int64 {
        let digests = patched?.digests ?? segments?.map(\.digest) ?? []
        let zeros = digests.lazy.filter { $0 == ZeroSegment.digest }.count
        return size - Int64(zeros) * Int64(Segment.size)
    }

    /// Sets a file's length and its attributes once its content is written.
    func finish(_ file: File, _ syncing: Syncing) throws {
        // A look is cheaper than setting the same attributes again.
        let info = try file.info()
        // The file may end in a hole.
        if info.size < size { try file.truncate(to: size) }
        if let owner = attributes.owner, owner.user != info.owner || owner.group != info.group {
            try file.setOwner(owner.user, group: owner.group)
        }
        // A change of the owner clears the set-user-id bit.
        if attributes.mode != info.mode || attributes.mode & 0o7000 != 0 {
            try file.setMode(attributes.mode)
        }
        try file.setModified(attributes.modified)
        if syncing == .each { try file.sync() }
    }

    /// The moment at which restored files are synced to the disk.
    public enum Syncing: Sendable {
        /// Never, because the files are deleted afterwards.
        case never
        /// At the end, by the caller, while the disk is already writing. For many files, one call for the whole file
        /// system is faster.
        case byCaller
        /// After each file and each directory.
        case each
    }
}

extension ArchiveItem {
    /// Reads and verifies the target of a symbolic link.
    ///
    /// - Returns: the bytes of the target, at least one and none of them NUL.
    /// - Throws: `ArchiveError`, `FileError`.
    public func linkTarget() throws -> [UInt8] {
        let reader = entry.archive
        guard entry.size <= 4096 else {
            throw reader.damage(entry, "a link's target cannot be so long")
        }
        var bytes: [UInt8] = []
        try reader.read(entry) {
            bytes.append(contentsOf: $0)
            return true
        }
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw reader.damage(entry, "it has no target")
        }
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        guard segments?.first.map({ $0.digest == digest }) ?? true else {
            throw reader.damage(entry, "its SHA-256 is wrong")
        }
        return bytes
    }
}

extension ArchiveReader.Entry {
    /// Checks a manifest's table against the archive, so that a wrong table cannot make a read leave the entry.
    ///
    /// - Throws: `ArchiveError`.
    func check(_ segments: [SegmentRecord]) throws {
        guard segments.count == Segment.count(forSize: size), isPlain,
            segments.allSatisfy({ (0...Segment.compressedLimit).contains($0.length) }),
            segments.reduce(0, { $0 + Int64($1.length) }) == compressedSize
        else { throw archive.contradiction(self) }
    }
}

extension ArchiveReader {
    /// Returns the archive's error if an entry made the file system refuse it, or else the same error.
    func explain(_ error: FileError, _ item: ArchiveItem) -> any Error {
        let name = item.attributes.path.description
        return switch error {
        case .exists: ArchiveError.duplicateEntry(path, entry: name, other: name)
        case .failed(.open, _, .notDirectory), .failed(.open, _, .tooManySymbolicLinkLevels), .notA:
            obstructed(name)
        default: error
        }
    }
}
