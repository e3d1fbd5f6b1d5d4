internal import Archives
internal import Backups
internal import Files
internal import Mounts
internal import Synchronization
internal import SystemPackage

/// An opened backup as a directory: its entries, each with an inode, and the files that SQLite needs beside a store.
///
/// SQLite opens a store in WAL mode for reading only if it finds a log and its index, or can create them
/// (https://www.sqlite.org/wal.html#readonly). In the mount, nobody can create files. A store in a backup needs
/// neither, because it contains the content of its log. So both files exist, empty, when a program looks them up by
/// name. No listing contains them, so a copy of a directory contains only what was saved.
final class MountedContent: @unchecked Sendable {
    /// The owner of entries without an owner; if this program is not root's, the owner of all entries.
    struct Owner {
        var user: UInt32
        var group: UInt32
        /// Whether this program is root's, so that entries keep their owners.
        var isRoot: Bool
    }

    /// The endings of the files that SQLite needs beside a store; the index is the last bit of the file's number.
    private static let sidecars = [Array("-wal".utf8), Array("-shm".utf8)]
    /// The mark in the number of such a file; the other bits are the store's number and the last bit.
    private static let sidecarMark: UInt64 = 1 << 31
    /// The greatest number of nodes.
    private static let nodesLimit = 1 << 30
    /// The number of bits in an inode that hold the node's number; the higher bits hold the backup's number.
    static let bits: UInt64 = 32

    let tree: EntryTree
    /// The inode of the backup's own directory.
    let base: UInt64
    private let owner: Owner
    /// The time of entries without one, in nanoseconds since 1970-01-01 UTC.
    private let time: Int64
    private let pool: SourcePool
    /// The backup, used by one thread at a time.
    ///
    /// The sources opened from it are shared.
    private let opened: Mutex<OpenedBackup>
    /// Whether files are stores in WAL mode, for the files checked so far.
    private let inWAL = Mutex<[Int: Bool]>([:])

    /// Reads the entries of a backup.
    ///
    /// - Parameters:
    ///   - opened: the backup, which nothing else may use any more.
    ///   - number: the backup's number, which no other backup ever gets.
    ///   - owner: the owner of entries without one.
    ///   - time: the time of entries without one.
    ///   - pool: the pool that holds the sources.
    /// - Throws: see `OpenedBackup.forEach`.
    init(
        _ opened: sending OpenedBackup,
        number: UInt64,
        owner: Owner,
        time: Int64,
        pool: SourcePool
    ) throws {
        tree = try EntryTree { try opened.forEach($0) }
        guard tree.nodes.count < Self.nodesLimit else { throw Errno.fileTooLarge }
        base = number << Self.bits
        self.owner = owner
        self.time = time
        self.pool = pool
        self.opened = Mutex(opened)
    }

    // MARK: - Looking

    /// Returns the node of an inode of this backup.
    ///
    /// - Throws: `Errno.staleNFSFileHandle` if the backup has no such inode.
    func node(_ inode: UInt64) throws -> MountedNode {
        if let store = store(ofSidecar: inode) {
            var node = node(number: store)
            (node.inode, node.size) = (inode, 0)
            return node
        }
        return node(number: try number(inode))
    }

    /// Finds a name in a directory.
    ///
    /// - Throws: `Errno` if there is no such name; errors reading the start of a store.
    func node(named name: [UInt8], in directory: UInt64) throws -> MountedNode {
        let parent = try number(directory)
        guard tree.nodes[parent].isDirectory else { throw Errno.notDirectory }
        if let child = tree.child(named: name, of: parent) { return node(number: child) }
        guard let sidecar = try sidecar(name, of: parent) else {
            throw Errno.noSuchFileOrDirectory
        }
        return try node(sidecar)
    }

    func names(in directory: UInt64) throws -> [MountedName] {
        let parent = try number(directory)
        guard tree.nodes[parent].isDirectory else { throw Errno.notDirectory }
        return tree.children(of: parent).map { child in
            let node = tree.nodes[child]
            return MountedName(
                name: node.path.name.bytes,
                inode: base + UInt64(child),
                kind: Self.kind(node)
            )
        }
    }

    func target(of link: UInt64) throws -> [UInt8] {
        guard let item = tree.nodes[try number(link)].item, item.attributes.kind == .link else {
            throw Errno.invalidArgument
        }
        // The target may have to be fetched, and only one thread at a time may read the backup.
        return try opened.withLock { _ in try item.linkTarget() }
    }

    // MARK: - Reading

    /// Returns the source of an open file.
    ///
    /// - Throws: see `OpenedBackup.source`; `Errno` if it is not a file.
    func source(of file: UInt64) throws -> any ByteSource {
        if let source = pool.kept(file) { return source }
        if store(ofSidecar: file) != nil { return MemorySource(path: "", bytes: []) }
        guard let item = tree.nodes[try number(file)].item, item.attributes.kind == .file else {
            throw Errno.isDirectory
        }
        return try opened.withLock { opened in
            try pool.source(file) { try opened.source(of: item) }
        }
    }

    /// Opens a file; it stays open until the last reference to the result is released.
    ///
    /// A file that cannot be read in parts is unpacked at once, so that a lack of space makes the opening fail.
    ///
    /// - Throws: see `source(of:)`.
    func open(_ file: UInt64, _ troubles: MountTroubles) throws -> any ByteSource {
        let size = try node(file).size
        let open = OpenFile(self, file, pool, troubles, size: size)
        _ = try source(of: file)
        return open
    }

    // MARK: - Numbers

    private func number(_ inode: UInt64) throws -> Int {
        let number = inode &- base
        guard inode >= base, number < UInt64(tree.nodes.count) else {
            throw Errno.staleNFSFileHandle
        }
        return Int(number)
    }

    private func node(number: Int) -> MountedNode {
        let item = tree.nodes[number].item
        let kept = owner.isRoot ? item?.attributes.owner : nil
        return MountedNode(
            inode: base + UInt64(number),
            kind: Self.kind(tree.nodes[number]),
            mode: Self.mode(tree.nodes[number]),
            owner: kept?.user ?? owner.user,
            group: kept?.group ?? owner.group,
            size: item.map { $0.attributes.kind == .directory ? 0 : $0.size } ?? 0,
            modified: item?.attributes.modified ?? time,
            isFleeting: number == EntryTree.root
        )
    }

    /// Returns the mode without write permissions.
    ///
    /// Links get all permissions, which have no effect on links.
    private static func mode(_ node: EntryTree.Node) -> UInt16 {
        guard let attributes = node.item?.attributes else { return 0o555 }
        guard attributes.kind != .link else { return 0o777 }
        return AttributeRules.safe(attributes.mode, of: attributes.kind) & ~0o222
    }

    private static func kind(_ node: EntryTree.Node) -> MountedNode.Kind {
        switch node.item?.attributes.kind {
        case .file: .file
        case .link: .link
        case .directory, nil: .directory
        }
    }

    // MARK: - Beside stores

    /// Returns the number of the store that a sidecar inode belongs to; `nil` if it is no sidecar inode.
    private func store(ofSidecar inode: UInt64) -> Int? {
        let number = inode &- base
        guard inode >= base, number & Self.sidecarMark != 0 else { return nil }
        let store = Int((number ^ Self.sidecarMark) >> 1)
        return store < tree.nodes.count ? store : nil
    }

    /// Returns the inode of a file that SQLite needs beside a store in WAL mode; `nil` for any other name.
    private func sidecar(_ name: [UInt8], of parent: Int) throws -> UInt64? {
        for (bit, ending) in Self.sidecars.enumerated() {
            guard name.count > ending.count, name.suffix(ending.count) == ending[...],
                let store = tree.child(named: name.dropLast(ending.count), of: parent),
                try isInWAL(store)
            else { continue }
            return base + (Self.sidecarMark | UInt64(store) << 1 | UInt64(bit))
        }
        return nil
    }

    private func isInWAL(_ number: Int) throws -> Bool {
        if let known = inWAL.withLock({ $0[number] }) { return known }
        guard let item = tree.nodes[number].item else { return false }
        let isInWAL = try opened.withLock { try $0.saysWAL(item) }
        inWAL.withLock { $0[number] = isInWAL }
        return isInWAL
    }
}

/// An open file of a mounted backup.
private final class OpenFile: ByteSource {
    let path: FilePath
    let size: Int64
    private let content: MountedContent
    private let inode: UInt64
    private let pool: SourcePool
    private let turn: SourcePool.Turn
    private let troubles: MountTroubles

    init(
        _ content: MountedContent,
        _ inode: UInt64,
        _ pool: SourcePool,
        _ troubles: MountTroubles,
        size: Int64
    ) {
        path = FilePath(String(inode))
        self.size = size
        self.content = content
        self.inode = inode
        self.pool = pool
        turn = pool.retain(inode)
        self.troubles = troubles
    }

    deinit { pool.release(inode) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        do {
            return try turn.mutex.withLock { _ in
                try content.source(of: inode).read(into: buffer, at: offset)
            }
        } catch {
            throw troubles.errno(error)
        }
    }
}
