internal import Archives
internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// A search for everything that belongs to named paths, in a backup and in a stores directory.
struct PartSearch {
    private typealias Item = ArchiveItem

    /// The named paths.
    private(set) var names = RestoredPart([])
    /// The paths to exchange; some may contain others.
    private(set) var exchanged: Set<RelativePath> = []
    /// The entries to extract, with their sizes in bytes.
    private(set) var sizes: [RelativePath: Int64] = [:]
    private(set) var fileCount = 0
    /// The size of these entries without holes, in bytes.
    private(set) var allocated: Int64 = 0
    /// The named paths that are stores in the backup.
    private(set) var stores: [RelativePath] = []
    /// The paths that are exchanged only because they do not exist.
    private(set) var missing: Set<RelativePath> = []
    /// The files of external data that are the same as in the backup.
    private(set) var same: [(path: RelativePath, info: FileInfo)] = []

    /// The paths that only the stores directory has, and that are removed.
    private(set) var gone = GonePaths()

    let backup: OpenedBackup
    let live: StoresDirectory
    let context: OperationContext
    let liveStores: [RelativePath: Store]
    /// The live stores by the directories of their external data.
    private let owners: [RelativePath: [Store]]
    private let backedUpStores: Set<ExactString>

    /// Whether named paths that only the stores directory has are removed.
    private let removesMissing: Bool
    /// The columns whose values name files that come with their store.
    private let naming: [ExternalFiles]

    init(
        in backup: OpenedBackup,
        _ live: StoresDirectory,
        naming: [ExternalFiles],
        removingMissing: Bool,
        _ context: OperationContext
    ) throws {
        (removesMissing, self.naming) = (removingMissing, naming)
        (self.backup, self.live, self.context) = (backup, live, context)
        let survey = try live.survey(isCancelled: context.checkCancellation)
        liveStores = Dictionary(survey.stores.map { ($0.path, $0) }) { first, _ in first }
        owners = Dictionary(grouping: survey.stores, by: \.supportDirectory)
        let plan = backup.plan
        backedUpStores = Set(plan.isDescribed ? plan.header?.stores.map(\.path.exact) ?? [] : [])
    }

    /// Runs the search.
    ///
    /// - Throws: see `PartPlan.init`.
    mutating func find(_ paths: NamedPaths) throws {
        guard !paths.haveAll else { throw PartError.everything }
        let (present, gone) = try removesMissing ? splitMissing(paths) : (paths, GonePaths())
        self.gone = gone
        let found = present.names.isEmpty ? [] : try backup.items(present)
        let items = found.filter { !$0.item.entry.isSpecial }
        names = RestoredPart(items.map(\.root) + gone.paths)
        for path in gone.paths where isReserved(path) { throw PartError.reserved(path.description) }
        for root in Set(found.map(\.root)).sorted()
        where isReserved(root) || !names.contains(root) {
            throw PartError.reserved(root.description)
        }
        // For external data of a store that is not named, files that only the stores directory has stay.
        let merged = Set(names.roots.filter { owner(of: $0) != nil })
        for root in names.roots where !merged.contains(root) {
            try exchange(root)
            // The log must go too: without its store it must not remain.
            if liveStores[root] != nil { try exchangeFiles(beside: root) }
        }
        for directory in gone.directories.keys { try exchange(directory) }
        for (item, root) in items where !merged.contains(root) { try take(item) }
        try merge(items.filter { merged.contains($0.root) }.map(\.item), ofStore: false)
        let named = items.filter { $0.item.attributes.path == $0.root }.map(\.item)
        try refusePartsOfStores(named)
        var beside: Set<RelativePath> = []
        for item in named where try isStore(item) || hasLog(item) {
            let path = item.attributes.path
            beside.formUnion(Store.paths(beside: path))
            try exchangeFiles(beside: path)
        }
        try findParts(beside: beside)
    }

    /// Finds the files that come with named stores, and the directories above named paths.
    private mutating func findParts(beside: Set<RelativePath>) throws {
        let supports = Set(stores.map(Store.supportDirectory)).filter { !names.contains($0) }
        let externalFiles = try externalFiles()
        var external: [Item] = []
        for item in try backup.items(where: { path in
            beside.contains(path) || names.isBelow(path) || externalFiles.contains(path)
                || sequence(first: path, next: \.parent).contains(where: supports.contains)
        }) where !item.entry.isSpecial {
            let path = item.attributes.path
            if beside.contains(path) {
                guard try backup.isSidecar(item), try !backup.archived.isStray(item) else {
                    continue
                }
                try exchange(path)
                try take(item)
            } else if names.isBelow(path), item.attributes.kind == .directory {
                // The directory is only created if it is missing.
                if sequence(first: path, next: \.parent).contains(where: missing.contains) {
                    try take(item)
                }
            } else {
                external.append(item)
            }
        }
        try merge(external, ofStore: true)
    }

    // MARK: - Exchanged paths

    /// Adds a path to exchange; if directories above it are missing, adds the highest missing one instead.
    private mutating func exchange(_ path: RelativePath) throws {
        let place = try place(of: path)
        exchanged.insert(place)
        if place != path { missing.insert(place) }
    }

    /// Adds the files beside a database to the exchange.
    ///
    /// A missing one may be created while the restored store is tried. It is then no part of the previous store if that
    /// comes back.
    private mutating func exchangeFiles(beside path: RelativePath) throws {
        for path in Store.paths(beside: path) {
            let info = try FileInfo.inside(live.path, path)
            if try info == nil || isSidecarHere(path) { try exchange(path) }
        }
    }

    /// Returns the path to exchange so that another path gets into its place.
    private func place(of path: RelativePath) throws -> RelativePath {
        var directory = try Directory.open(live.path)
        for parent in path.ancestors {
            guard let info = try FileInfo.inside(live.path, parent) else {
                try require(directory, for: parent)
                return parent
            }
            guard info.kind == .directory else {
                throw PartError.obstructed(path.description, at: parent.below(live.path))
            }
            guard try !directory.isMountPoint(parent.name) else {
                throw RestoreError.mountInside(parent.below(live.path))
            }
            directory = try directory.directory(parent.name)
        }
        try require(directory, for: path)
        let place = path.below(live.path)
        if try FileInfo.inside(live.path, path)?.kind == .directory, !place.allowsMove {
            throw PartError.unchangeable(place, directory: place)
        }
        return path
    }

    private func require(_ directory: Directory, for path: RelativePath) throws {
        guard directory.path.allowsChanges else {
            throw PartError.unchangeable(path.below(live.path), directory: directory.path)
        }
    }

    func isReserved(_ path: RelativePath) -> Bool {
        guard !ArchivedBackup.isReserved(path) else { return true }
        guard path.parent == nil, let info = try? FileInfo.inside(live.path, path) else {
            return false
        }
        return live.leavesOut(path.name, info)
    }

    // MARK: - Extracted entries

    private mutating func take(_ item: Item) throws {
        let (path, kind) = (item.attributes.path, item.attributes.kind)
        guard sizes.updateValue(kind == .file ? item.size : 0, forKey: path) == nil else { return }
        guard kind == .file else { return }
        fileCount += 1
        allocated += item.allocatedSize
    }

    // MARK: - Stores

    private mutating func isStore(_ item: Item) throws -> Bool {
        let path = item.attributes.path
        guard item.attributes.kind == .file,
            try backedUpStores.contains(path.description.exact) || backup.isStore(item)
        else { return false }
        stores.append(path)
        return true
    }

    /// Whether a log or a journal is beside a live file that does not look like a store, such as an encrypted one.
    private mutating func hasLog(_ item: Item) throws -> Bool {
        let path = item.attributes.path
        guard item.attributes.kind == .file, Store.database(ofFileBeside: path) == nil else {
            return false
        }
        let logs = Store.paths(beside: path).filter {
            !$0.bytes.suffix(4).elementsEqual("-shm".utf8)
        }
        guard
            try logs.contains(where: { log in
                try FileInfo.inside(live.path, log).map { $0.size > 0 } ?? false
                    && isSidecarHere(log)
            })
        else { return false }
        stores.append(path)
        return true
    }

    /// Refuses to exchange the log of a store without the store.
    private func refusePartsOfStores(_ items: [Item]) throws {
        for item in items {
            let path = item.attributes.path
            guard let base = Store.database(ofFileBeside: path), !names.contains(base) else {
                continue
            }
            // A log of the backup does not match any live file beside it.
            let isOfLive =
                try FileInfo.inside(live.path, base) != nil && item.size > 0
                && backup.isSidecar(item) || liveStores[base] != nil && isSidecarHere(path)
            let store = try backup.items { $0 == base }.first
            let isOfOther =
                try store.map { try backup.isStore($0) && backup.isSidecar(item) } ?? false
            guard !isOfLive, !isOfOther else {
                throw PartError.partOfStore(path.description, store: base.description)
            }
        }
    }

    /// Whether a file beside a database in the stores directory belongs to SQLite.
    func isSidecarHere(_ path: RelativePath) throws -> Bool {
        // A symbolic link in place of a directory leads elsewhere.
        guard let info = try FileInfo.inside(live.path, path),
            try FileInfo.ifPresent(path.below(live.path)) == info
        else { return false }
        let parent = try Directory.open(path.parent?.below(live.path) ?? live.path)
        return Store.mayBeSidecar(at: path, in: parent)
    }

    // MARK: - External data

    /// Returns the files that columns of the named stores name, and the directories above them.
    private func externalFiles() throws -> Set<RelativePath> {
        var paths: Set<RelativePath> = []
        for files in naming where stores.contains(files.store) {
            do {
                paths.formUnion(try backup.store(files.store.description).paths(of: files).paths)
            } catch let error as StoreError {
                context.warn("the files of '\(files.text)' are not known: \(error)")
            }
        }
        let above = paths.flatMap { Array(sequence(first: $0, next: \.parent)) }
        return Set(above).filter { !names.contains($0) }
    }

    /// Returns a store that is not named and whose external data the path belongs to; `nil` if there is none.
    func owner(of path: RelativePath) -> Store? {
        sequence(first: path, next: \.parent).flatMap { owners[$0] ?? [] }
            .filter { !names.contains($0.path) }
            .min { $0.path < $1.path }
    }

    /// Adds the entries that are missing or different in the stores directory.
    private mutating func merge(_ items: [Item], ofStore isOfStore: Bool) throws {
        for item in items.sorted(by: { $0.attributes.path < $1.attributes.path }) {
            try context.checkCancellation()
            let (path, kind) = (item.attributes.path, item.attributes.kind)
            guard let info = try FileInfo.inside(live.path, path) else {
                try exchange(path)
                missing.insert(try place(of: path))
                try take(item)
                continue
            }
            if kind == .directory {
                guard info.kind == .directory else {
                    throw PartError.obstructed(path.description, at: path.below(live.path))
                }
                continue
            }
            if kind == .file, info.kind == .file,
                try KnownContent(item).isContent(of: path.below(live.path), context)
            {
                same.append((path, info))
                continue
            }
            if isOfStore, let other = owner(of: path) {
                throw PartError.shared(path.description, store: other.path.description)
            }
            try exchange(path)
            try take(item)
        }
    }
}
