internal import Archives
public import Backups
internal import Files
public import Stores
internal import SystemPackage

/// The files of all stores in a backup.
struct StoreContents {
    /// By the stores' paths, printable; what stands beside one comes after it.
    var stores: [(path: String, items: [ArchiveExtractor.Item])]
    /// What could not be saved as it should.
    var problems: [Problem]
}

/// A backup that is looked into: its files are read where they are, and only as much of them as is asked for.
///
/// Its methods may wait for what is fetched, so they are called within `look`.
public final class OpenedBackup: StorePlace {
    public let name: String
    let archived: ArchivedBackup
    private let context: OperationContext
    private let cache: SegmentCache

    /// Opens a backup of a folder.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - folder: the folder that it is in.
    ///   - limits: limits to hold the archive to.
    ///   - context: where scratch files go, and who hears of it.
    /// - Throws: see `BackupFolder.openInPlace`.
    public convenience init(
        _ backup: Backup,
        in folder: BackupFolder,
        holdingTo limits: RestoreLimits = RestoreLimits(),
        context: OperationContext
    ) async throws {
        let cache = SegmentCache()
        try await self.init(backup, in: folder, holdingTo: limits, cache: cache, context: context)
    }

    /// Opens a backup of a folder, with a cache that others may share.
    ///
    /// - Throws: see `BackupFolder.openInPlace`.
    init(
        _ backup: Backup,
        in folder: BackupFolder,
        holdingTo limits: RestoreLimits = RestoreLimits(),
        cache: SegmentCache,
        context: OperationContext
    ) async throws {
        self.cache = cache
        self.context = context
        name = "'\(backup.displayName)'"
        archived = try await LookingError.translating {
            try await folder.openInPlace(backup, holdingTo: limits) {
                context.report(.began(.fetching, total: $0))
            }
        }
        if let remark = archived.originRemark { context.note(remark) }
    }

    /// Takes a backup that was opened, with all that it is built on.
    init(_ archived: ArchivedBackup, context: OperationContext) {
        cache = SegmentCache()
        self.context = context
        self.archived = archived
        name = "'\(BackupName.display(archived.name))'"
    }

    /// The backup as a restore has it, to be asked within `look`.
    var plan: ArchivedBackup { archived }

    // MARK: - Files

    /// Calls a closure for each entry of the backup.
    ///
    /// - Throws: see `ArchivedBackup.forEach`.
    func forEach(_ body: (ArchiveExtractor.Item) throws -> Void) throws {
        _ = try archived.forEach(body)
    }

    /// Returns the entries whose paths are as wanted.
    func items(where isWanted: (RelativePath) -> Bool) throws -> [ArchiveExtractor.Item] {
        var items: [ArchiveExtractor.Item] = []
        try forEach { if isWanted($0.attributes.path) { items.append($0) } }
        return items
    }

    /// Returns a file's bytes, each verified before it is seen.
    ///
    /// One that is not in segments is read at once: into memory if it is small, else into a scratch file, which
    /// goes with the source.
    func source(of item: ArchiveExtractor.Item) throws -> any ByteSource {
        guard item.attributes.kind == .file else {
            throw LookingError.notAFile(item.attributes.path.description, in: name)
        }
        if EntrySource.canRead(item) {
            return try EntrySource(item, cache: cache, readsAhead: archived.isAtHand)
        }
        if item.size <= Int64(Segment.size) {
            var bytes: [UInt8] = []
            try item.entry.archive.read(item.entry) {
                bytes.append(contentsOf: $0)
                return true
            }
            return MemorySource(path: item.entry.archive.path, bytes: bytes)
        }
        let scratch = try extractedToScratch([item])
        return try ScratchFile(item.attributes.path.below(scratch.path), in: scratch)
    }

    /// Reads a file from its beginning to its end.
    ///
    /// - Parameters:
    ///   - path: its path, as it is printed.
    ///   - body: takes the next bytes, which are verified; returns whether it wants more.
    /// - Throws: `LookingError` if there is no such file; errors of reading it; what `body` throws.
    public func read(_ path: String, _ body: ([UInt8]) throws -> Bool) throws {
        let found = try items(NamedPaths([path]))
        guard let item = found.first(where: { $0.item.attributes.path == $0.root })?.item else {
            throw LookingError.notAFile(path, in: name)
        }
        let source = try source(of: item)
        for start in stride(from: 0, to: item.size, by: Segment.size) {
            try context.checkCancellation()
            let count = Int(min(Int64(Segment.size), item.size - start))
            guard try body(source.readExactly(count: count, at: start)) else { return }
        }
    }

    /// Extracts some entries into a scratch directory, under their paths.
    private func extractedToScratch(_ items: [ArchiveExtractor.Item]) throws -> ScratchDirectory {
        let scratch = try ScratchDirectory(in: context.scratch)
        let size = items.reduce(0) { $0 + $1.size }
        let first = items.first.map { $0.attributes.path.description } ?? ""
        context.tellDetail(
            "extracts '\(first)' (\(byteCount(size))) into '\(printable(scratch.path))': it cannot be read in parts"
        )
        try context.extract(items, into: scratch.path, at: scratch.path, syncing: .never) {
            $0.owner = nil
            // It must be readable, whatever its mode was.
            $0.mode = 0o600
        }
        return scratch
    }

    // MARK: - Stores

    /// Returns the paths of the stores, printable.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`.
    public func stores() throws -> [String] {
        if let header = archived.header, archived.isDescribed { return header.stores.map(\.path) }
        var stores: [String] = []
        try forEach { item in
            if try isStore(item) { stores.append(item.attributes.path.description) }
        }
        return stores
    }

    /// Opens a store for reading, where it is.
    ///
    /// - Parameter path: its path, as `stores` says it; `nil` for the only one.
    /// - Returns: the store; it stays good while it is referred to.
    /// - Throws: `LookingError` if there is no such store, or more than one to choose from; `StoreError`,
    ///   `ArchiveError`, `DamagedBytes`, `FileError`, `RemoteError`.
    public func store(_ path: String?) throws -> StoreSnapshot {
        let path = try path ?? StoreChoice.only(of: stores(), in: name)
        let parts = Self.parts(of: path)
        return try store(path, of: items { parts.contains($0.description) })
    }

    /// The paths of a store's files: a log or a journal beside it is a part of it, in archives of others and of
    /// damaged stores.
    private static func parts(of store: String) -> [String] {
        ["", "-wal", "-journal"].map { store + $0 }
    }

    /// Finds the files of all stores, in one look at the manifest.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`.
    func contents() throws -> StoreContents {
        let paths = try stores().sorted()
        let wanted = Set(paths.flatMap(Self.parts))
        var items: [String: ArchiveExtractor.Item] = [:]
        let trailer = try archived.forEach { item in
            let path = item.attributes.path.description
            if wanted.contains(path) { items[path] = item }
        }
        return StoreContents(
            stores: paths.map { path in (path, Self.parts(of: path).compactMap { items[$0] }) },
            problems: trailer?.problems ?? []
        )
    }

    /// Opens a store of which the files were found; see `store`.
    func store(_ path: String, of items: [ArchiveExtractor.Item]) throws -> StoreSnapshot {
        guard let item = items.first(where: { $0.attributes.path.description == path }) else {
            throw LookingError.noStore(path, in: name, stores: try stores())
        }
        guard try isStore(item) else { throw LookingError.notAStore(path, in: name) }
        let hasSidecar = items.contains {
            $0.attributes.path.description != path && $0.attributes.kind == .file && $0.size > 0
        }
        guard hasSidecar || !EntrySource.canRead(item) else {
            return try StoreSnapshot(over: source(of: item), path: item.attributes.path)
        }
        let scratch = try extractedToScratch(items.filter { $0.attributes.kind == .file })
        let file = item.attributes.path.below(scratch.path)
        let store = Store(
            path: item.attributes.path,
            directory: scratch.path,
            identity: try FileInfo(of: file).identity
        )
        return try StoreSnapshot.ofNow(
            store,
            scratchParent: scratch.path,
            busyTimeout: .zero,
            keeping: scratch
        )
    }

    /// Returns whether a file begins as a store does.
    func isStore(_ item: ArchiveExtractor.Item) throws -> Bool {
        DatabaseHeader.begins(try start(of: item))
    }

    /// Whether a file beside a database is SQLite's own.
    func isSidecar(_ item: ArchiveExtractor.Item) throws -> Bool {
        guard item.attributes.kind == .file, !item.entry.isSpecial else { return false }
        return try Store.isSidecar(source(of: item), at: item.attributes.path)
    }

    /// Whether a file is a store that says that it is in WAL mode.
    func saysWAL(_ item: ArchiveExtractor.Item) throws -> Bool {
        DatabaseHeader(try start(of: item))?.saysWAL ?? false
    }

    /// Reads as many bytes of a file as a store's header has; fewer if it is shorter, none of what is no file.
    private func start(of item: ArchiveExtractor.Item) throws -> [UInt8] {
        guard item.attributes.kind == .file, item.size > 0, !item.entry.isSpecial else { return [] }
        let count = Int(min(item.size, Int64(DatabaseHeader.length)))
        if EntrySource.canRead(item) {
            return try EntrySource(item, cache: cache).readExactly(count: count, at: 0)
        }
        var start: [UInt8] = []
        try item.entry.archive.read(item.entry) { part in
            start += part.prefix(count - start.count)
            return start.count < count
        }
        return start
    }
}
