public import Files
public import SystemPackage

/// Files, directories and symbolic links that can be shown as a read-only file system.
///
/// Each has an inode, a number that is never reused. All methods are called on threads that may block, several at once.
/// They throw a number of errno(3), and report any details themselves.
public protocol MountedTree: Sendable {
    /// Finds a name in a directory.
    ///
    /// - Throws: `.noSuchFileOrDirectory` if the name does not exist.
    func node(named name: [UInt8], in directory: UInt64) throws(Errno) -> MountedNode

    /// Returns the node with an inode.
    ///
    /// - Throws: `.staleNFSFileHandle` if it no longer exists.
    func node(_ inode: UInt64) throws(Errno) -> MountedNode

    /// Returns the present names in a directory.
    func names(in directory: UInt64) throws(Errno) -> [MountedName]

    /// Returns the target of a symbolic link.
    func target(of link: UInt64) throws(Errno) -> [UInt8]

    /// Opens a file, whose content does not change until the last reference to the result is released.
    ///
    /// - Returns: the bytes. An error of reading them that is no `Errno` becomes EIO.
    func open(_ file: UInt64) throws(Errno) -> any ByteSource

    /// The total of bytes and files, for df(1).
    var extent: (bytes: Int64, files: Int) { get }
}

/// A file, a directory or a symbolic link of a mounted tree.
public struct MountedNode: Sendable, Equatable {
    /// The kinds of node in a read-only tree.
    public enum Kind: Sendable, Equatable {
        case file, directory, link
    }

    /// The inode of a tree's root.
    public static let root: UInt64 = 1

    public var inode: UInt64
    public var kind: Kind
    /// The permission bits; those for writing have no effect.
    public var mode: UInt16
    public var owner: UInt32
    public var group: UInt32
    /// The size in bytes; for a link, that of its target.
    public var size: Int64
    /// The modification time in nanoseconds since 1970-01-01 UTC.
    public var modified: Int64
    /// Whether it may change or vanish at any moment.
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
