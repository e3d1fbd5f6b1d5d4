internal import Archives
internal import Files
internal import Mounts
internal import Synchronization
internal import SystemPackage

/// An opened backup as a directory: its entries, each with an inode, and what SQLite wants to find beside a store.
///
/// SQLite opens a store in WAL mode for reading only if it finds a log and its index, or can make them
/// (https://www.sqlite.org/wal.html#readonly), and nobody makes a file here. A store in a backup needs neither:
/// what was in the log is in the store. So both are there, and empty, for whoever asks for them by name, while no
/// listing has them: a copy of a directory is what was saved, and nothing else.
final class MountedContent: @unchecked Sendable {
    /// The owner of what has none, or whose owner nobody could be given.
    struct Owner {
        var user: UInt32
        var group: UInt32
        /// Whether what has an owner keeps it.
        var isRoot: Bool
    }

    /// What SQLite wants to find beside a store, by the last bit of its number.
    private static let sidecars = [Array("-wal".utf8), Array("-shm".utf8)]
    /// Marks the number of such a file; the rest are that of the store, and the last bit.
    private static let sidecarMark: UInt64 = 1 << 31
    /// The most numbers of nodes.
    private static let nodesLimit = 1 << 30
    /// The bits of the number of a node in its inode; those above are the backup's.
    static let bits: UInt64 = 32

    let tree: EntryTree
    /// The inode of the backup's own directory.
    let base: UInt64
    private let owner: Owner
    /// Of what has no time of its own, in nanoseconds since 1970-01-01 UTC.
    private let time: Int64
    private let pool: SourcePool
    /// The backup is one thread's at a time; only what is read from is everybody's.
    private let opened: Mutex<OpenedBackup>
    /// Which files are stores in WAL mode, as far as somebody has asked.
    private let inWAL = Mutex<[Int: Bool]>([:])

    /// Reads the entries of a backup.
    ///
    /// - Parameters:
    ///   - opened: the backup, which nobody else uses from now on.
    ///   - number: its own number, which no other backup ever has.
    ///   - owner: the owner of what has none.
    ///   - time: the time of what has none.
    ///   - pool: where sources are kept.
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

    /// Returns what an inode of this backup stands for.
    ///
    /// - Throws: `Errno.staleNFSFileHandle` if it is no inode of it.
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
    /// - Throws: `Errno` if there is none; errors of reading the start of a store.
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
        // It may be fetched, and one thread at a time reads the backup.
        return try opened.withLock { _ in try item.linkTarget() }
    }

    // MARK: - Reading

    /// Returns what an open file is read from.
    ///
    /// - Throws: see `OpenedBackup.source`; `Errno` if it is no file.
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

    /// Opens a file, until the last reference to what is returned goes.
    ///
    /// What cannot be read in parts is unpacked at once: whoever opens it hears if there is no space.
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

    /// Nobody writes here, whatever was allowed where it comes from; of a link everything is, and means nothing.
    private static func mode(_ node: EntryTree.Node) -> UInt16 {
        guard let attributes = node.item?.attributes else { return 0o555 }
        return attributes.kind == .link ? 0o777 : attributes.mode & ~0o222
    }

    private static func kind(_ node: EntryTree.Node) -> MountedNode.Kind {
        switch node.item?.attributes.kind {
        case .file: .file
        case .link: .link
        case .directory, nil: .directory
        }
    }

    // MARK: - Beside stores

    /// Returns the number of the store that a file is beside which is not in the backup; `nil` if it is none.
    private func store(ofSidecar inode: UInt64) -> Int? {
        let number = inode &- base
        guard inode >= base, number & Self.sidecarMark != 0 else { return nil }
        let store = Int((number ^ Self.sidecarMark) >> 1)
        return store < tree.nodes.count ? store : nil
    }

    /// Returns the inode of what SQLite wants to find beside a store in WAL mode; `nil` for any other name.
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

/// A file of a mounted backup that somebody has opened.
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
