public import Files
public import SystemPackage

/// Files, directories and symbolic links that can be shown as a file system nobody writes to.
///
/// Each is known by its inode, a number that no other one ever gets. All methods are called on threads
/// that may wait, several at once. They tell of a failure by a number of errno(3); whatever else is to be said
/// of it, they say themselves.
public protocol MountedTree: Sendable {
    /// Finds what has a name in a directory.
    ///
    /// - Throws: `.noSuchFileOrDirectory` if there is nothing.
    func node(named name: [UInt8], in directory: UInt64) throws(Errno) -> MountedNode

    /// Returns what has an inode.
    ///
    /// - Throws: `.staleNFSFileHandle` if it is gone.
    func node(_ inode: UInt64) throws(Errno) -> MountedNode

    /// Returns what is in a directory, as of now.
    func names(in directory: UInt64) throws(Errno) -> [MountedName]

    /// Returns the target of a symbolic link.
    func target(of link: UInt64) throws(Errno) -> [UInt8]

    /// Opens a file, which stays as it is until the last reference to what is returned goes.
    ///
    /// - Returns: its bytes; an error of reading them that is no `Errno` becomes EIO.
    func open(_ file: UInt64) throws(Errno) -> any ByteSource

    /// Bytes and files in all, for df(1).
    var extent: (bytes: Int64, files: Int) { get }
}

/// A file, a directory or a symbolic link of a mounted tree.
public struct MountedNode: Sendable, Equatable {
    /// The kinds that a read-only tree has.
    public enum Kind: Sendable, Equatable {
        case file, directory, link
    }

    /// The inode of a tree's root.
    public static let root: UInt64 = 1

    public var inode: UInt64
    public var kind: Kind
    /// Permission bits; those for writing mean nothing.
    public var mode: UInt16
    public var owner: UInt32
    public var group: UInt32
    /// Bytes; of a link those of its target.
    public var size: Int64
    /// Nanoseconds since 1970-01-01 UTC.
    public var modified: Int64
    /// Whether it can be gone, or another one, in a moment.
    public var isFleeting: Bool

    public init(
        inode: UInt64,
        kind: Kind,
        mode: UInt16,
        owner: UInt32,
        group: UInt32,
        size: Int64,
        modified: Int64,
        isFleeting: Bool = false
    ) {
        self.inode = inode
        self.kind = kind
        self.mode = mode
        self.owner = owner
        self.group = group
        self.size = size
        self.modified = modified
        self.isFleeting = isFleeting
    }
}

/// A name in a directory of a mounted tree.
public struct MountedName: Sendable, Equatable {
    public var name: [UInt8]
    public var inode: UInt64
    public var kind: MountedNode.Kind

    public init(name: [UInt8], inode: UInt64, kind: MountedNode.Kind) {
        self.name = name
        self.inode = inode
        self.kind = kind
    }
}
