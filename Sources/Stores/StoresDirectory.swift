public import Files
public import SystemPackage

/// The directory that is backed up and restored.
public struct StoresDirectory: Sendable {
    /// Its path, without symbolic links in it.
    public let path: FilePath
    /// Whether something is mounted there: a container's volume, a disk.
    public let isMountPoint: Bool

    /// The directory at its top that belongs to restores: there they stage what cannot be staged
    /// beside it, and keep what they could not remove.
    public static let restoreArea: FileName = ".grocerydude-restore"

    /// The result of a first look at the directory.
    public struct Survey: Sendable {
        /// The databases, in the order of their paths.
        public var stores: [Store] = []
        /// How many files, directories and links there are.
        public var fileCount = 0
        /// Bytes in all regular files.
        public var size: Int64 = 0
        /// The paths that belong to stores: their databases, and what SQLite keeps beside them.
        public var storeFiles: Set<RelativePath> = []
        /// The paths that could not be looked at, and why: there may be stores among them.
        public var failures: [(path: RelativePath, error: any Error)] = []
        /// Everything that was passed over.
        public var leftOut = LeftOut()
    }

    /// Opens the directory.
    ///
    /// - Throws: `FileError` if it is not there or not a directory.
    public init(_ path: FilePath) throws {
        self.path = try path.resolved()
        _ = try Directory.open(self.path)
        isMountPoint = try self.path.isMountPoint()
    }

    /// Walks through the directory, and reads the beginning of every file to tell stores from others.
    ///
    /// - Parameters:
    ///   - leavingOut: what to pass over; a store goes with all of its files.
    ///   - threads: how many read the beginnings of many files.
    ///   - passesOver: whether a file need not be looked into: it is known to be no store, or is looked into later.
    ///   - isCancelled: called now and then; throws to stop.
    /// - Returns: what was found; what cannot be read or opened is no store in it but a failure.
    /// - Throws: `FileError` if the directory cannot be listed; what the closures throw.
    public func survey(
        leavingOut: LeavingOut = .nothing,
        threads: Int = 1,
        passesOver: (WalkedFile) throws -> Bool = { _ in false },
        isCancelled: () throws -> Void = {}
    ) throws -> Survey {
        var survey = Survey()
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
            guard file.info.kind == .file else { return .descend }
            survey.size += file.info.size
            // Its size does not tell: SQLite opens a database with a torn page at its end, and one
            // that was cut off in its header is a damaged store.
            if file.info.size > 0, try !passesOver(file) { try search.look(at: file) }
            return .descend
        }
        try search.finish()
        survey.failures.sort { $0.path < $1.path }
        survey.removePartsOfLeftOutStores()
        return survey
    }

    /// Returns whether a file begins as a database does.
    ///
    /// - Throws: `FileError` if it cannot be read, or is gone.
    static func isStore(_ file: WalkedFile) throws -> Bool {
        guard file.info.size > 0 else { return false }
        return try DatabaseHeader.begins(
            DatabaseHeader.start(of: file.directory.fileOfAnyKind(file.name))
        )
    }

    /// Returns whether something at the top of the directory is no part of its data, so that it is
    /// neither backed up nor replaced: the restore area, what a killed run was about to put in place, or a file
    /// system's `lost+found` (mklost+found(8)).
    public func leavesOut(_ name: FileName, _ info: FileInfo) -> Bool {
        name == Self.restoreArea
            || info.kind == .directory && ScratchDirectory.isScratch(name)
            || name == "lost+found" && info.kind == .directory && info.owner == 0 && isMountPoint
    }

    /// Returns whether a file beside a database is SQLite's own, by its content and not by its name
    /// alone: someone may keep a diary called `notes-journal` beside a database called `notes`.
    fileprivate func isSidecar(_ path: RelativePath, in directory: Directory) -> Bool {
        // SQLite's own are regular files.
        guard let info = try? directory.info(path.name), info.kind == .file else { return false }
        // A file that cannot be read must not be archived beside a store that has its content.
        return (try? Store.isSidecar(directory.file(path.name), at: path)) ?? true
    }
}

extension StoresDirectory.Survey {
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
