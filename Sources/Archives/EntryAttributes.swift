public import Files

/// The attributes of an archive's entry, as a user sees them.
public struct EntryAttributes: Sendable, Equatable {
    public enum Kind: String, Sendable {
        case file, directory, link
    }

    /// The entry's name in the archive.
    public var path: RelativePath
    public var kind: Kind
    /// The permission bits, 0 to 0o7777.
    public var mode: UInt16
    /// The modification time in nanoseconds since 1970-01-01 UTC.
    public var modified: Int64
    /// The owner; `nil` if it is unknown, or if it is not to be restored.
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

/// The owner and the group of a file, as numeric identifiers.
public struct Owner: Sendable, Equatable {
    public var user: UInt32
    public var group: UInt32

    public init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }
}
