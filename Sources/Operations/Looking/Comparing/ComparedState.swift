internal import Archives
internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// One of the two compared states: its entries, and access to its stores.
final class ComparedState {
    /// A file, a directory or a link.
    struct Item {
        /// `file`, `directory` or `link`.
        var type: String
        var mode: UInt16?
        var owner: Owner?
        /// Nanoseconds since 1970-01-01 UTC.
        var modified: Int64?
        /// The size of a file in bytes.
        var size: Int64
        /// The SHA-256 of each segment; `nil` if not known without reading.
        var digests: [Digest]?
        /// The CRC-32; `nil` if not known without reading.
        var checksum: UInt32?
        var isStore: Bool
        /// Whether it is a store that is compared as a file in either state; its times then prove nothing.
        var isUnread = false
    }

    private enum Source {
        case live(StoresDirectory, [RelativePath: Store])
        case archived(OpenedBackup)
    }

    private(set) var items: [RelativePath: Item]
    /// The files and directories that could not be read, with the errors.
    let failures: [RelativePath: any Error]
    /// The exclusions of the backup.
    let exclusions: Exclusions
    /// Whether a manifest, or the file system, provides the exact attributes.
    let isDescribed: Bool
    private let source: Source
    /// The logs and journals of live stores.
    private let sidecars: [RelativePath: Item]
    private var opened: [RelativePath: Result<ReadableStore, any Error>] = [:]
    /// The files of the backup's stores that will be opened.
    private var files: [ExactString: [ArchiveItem]] = [:]

    /// Lists the entries of a backup.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `PathPatternError`.
    init(_ opened: OpenedBackup) throws {
        let archived = opened.plan
        source = .archived(opened)
        sidecars = [:]
        failures = [:]
        isDescribed = archived.isDescribed
        exclusions = try archived.exclusions()
        var found = try archived.items()
        // In other programs' archives, a log may lie beside a store, and belongs to it, as in the stores directory.
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

    /// Lists the entries of a stores directory.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - exclusions: the exclusions of the other state, which apply here too.
    ///   - context: the context whose cancellation check is called.
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
        var failures = Dictionary(survey.failures.map { ($0.path, $0.error) }) { $1 }
        try Directory.open(directory.path).walk(failed: { failures[$0] = $1 }) { file in
            if file.path.parent == nil, directory.leavesOut(file.name, file.info) { return .skip }
            if leavingOut.leavesOut(file) { return .skip }
            // No backup contains the index of a log.
            if survey.foreignFiles.contains(file.path),
                file.name.bytes.suffix(4).elementsEqual("-shm".utf8)
            {
                return .skip
            }
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
        self.failures = failures
        self.exclusions = exclusions
        isDescribed = true
        source = .live(directory, stores)
    }

    /// Whether it is not known what the state has at a path, because that, or a directory above it, could not be read.
    func lacks(_ path: RelativePath) -> Bool {
        !failures.isEmpty && sequence(first: path, next: \.parent).contains { failures[$0] != nil }
    }

    var isLive: Bool { if case .live = source { true } else { false } }

    /// The name of the state, for messages.
    var place: String {
        switch source {
        case .live: "the stores directory"
        case .archived(let backup): backup.name
        }
    }

    // MARK: - Content

    /// Returns whether a file has the same content as the other state's file at the same path.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - other: the other state.
    ///   - readsAnyway: whether to read the file even if its time and size equal the known ones.
    ///   - context: the context whose cancellation check is called.
    /// - Returns: whether the content is the same.
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
            // Both times are in nanoseconds, so equal times mean that nobody wrote in between.
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

    /// Prepares stores for opening, with a single pass over a backup.
    ///
    /// Opens all live stores at once, as of one moment. If one of them cannot be read, `store` throws its error later.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`.
    func prepare(_ paths: [RelativePath], _ context: OperationContext) throws {
        let paths = paths.filter { items[$0]?.isStore == true }
        guard !paths.isEmpty else { return }
        if case .archived(let backup) = source {
            files = try backup.files(ofStores: paths.map(\.description)).items
        }
        guard case .live(_, let stores) = source else { return }
        let cut = try StoresCut(
            of: paths.compactMap { stores[$0] },
            scratchParent: context.scratch,
            busyTimeout: Self.busyTimeout,
            leavingOutBusy: true
        )
        for failure in cut.failures { opened[failure.store.path] = .failure(failure.error) }
        for member in cut.members {
            opened[member.store.path] = Result { try ReadableStore(member.snapshot) }
        }
    }

    /// The time to wait for a writer that blocks readers.
    private static let busyTimeout = Duration.seconds(5)

    /// Opens a prepared store, and makes SQLite read its schema.
    ///
    /// - Returns: the store; `nil` if the state has no store at this path.
    /// - Throws: `StoreError`, `ArchiveError`, `LookingError`, `FileError`, `RemoteError`.
    func store(_ path: RelativePath) throws -> ReadableStore? {
        guard items[path]?.isStore == true else { return nil }
        if case .archived(let backup) = source, opened[path] == nil {
            let name = path.description
            opened[path] = .success(
                try ReadableStore(backup.store(name, of: files[name.exact] ?? []))
            )
        }
        let store = try opened[path]?.get()
        try store?.readSchema()
        return store
    }

    /// Releases a store.
    func close(_ path: RelativePath) { opened[path] = nil }

    /// Marks a store to be compared as a file, because it cannot be read in one of the states.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - other: the other state; logs that it has as files are compared with the logs here.
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

    /// Whether both states have logs of the same sizes beside an unread store; a missing log counts as empty.
    private func hasSameLogs(_ path: RelativePath, as other: ComparedState) -> Bool {
        Store.paths(beside: path).filter { !$0.description.hasSuffix("-shm") }.allSatisfy { path in
            let sizes = [self, other].map { ($0.items[path] ?? $0.sidecars[path])?.size ?? 0 }
            return sizes[0] == sizes[1]
        }
    }
}

extension ComparedState.Item {
    /// Creates an item from a file of the stores directory; `nil` for a special file, which no backup contains.
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
