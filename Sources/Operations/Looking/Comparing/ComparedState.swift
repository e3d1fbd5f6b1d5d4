internal import Archives
internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// One of the two states that are compared: what is in it, and how its stores are opened.
final class ComparedState {
    /// A file, a directory or a link.
    struct Item {
        /// `file`, `directory` or `link`.
        var type: String
        var mode: UInt16?
        var owner: Owner?
        /// Nanoseconds since 1970-01-01 UTC.
        var modified: Int64?
        /// Bytes of a file.
        var size: Int64
        /// The SHA-256 of each segment; `nil` if it is not known without reading.
        var digests: [Digest]?
        /// The CRC-32; `nil` if it is not known without reading.
        var checksum: UInt32?
        var isStore: Bool
        /// Whether it is a store in either state that is compared as a file: its times say nothing of it.
        var isUnread = false
    }

    private enum Source {
        case live(StoresDirectory, [RelativePath: Store])
        case archived(OpenedBackup)
    }

    private(set) var items: [RelativePath: Item]
    /// What the backup left out of the stores directory.
    let exclusions: Exclusions
    /// Whether a manifest, or the file system, tells attributes as they are.
    let isDescribed: Bool
    private let source: Source
    /// The logs and journals of live stores.
    private let sidecars: [RelativePath: Item]
    private var opened: [RelativePath: Result<ReadableStore, any Error>] = [:]

    /// Lists what is in a backup.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `PathPatternError`.
    init(_ opened: OpenedBackup) throws {
        let archived = opened.plan
        source = .archived(opened)
        sidecars = [:]
        isDescribed = archived.isDescribed
        exclusions = try archived.exclusions()
        var found = try archived.items()
        // In archives of others a log may lie beside a store, and is a part of it, as in the stores directory.
        let beside = Set(found.values.filter(\.isStore).flatMap { Store.paths(beside: $0.path) })
        for item in try opened.items(where: beside.contains) where try opened.isSidecar(item) {
            found[item.attributes.path] = nil
        }
        items = found.mapValues { item in
            Item(
                type: item.type,
                mode: item.mode,
                owner: item.owner,
                modified: item.modified,
                size: item.size,
                digests: item.digests,
                checksum: item.checksum,
                isStore: item.isStore
            )
        }
    }

    /// Lists what is in a stores directory.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - exclusions: what to pass over, as the other state did.
    ///   - context: asked whether to stop.
    /// - Throws: `FileError`, `CancellationError`.
    init(
        live path: FilePath,
        leavingOut exclusions: Exclusions,
        _ context: OperationContext
    ) throws {
        let directory = try StoresDirectory(path)
        let leavingOut = LeavingOut.matches(exclusions)
        let survey = try directory.survey(
            leavingOut: leavingOut,
            isCancelled: context.checkCancellation
        )
        let stores = Dictionary(survey.stores.map { ($0.path, $0) }) { first, _ in first }
        var items: [RelativePath: Item] = [:]
        var sidecars: [RelativePath: Item] = [:]
        try Directory.open(directory.path).walk(failed: { throw $1 }) { file in
            if file.path.parent == nil, directory.leavesOut(file.name, file.info) { return .skip }
            if leavingOut.leavesOut(file) { return .skip }
            let isStore = stores[file.path] != nil
            guard let item = try Item(file, isStore: isStore) else { return .descend }
            if isStore || !survey.storeFiles.contains(file.path) {
                items[file.path] = item
            } else {
                sidecars[file.path] = item
            }
            return .descend
        }
        self.items = items
        self.sidecars = sidecars
        self.exclusions = exclusions
        isDescribed = true
        source = .live(directory, stores)
    }

    var isLive: Bool { if case .live = source { true } else { false } }

    /// The state in messages.
    var place: String {
        switch source {
        case .live: "the stores directory"
        case .archived(let backup): backup.name
        }
    }

    // MARK: - Content

    /// Returns whether a file has the content of the other state's file of the same path.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - other: the other state.
    ///   - readsAnyway: whether it is read though its time and its size are those that are known.
    ///   - context: asked whether to stop.
    /// - Returns: whether it has.
    /// - Throws: `FileError`, `CancellationError`.
    func hasSameContent(
        _ path: RelativePath,
        as other: ComparedState,
        readsAnyway: Bool = false,
        _ context: OperationContext
    ) throws -> Bool {
        guard let item = items[path], let its = other.items[path], item.size == its.size else {
            return false
        }
        if let digests = item.digests, let others = its.digests { return digests == others }
        if isLive || other.isLive {
            let readsAnyway = readsAnyway || item.isUnread
            guard !readsAnyway || hasSameLogs(path, as: other) else { return false }
            // Both times are in nanoseconds: nobody wrote in between.
            if !readsAnyway, isDescribed, other.isDescribed, item.modified == its.modified {
                return true
            }
            let known = isLive ? its : item
            let live = isLive ? self : other
            return try live.hasContent(of: known, at: path, context)
        }
        return item.checksum != nil && item.checksum == its.checksum
    }

    private func hasContent(
        of known: Item,
        at path: RelativePath,
        _ context: OperationContext
    ) throws -> Bool {
        guard case .live(let directory, _) = source else { return false }
        return try KnownContent(
            size: known.size,
            digests: known.digests,
            checksum: known.checksum
        ).isContent(of: path.below(directory.path), context)
    }

    // MARK: - Stores

    /// Opens live stores as of one moment; one that cannot be read fails when its turn comes.
    ///
    /// - Throws: `StoreError.busy`.
    func openLive(_ paths: [RelativePath], _ context: OperationContext) throws {
        guard case .live(_, let stores) = source else { return }
        let paths = paths.filter { items[$0]?.isStore == true }
        guard !paths.isEmpty else { return }
        let cut = try StoresCut(
            of: paths.compactMap { stores[$0] },
            scratchParent: context.scratch,
            busyTimeout: Self.busyTimeout
        )
        for failure in cut.failures { opened[failure.store.path] = .failure(failure.error) }
        for member in cut.members {
            opened[member.store.path] = Result { try ReadableStore(member.snapshot) }
        }
    }

    /// How long to wait for a writer that lets nobody read.
    private static let busyTimeout = Duration.seconds(5)

    /// Opens a store whose turn has come, and has SQLite read its schema.
    ///
    /// - Returns: the store; `nil` if the state has none of that path.
    /// - Throws: `StoreError`, `ArchiveError`, `LookingError`, `FileError`, `RemoteError`.
    func store(_ path: RelativePath) throws -> ReadableStore? {
        guard items[path]?.isStore == true else { return nil }
        if case .archived(let backup) = source, opened[path] == nil {
            opened[path] = .success(try ReadableStore(backup.store(path.description)))
        }
        let store = try opened[path]?.get()
        try store?.readSchema()
        return store
    }

    /// Lets a store go.
    func close(_ path: RelativePath) { opened[path] = nil }

    /// Has a store compared as a file, since one of the states cannot be read.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - other: the other state; logs that it has as files are compared with those here.
    func treatAsFile(_ path: RelativePath, as other: ComparedState) {
        close(path)
        items[path]?.isStore = false
        items[path]?.isUnread = true
        for path in Store.paths(beside: path) where other.items[path] != nil {
            guard items[path] == nil, var log = sidecars[path] else { continue }
            log.isUnread = true
            items[path] = log
        }
    }

    /// Whether the logs beside an unread store are in both states, as far as there is anything in them.
    private func hasSameLogs(_ path: RelativePath, as other: ComparedState) -> Bool {
        Store.paths(beside: path).filter { !$0.description.hasSuffix("-shm") }.allSatisfy { path in
            let sizes = [self, other].map { ($0.items[path] ?? $0.sidecars[path])?.size ?? 0 }
            return sizes[0] == sizes[1]
        }
    }
}

extension ComparedState.Item {
    /// Looks at a file of the stores directory; `nil` of what no backup has.
    fileprivate init?(_ file: WalkedFile, isStore: Bool) throws {
        switch file.info.kind {
        case .file: type = "file"
        case .directory: type = "directory"
        case .link: type = "link"
        case .special: return nil
        }
        mode = file.info.mode
        owner = Owner(user: file.info.owner, group: file.info.group)
        modified = file.info.modified
        size = type == "file" ? file.info.size : 0
        self.isStore = isStore
        guard type == "link" else { return }
        let target = try file.directory.linkTarget(file.name)
        size = Int64(target.count)
        digests = target.withUnsafeBytes { [Digest(of: $0)] }
        checksum = target.withUnsafeBytes { bytes in
            var checksum = Checksum()
            checksum.append(bytes)
            return checksum.value
        }
    }
}
