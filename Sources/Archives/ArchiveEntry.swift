public import Files

/// What a user sees of an archive's entry.
public struct EntryAttributes: Sendable, Equatable {
    /// The kinds of entry.
    public enum Kind: String, Sendable {
        case file, directory, link
    }

    /// The name in the archive.
    public var path: RelativePath
    public var kind: Kind
    /// Permission bits, 0 to 0o7777.
    public var mode: UInt16
    /// Modification time: nanoseconds since 1970-01-01 UTC.
    public var modified: Int64
    /// Who owns it; `nil` where that is not known, or is not to be put back.
    public var owner: Owner?

    public init(path: RelativePath, kind: Kind, mode: UInt16, modified: Int64, owner: Owner? = nil)
    {
        self.path = path
        self.kind = kind
        self.mode = mode
        self.modified = modified
        self.owner = owner
    }
}

/// Who owns a file, by numbers.
public struct Owner: Sendable, Equatable {
    public var user: UInt32
    public var group: UInt32

    public init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }
}

/// One segment of an entry's data, as it is in the archive.
public struct SegmentRecord: Sendable, Equatable {
    /// The SHA-256 of the bytes before compression.
    public var digest: Digest
    /// How many bytes of the archive it takes.
    public var length: Int

    public init(digest: Digest, length: Int) {
        self.digest = digest
        self.length = length
    }
}

/// An entry that was written, for the manifest.
public struct WrittenEntry: Sendable {
    public var attributes: EntryAttributes
    /// Bytes before compression.
    public var size: Int64
    /// Its data's segments, in order; none where there is no data.
    public var segments: [SegmentRecord]
    /// Bytes in the archive.
    public var compressedSize: Int64
}
