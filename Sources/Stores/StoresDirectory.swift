public import Files
public import SystemPackage

/// The directory that is backed up and restored.
public struct StoresDirectory: Sendable {
    /// The directory's path, without symbolic links.
    public let path: FilePath
    /// Whether the directory is a mount point, such as a container's volume or a disk.
    public let isMountPoint: Bool

    /// The directory at the top that belongs to restores.
    ///
    /// They stage in it if they cannot stage beside the stores directory, and keep in it what they could not remove.
    public static let restoreArea: FileName = ".grocerydude-restore"

    /// The result of a first look at the directory.
    public struct Survey: Sendable {
        /// The databases, in the order of their paths.
        public var stores: [Store] = []
        /// The number of files, directories and links.
        public var fileCount = 0
        /// The number of regular files among them.
        public var regularFileCount = 0
        /// The number of bytes in all regular files.
        public var size: Int64 = 0
        /// The number of bytes in all regular files that lie outside of holes.
        public var allocated: Int64 = 0
        /// The paths that belong to stores: their databases, and SQLite's files beside them.
        public var storeFiles: Set<RelativePath> = []
        /// The databases that do not begin as SQLite's do, but have SQLite's log or journal beside them.
        ///
        /// They are encrypted, or in their first transaction.
        public var foreign: [Store] = []
        /// The paths that belong to the databases in `foreign`.
        public var foreignFiles: Set<RelativePath> = []
        /// The files with a database's name and size or SQLite's log beside them, with their sizes in bytes.
        ///
        /// Whatever their content: they may be encrypted databases.
        public var resembling: [RelativePath: Int64] = [:]
        /// Whether there are any.
        public var resemblesStore: Bool { !resembling.isEmpty }
        /// The paths that could not be read, with the errors; there may be stores among them.
        public var failures: [(path: RelativePath, error: any Error)] = []
        /// The files and directories that the walk left out.
        public var leftOut = LeftOut()
        /// The links to stores that are not in the directory, and were not followed.
        public var outside: [OutsideLink] = []
    }

    /// Opens the directory.
    ///
    /// - Throws: `FileError` if it does not exist, or is not a directory.
    public init(_ path: FilePath) throws {
        self.path = try path.resolved()
        _ = try Directory.open(self.path)
        isMountPoint = try self.path.isMountPoint()
    }

    /// Walks through the directory, and reads the beginning of every file to find the stores.
    ///
    /// - Parameters:
    ///   - leavingOut: the files to leave out; a store is left out with all of its files.
    ///   - links: the treatment of links that lead out of the directory to stores.
    ///   - threads: the number of threads that read the beginnings of many files.
    ///   - passesOver: a closure that returns whether to skip the content of a file: it is known to be no store, or
    ///     is read later.
    ///   - isCancelled: a closure that is called now and then, and throws to stop.
    /// - Returns: the result; files that cannot be read or opened are failures in it, not stores.
    /// - Throws: `FileError` if the directory cannot be listed; any error of the closures.
    public func survey(
        leavingOut: LeavingOut = .nothing,
        links: OutsideLink.Treatment = .ignored,
        threads: Int = 1,
        passesOver: (WalkedFile) throws -> Bool = { _ in false },
        isCancelled: () throws -> Void = {}
    ) throws -> Survey {
        var survey = Survey()
        var sidecars: [RelativePath] = []
        let search = StoreSearch(threads: threads) { file, isStore in
            switch isStore {
            case .success(let isStore): if isStore { survey.add(file, in: self) }
            case .failure(let error as FileError) where error.isMissing: break
            case .failure(let error): survey.failures.append((file.path, error))
            }
        }
        defer { search.close() }
        try Directory.open(path).walk(failed: { survey.failures.append(($0, $1)) }) { file in
            try isCancelled()
            if file.path.parent == nil, leavesOut(file.name, file.info) { return .skip }
            guard !leavingOut.leavesOut(file) else {
                let isStore = (try? file.info.kind == .file && Self.isStore(file)) ?? false
                survey.leftOut.add(file, asStoreIn: isStore ? path : nil)
                return .skip
            }
            survey.fileCount += 1
            if file.info.kind == .link, links != .ignored, let link = outside(file) {
                survey.add(link, in: self, isFollowed: links == .followed)
            }
            guard file.info.kind == .file else { return .descend }
            survey.regularFileCount += 1
            survey.size += file.info.size
            survey.allocated += min(file.info.size, file.info.allocated)
            if Self.resemblesStore(file) { survey.resembling[file.path] = file.info.size }
            if Store.logOwner(of: file.path) != nil { sidecars.append(file.path) }
            // The size is no evidence: SQLite opens a database with a torn page at its end. A database that was
            // truncated within its header is a damaged store.
            if file.info.size > 0, try !passesOver(file) { try search.look(at: file) }
            return .descend
        }
        try search.finish()
        if links == .followed { survey.stores.sort { $0.path < $1.path } }
        survey.failures.sort { $0.path < $1.path }
        for path in sidecars { try survey.add(besides: path, in: self, leavingOut) }
        survey.removePartsOfLeftOutStores()
        return survey
    }

    /// Returns whether a file begins as a database does.
    ///
    /// - Throws: `FileError` if it cannot be read, or does not exist any more.
    static func isStore(_ file: WalkedFile) throws -> Bool {
        guard file.info.size > 0 else { return false }
        return try DatabaseHeader.begins(
            DatabaseHeader.start(of: file.directory.fileOfAnyKind(file.name))
        )
    }

    /// Returns whether a file has the name of a database, and a size of whole pages.
    private static func resemblesStore(_ file: WalkedFile) -> Bool {
        file.info.size > 0 && file.info.size % 512 == 0 && hasDatabaseName(file)
    }

    /// Returns whether a file has the name of a database.
    public static func hasDatabaseName(_ file: WalkedFile) -> Bool {
        ["db", "db3", "realm", "sqlite", "sqlite3", "sqlitedb"]
            .contains(FilePath(file.name.description).extension?.lowercased())
    }

    /// Returns whether an entry at the top of the directory is not part of its data.
    ///
    /// It is neither backed up nor replaced. Such entries are the restore area, staging of a killed run, and a file
    /// system's `lost+found` (mklost+found(8)).
    public func leavesOut(_ name: FileName, _ info: FileInfo) -> Bool {
        name == Self.restoreArea
            || info.kind == .directory && ScratchDirectory.isScratch(name)
            || name == "lost+found" && info.kind == .directory && info.owner == 0 && isMountPoint
    }

    /// Returns information about the database of a log or journal that belongs to no known store.
    ///
    /// - Returns: `nil` if the file is not SQLite's log or journal by name and content, or has no database.
    /// - Throws: `FileError`.
    public func foreignDatabase(of path: RelativePath) throws -> FileInfo? {
        guard let owner = Store.logOwner(of: path),
            let info = try FileInfo.ifPresent(owner.below(self.path)), info.kind == .file,
            (try? Store.isSidecar(File.open(path.below(self.path)), at: path)) == true
        else { return nil }
        return info
    }

    /// Returns whether a file beside a database is SQLite's own, by its content and not by its name alone.
    ///
    /// Someone may keep a diary called `notes-journal` beside a database called `notes`.
    fileprivate func isSidecar(_ path: RelativePath, in directory: Directory) -> Bool {
        // SQLite's own files are regular files.
        guard let info = try? directory.info(path.name), info.kind == .file else { return false }
        // An unreadable file must not be archived beside a store that already has its content.
        return (try? Store.isSidecar(directory.file(path.name), at: path)) ?? true
    }
}

extension StoresDirectory.Survey {
    /// Passes over the databases whose paths cannot be in a backup; their files count as no store's.
    public mutating func passOver(where isPassedOver: (RelativePath) -> Bool) {
        stores.removeAll { isPassedOver($0.path) }
        foreign.removeAll { isPassedOver($0.path) }
        storeFiles = storeFiles.filter { !isPassedOver($0) }
        foreignFiles = foreignFiles.filter { !isPassedOver($0) }
        resembling = resembling.filter { !isPassedOver($0.key) }
    }

    /// Adds a link that leads out of the directory: as a store if it leads to one and is to be followed.
    fileprivate mutating func add(
        _ link: OutsideLink,
        in directory: StoresDirectory,
        isFollowed: Bool
    ) {
        guard isFollowed, link.end == .store else { return outside.append(link) }
        stores.append(
            Store(
                path: link.path,
                directory: directory.path,
                identity: link.info.identity,
                target: link.target
            )
        )
        storeFiles.insert(link.path)
        size += link.info.size
    }

    /// Adds the database of a log or journal, unless it is known, or left out.
    ///
    /// A journal comes and goes with each transaction: its database may be known although the journal is not.
    fileprivate mutating func add(
        besides path: RelativePath,
        in directory: StoresDirectory,
        _ leavingOut: LeavingOut
    ) throws {
        guard !storeFiles.contains(path), let owner = Store.logOwner(of: path),
            !foreignFiles.contains(path), let info = try? directory.foreignDatabase(of: path),
            try !leavingOut.leavesOut(owner, in: directory.path)
        else { return }
        if storeFiles.contains(owner) { return _ = storeFiles.insert(path) }
        if foreignFiles.contains(owner) { return _ = foreignFiles.insert(path) }
        let store = Store(path: owner, directory: directory.path, identity: info.identity)
        let files = Store.paths(beside: owner).filter { path in
            (try? Store.isSidecar(File.open(path.below(directory.path)), at: path)) ?? false
        }
        // The walk may have skipped this file.
        let start = try? DatabaseHeader.start(of: File.open(store.location))
        if DatabaseHeader.begins(start ?? []) {
            stores.append(store)
            storeFiles.formUnion([owner] + files)
        } else {
            foreign.append(store)
            resembling[owner] = info.size
            foreignFiles.formUnion([owner] + files)
        }
    }

    /// Adds a store, and SQLite's files beside it.
    fileprivate mutating func add(_ file: WalkedFile, in directory: StoresDirectory) {
        stores.append(
            Store(path: file.path, directory: directory.path, identity: file.info.identity)
        )
        storeFiles.insert(file.path)
        for path in Store.paths(beside: file.path)
        where directory.isSidecar(path, in: file.directory) {
            storeFiles.insert(path)
        }
    }
}
