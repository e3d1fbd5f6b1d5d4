public import Files

/// An archive's entry as a user sees it.
public struct EntryAttributes: Sendable, Equatable {
    public enum Kind: String, Sendable {
        case file, directory, link
    }

    /// Its name in the archive.
    public var path: RelativePath
    public var kind: Kind
    /// Permission bits, 0 to 0o7777.
    public var mode: UInt16
    /// Modification time: nanoseconds since 1970-01-01 UTC.
    public var modified: Int64
    /// `nil` if it is not known, or not to be put back.
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
