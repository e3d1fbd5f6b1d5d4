package import Archives
package import Backups
internal import Files
public import Stores
internal import SystemPackage

/// The files of all stores in a backup.
struct StoreContents {
    /// The stores by printable path; files beside a store come after it.
    var stores: [(path: String, items: [ArchiveItem])]
    /// The problems that occurred when the backup was made.
    var problems: [Problem]
}

/// A backup opened for reading in place; only the requested parts of its files are read.
///
/// Call its methods within `look`, because they may wait for data to be fetched.
public final class OpenedBackup: StorePlace {
    public let name: String
    let archived: ArchivedBackup
    private let context: OperationContext
    private let cache: SegmentCache

    /// Opens a backup of a folder.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - folder: the folder that contains it.
    ///   - limits: the limits that the archive must not exceed.
    ///   - cache: the cache of its segments, which other backups may share.
    ///   - context: the scratch directory, and the receiver of events.
    /// - Throws: see `BackupFolder.open`.
    package init(
        _ backup: Backup,
        in folder: BackupFolder,
        holdingTo limits: RestoreLimits = RestoreLimits(),
        cache: SegmentCache = SegmentCache(),
        context: OperationContext
    ) async throws {
        self.cache = cache
        self.context = context
        name = "'\(backup.displayName)'"
        archived = try await LookingError.translating {
            try await folder.open(backup, .parts, holdingTo: limits) {
                context.report(.began(.fetching, total: $0))
            }
        }
        try folder.refuseDistrusted(archived, openedAs: backup)
        if let remark = archived.originRemark { context.note(remark) }
    }

    /// Wraps a backup that was opened together with its base backups.
    init(_ archived: ArchivedBackup, context: OperationContext) {
        cache = SegmentCache()
        self.context = context
        self.archived = archived
        name = "'\(BackupName.display(archived.name))'"
    }

    /// The backup as a restore uses it; use it within `look`.
    var plan: ArchivedBackup { archived }

    // MARK: - Files

    /// Calls a closure for each entry of the backup.
    ///
    /// - Throws: see `ArchivedBackup.forEach`.
    func forEach(_ body: (ArchiveItem) throws -> Void) throws {
        _ = try archived.forEach(body)
    }

    /// Returns the entries whose paths satisfy a condition.
    func items(where isWanted: (RelativePath) -> Bool) throws -> [ArchiveItem] {
        var items: [ArchiveItem] = []
        try forEach { if isWanted($0.attributes.path) { items.append($0) } }
        return items
    }

    /// Returns a file's bytes; all bytes are verified before they are returned.
    ///
    /// Reads a file without segments at once: into memory if it is small, else into a scratch file, which is removed
    /// with the source.
    func source(of item: ArchiveItem) throws -> any ByteSource {
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

    /// Returns whether the backup has a file or a directory, by its path as it is printed.
    ///
    /// - Throws: errors reading the archive.
    public func has(_ path: String) throws -> Bool {
        do {
            return try !items(NamedPaths([path])).isEmpty
        } catch is LookingError {
            return false
        }
    }

    /// Reads a file from its beginning to its end.
    ///
    /// - Parameters:
    ///   - path: the file's path, as it is printed.
    ///   - body: takes the next bytes, which are verified; returns whether to continue.
    /// - Throws: `LookingError` if there is no such file; errors reading it; errors of `body`.
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

    /// Extracts some entries into a scratch directory at their paths.
    private func extractedToScratch(_ items: [ArchiveItem]) throws -> ScratchDirectory {
        let scratch = try ScratchDirectory(in: context.scratch)
        let size = items.reduce(0) { $0 + $1.size }
        let first = items.first.map { $0.attributes.path.description } ?? ""
        context.reportDetail(
            "extracts '\(first)' (\(byteCount(size))) into '\(printable(scratch.path))': it cannot be read in parts"
        )
        try context.extract(items, into: scratch.path, at: scratch.path, syncing: .never) {
            $0.owner = nil
            // The file must be readable, whatever its mode was.
            $0.mode = 0o600
        }
        return scratch
    }

    // MARK: - Stores

    /// Returns the printable paths of the stores.
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

    /// Opens a store for reading in place.
    ///
    /// - Parameter path: the store's path as a person names it; `nil` for the only store.
    /// - Returns: the store; it stays valid while it is referenced.
    /// - Throws: `LookingError` if there is no such store, or if there are several and `path` is `nil`; `StoreError`,
    ///   `ArchiveError`, `DamagedBytes`, `FileError`, `RemoteError`.
    public func store(_ path: String?) throws -> StoreSnapshot {
        let path =
            try path.map { try StoreChoice.named($0, among: stores()) ?? $0 }
            ?? StoreChoice.only(of: stores(), in: name)
        return try store(path, of: files(ofStores: [path]).items[path.exact] ?? [])
    }

    /// Returns the paths of a store's files.
    ///
    /// In other programs' archives, and beside damaged stores, a log or a journal is part of the store.
    private static func parts(of store: String) -> [ExactString] {
        ["", "-wal", "-journal"].map { (store + $0).exact }
    }

    /// Finds the files of all stores with a single pass over the manifest.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`.
    func contents() throws -> StoreContents {
        let paths = try stores().sorted()
        let (items, trailer) = try files(ofStores: paths)
        return StoreContents(
            stores: paths.map { ($0, items[$0.exact] ?? []) },
            problems: trailer?.problems ?? []
        )
    }

    /// Finds the files of some stores with a single pass over the manifest.
    ///
    /// - Returns: the files by the stores' paths, a store before the files beside it; the manifest's last line.
    /// - Throws: `ArchiveError`, `ArchivedBackupError`.
    func files(
        ofStores paths: [String]
    ) throws -> (items: [ExactString: [ArchiveItem]], trailer: ManifestTrailer?) {
        let wanted = Set(paths.flatMap(Self.parts))
        var items: [ExactString: ArchiveItem] = [:]
        let trailer = try archived.forEach { item in
            let path = item.attributes.path.description.exact
            if wanted.contains(path) { items[path] = item }
        }
        let found = paths.map { path in (path.exact, Self.parts(of: path).compactMap { items[$0] })
        }
        return (Dictionary(found) { first, _ in first }, trailer)
    }

    /// Opens a store whose files were found; see `store`.
    func store(_ path: String, of items: [ArchiveItem]) throws -> StoreSnapshot {
        guard let item = items.first(where: { $0.attributes.path.description.exact == path.exact })
        else {
            throw LookingError.noStore(path, in: name, stores: try stores())
        }
        guard try isStore(item) else { throw LookingError.notAStore(path, in: name) }
        let hasSidecar = items.contains {
            $0.attributes.path.description.exact != path.exact && $0.attributes.kind == .file
                && $0.size > 0
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

    /// Returns whether a file starts with the header of an SQLite database.
    func isStore(_ item: ArchiveItem) throws -> Bool {
        DatabaseHeader.begins(try start(of: item))
    }

    /// Whether a file beside a database belongs to SQLite.
    func isSidecar(_ item: ArchiveItem) throws -> Bool {
        guard item.attributes.kind == .file, !item.entry.isSpecial else { return false }
        return try Store.isSidecar(source(of: item), at: item.attributes.path)
    }

    /// Whether a file is a store whose header says that it is in WAL mode.
    func saysWAL(_ item: ArchiveItem) throws -> Bool {
        DatabaseHeader(try start(of: item))?.saysWAL ?? false
    }

    /// Reads the first bytes of a file, as many as a store's header has.
    ///
    /// Returns fewer for a shorter file, none for an entry that is not a file.
    private func start(of item: ArchiveItem) throws -> [UInt8] {
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

/// A file in a scratch directory; it keeps the directory alive.
final class ScratchFile: ByteSource {
    private let file: File
    private let directory: ScratchDirectory

    /// Opens a file.
    ///
    /// - Throws: `FileError`.
    init(_ path: FilePath, in directory: ScratchDirectory) throws {
        file = try File.open(path)
        self.directory = directory
    }

    var path: FilePath { file.path }

    var size: Int64 { get throws { try file.size } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try file.read(into: buffer, at: offset)
    }
}

/// A choice among several stores.
enum StoreChoice {
    /// Returns the store that a person names: the one with these bytes, else the one that is printed so.
    ///
    /// - Parameters:
    ///   - name: the name as typed.
    ///   - stores: the stores' paths, printable.
    /// - Returns: the store's path; `nil` if there is none.
    static func named(_ name: String, among stores: some Sequence<String>) -> String? {
        let exact = (try? RelativePath(name))?.description.exact
        let found = stores.filter { [exact, name.exact].contains($0.exact) }
        return found.first { $0.exact == exact } ?? found.first
    }

    /// Returns the only store of a place.
    ///
    /// - Parameters:
    ///   - stores: the stores' paths, printable.
    ///   - place: the place that contains them, for messages.
    /// - Returns: the store's path.
    /// - Throws: `LookingError` if there is no store, or more than one.
    static func only(of stores: [String], in place: String) throws -> String {
        guard let store = stores.first else { throw LookingError.noStores(in: place) }
        guard stores.count == 1 else {
            throw LookingError.severalStores(in: place, stores: stores)
        }
        return store
    }
}
