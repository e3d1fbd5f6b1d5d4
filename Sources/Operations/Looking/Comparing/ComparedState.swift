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
    }

    private enum Source {
        case live(StoresDirectory, [RelativePath: Store])
        case archived(OpenedBackup)
    }

    let items: [RelativePath: Item]
    /// What the backup left out of the stores directory.
    let exclusions: Exclusions
    /// Whether a manifest, or the file system, tells attributes as they are.
    let isDescribed: Bool
    private let source: Source
    private var opened: [RelativePath: ReadableStore] = [:]

    /// Lists what is in a backup.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError`, `PathPatternError`.
    init(_ opened: OpenedBackup) throws {
        let archived = opened.plan
        source = .archived(opened)
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
        try Directory.open(directory.path).walk(failed: { throw $1 }) { file in
            if file.path.parent == nil, directory.leavesOut(file.name, file.info) { return .skip }
            if leavingOut.leavesOut(file) { return .skip }
            let isStore = stores[file.path] != nil
            guard isStore || !survey.storeFiles.contains(file.path) else { return .descend }
            if let item = try Item(file, isStore: isStore) { items[file.path] = item }
            return .descend
        }
        self.items = items
        self.exclusions = exclusions
        isDescribed = true
        source = .live(directory, stores)
    }

    var isLive: Bool { if case .live = source { true } else { false } }

    // MARK: - Content

    /// Returns whether a file has the content of the other state's file of the same path.
    ///
    /// - Throws: `FileError`, `CancellationError`.
    func hasSameContent(
        _ path: RelativePath,
        as other: ComparedState,
        _ context: OperationContext
    ) throws -> Bool {
        guard let item = items[path], let its = other.items[path], item.size == its.size else {
            return false
        }
        if let digests = item.digests, let others = its.digests { return digests == others }
        if isLive || other.isLive {
            // Both times are in nanoseconds: nobody wrote in between.
            if isDescribed, other.isDescribed, item.modified == its.modified { return true }
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

    /// Opens stores, those of the stores directory as of one moment.
    ///
    /// - Throws: `StoreError`, `ArchiveError`, `LookingError`, `FileError`, `CancellationError`.
    func open(_ paths: [RelativePath], _ context: OperationContext) throws {
        let paths = paths.filter { items[$0]?.isStore == true && opened[$0] == nil }
        guard !paths.isEmpty else { return }
        switch source {
        case .live(_, let stores):
            let cut = try StoresCut(
                of: paths.compactMap { stores[$0] },
                scratchParent: context.scratch,
                busyTimeout: Self.busyTimeout
            )
            if let failure = cut.failures.first { throw failure.error }
            for member in cut.members {
                opened[member.store.path] = try ReadableStore(member.snapshot)
            }
        case .archived(let backup):
            for path in paths {
                opened[path] = try ReadableStore(backup.store(path.description))
            }
        }
    }

    /// How long to wait for a writer that lets nobody read.
    private static let busyTimeout = Duration.seconds(5)

    /// Returns a store that was opened; `nil` if the state has none of that path.
    func store(_ path: RelativePath) -> ReadableStore? { opened[path] }
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
