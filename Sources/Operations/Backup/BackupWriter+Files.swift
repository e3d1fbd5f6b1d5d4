internal import Archives
internal import Backups
internal import Files
internal import Stores

/// The number of tries to read a file that changes meanwhile.
private let triesForAFile = 3

/// The number of tries to read a database and its log while they do not change.
private let triesForFiles = 5

/// The number of times that directories are read again whose names changed meanwhile.
private let triesForNames = 5

/// The number of refused files after which other threads read no more.
///
/// Some file systems report other attributes once a file is open.
private let mostRefused = 1_000

/// The entries other than the stores.
extension BackupWriter {
    /// Adds everything below a path, or below the stores directory.
    func walk(from start: RelativePath?) throws {
        let root = try open(start)
        func full(_ path: RelativePath) -> RelativePath {
            guard let start else { return path }
            return path.components.reduce(start) { $0.appending($1) }
        }
        try root.walk { path, error in
            note(.unreadable, full(path), explain(error))
        } visit: { file in
            try context.checkCancellation()
            let path = full(file.path)
            // The file is already in the archive, added under the cut.
            guard !addedSupport.contains(path), !visited.contains(path) else { return .skip }
            let walked = WalkedFile(path: path, directory: file.directory, info: file.info)
            let choice = try visit(walked)
            if cut == nil { visited.add(walked, isEntered: choice == .descend) }
            return choice
        }
    }

    /// Adds everything in the stores directory, also what gets another name meanwhile.
    func walkAll() throws {
        try visited.begin(in: directory.path)
        try walk(from: nil)
        for _ in 1...triesForNames {
            let changed = try visited.takeChanged(below: directory.path)
            if changed.isEmpty { return }
            for path in changed {
                do {
                    try walk(from: path)
                } catch let error as FileError where error.isMissing {
                    // It was renamed or removed, and so its parent has changed.
                }
            }
        }
    }

    func visit(_ file: WalkedFile) throws -> WalkChoice {
        guard !storeFiles.contains(file.path), !isLeftOut(file) else { return .skip }
        if file.path.parent == nil, directory.leavesOut(file.name, file.info) {
            if file.name == StoresDirectory.restoreArea, !plan.options.isSafety {
                try noting(file.path) {
                    for path in try RestorePaths.foreign(in: file) {
                        note(.unreadable, path, Problem.inRestoreArea)
                    }
                }
            }
            return .skip
        }
        if let choice = choice(ifReserved: file) { return choice }
        // A slash is added to a directory's name.
        guard file.path.bytes.count < ArchiveWriter.pathLimit else {
            let path = String(file.path.description.prefix(200)) + "…"
            let reason = "its path is longer than a zip can hold"
            problems.append(Problem(kind: .unreadable, path: path, reason: reason))
            return .skip
        }
        switch file.info.kind {
        case .directory:
            guard folderIdentity != file.info.identity else {
                throw OperationError.remoteInsideStores(plan.folder.address, directory.path)
            }
            try addDirectory(file.path, file.info)
        case .link: try addLink(file)
        case .file:
            guard try !isAddedLog(file.path) else { return .skip }
            try addWaiting(file)
        case .special:
            if let note = file.exclusionNote { context.note(note) }
        }
        return .descend
    }

    private func addLink(_ file: WalkedFile) throws {
        try noting(file.path) {
            let target = try reading { try file.directory.linkTarget(file.name) }
            try add(attributes(file.path, .link, file.info), content: target)
        }
    }

    /// Adds a file.
    ///
    /// Another thread reads it if it is short and nothing depends on it; `addRefused` adds files that need more care.
    private func addWaiting(_ file: WalkedFile) throws {
        guard readsAhead, cut == nil, file.info.size <= Int64(Segment.size),
            !mayBeSidecar(file.path)
        else { return try addFile(file) }
        if try addUnread(file) { return }
        let attributes = attributes(file.path, .file, file.info)
        let mayWait = try changes?.expectWhole(
            attributes,
            size: file.info.size,
            identity: identity(of: file, file.info)
        )
        guard mayWait ?? true else { return try addFile(file) }
        try archive.add(attributes, opening: file) {
            // A store that existed earlier would be in the cut.
            !DatabaseHeader.begins($0)
        }
        try context.advance(file.info.size)
        if archive.refusedCount > mostRefused {
            readsAhead = false
            try addRefused()
        }
    }

    /// Adds one by one the files that differed from the walk's view of them.
    func addRefused() throws {
        for attributes in archive.takeRefused() {
            try context.checkCancellation()
            try noting(attributes.path) {
                let (parent, info) = try reading {
                    let parent = try open(attributes.path.parent)
                    return (parent, try parent.info(attributes.path.name))
                }
                try addFile(WalkedFile(path: attributes.path, directory: parent, info: info))
            }
        }
        try archive.drain()
    }

    /// Whether a file may belong to SQLite, beside a store whose content is in the archive.
    private func mayBeSidecar(_ path: RelativePath) -> Bool {
        Store.database(ofFileBeside: path).map(cutStores.contains) ?? false
    }

    /// Adds a file as of one moment: reads it again if it changed meanwhile, and reports it if it changes every time.
    func addFile(_ file: WalkedFile) throws {
        try noting(file.path) {
            for attempt in 1...triesForAFile where try add(file, attempt) {
                // Only files added under the cut are needed later, and there may be a million others.
                if cut != nil { addedFiles.insert(file.path) }
                return
            }
        }
    }

    /// Runs `body`, and reports if the file cannot be read, unless it is gone.
    private func noting(_ path: RelativePath, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as ReadFailure {
            // A missing file elsewhere, as in scratch space, says nothing of this one.
            let isGone = (try? FileInfo.inside(directory.path, path) == nil) ?? false
            if failure.error.isMissing, isGone { return }
            note(.unreadable, path, failure.error.description)
        }
    }

    /// An error reading the backed-up files, as opposed to an error writing the archive.
    private struct ReadFailure: Error {
        var error: FileError
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as FileError {
            throw ReadFailure(error: error)
        }
    }

    private func add(_ walked: WalkedFile, _ attempt: Int) throws -> Bool {
        let acceptingChanges = attempt == triesForAFile
        // SQLite's own files may appear while the archive is written. The archive has the store without them: a journal
        // of a later transaction would be rolled back into the restored store as soon as it is opened.
        let mayBeSidecar = mayBeSidecar(walked.path)
        if !mayBeSidecar, try addUnread(walked) { return true }
        let (file, info) = try reading { try walked.directory.fileAndInfo(walked.name) }
        if mayBeSidecar, try reading({ try Store.isSidecar(file, at: walked.path) }) { return true }
        let live = LiveFile(file, info)
        if attempt > 1 { try reading { try live.look(context.checkCancellation) } }
        var (changed, isNewStore) = (false, false)
        func isStill() throws -> Bool {
            changed = try reading { try !live.isStill() }
            return !changed || acceptingChanges
        }
        func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int {
            let count = try advance { try reading { try live.read(into: buffer, at: offset) } }
            // The file has become SQLite's since it was examined: give it up, and examine it again.
            if mayBeSidecar, offset == 0 {
                let start = [UInt8](buffer.prefix(min(count, 8)))
                if Store.isSidecar(start, size: info.size, at: walked.path) { return 0 }
            }
            // A store that existed earlier would be in the cut.
            if offset == 0, !storeFiles.contains(walked.path),
                !leftOut.stores.contains(where: { $0.path == walked.path }),
                DatabaseHeader.begins(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            {
                guard plan.isLastTry else {
                    throw CutAgain(reason: "'\(walked.path)' turned out to be a store")
                }
                isNewStore = true
            }
            guard count < buffer.count, acceptingChanges else { return count }
            // The file was truncated while it was read: the archive gets zeros, and the problem is reported.
            UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(
                as: UInt8.self,
                repeating: 0
            )
            return buffer.count
        }
        let attributes = attributes(walked.path, .file, info)
        let wasAdded = try addContent(
            of: attributes,
            size: info.size,
            identity: attempt > 1 ? nil : identity(of: walked, info),
            isStill: isStill,
            read: read
        )
        if wasAdded, changed || isNewStore {
            let reason =
                isNewStore
                ? "it was made after the cut; its files are saved as they are, not as of one moment"
                : "it changed every time it was read; the archive may mix two states of it"
            note(.neverStill, walked.path, reason)
        }
        return wasAdded
    }
}

/// The databases that SQLite does not read, and the logs that it does not read to their end.
extension BackupWriter {
    /// Adds a database with its log or its journal as files of one moment, or reports that they are not.
    ///
    /// - Parameters:
    ///   - store: the database, to which this process has no connection.
    ///   - error: the reason why SQLite does not read it, which is a problem; `nil` if it need not be read.
    /// - Throws: `FileError` of the archive or of scratch space.
    func addUnopened(_ store: Store, since error: (any Error)?) throws {
        var isStill = true
        var wasAdded = false
        try noting(store.path) {
            for attempt in 1...triesForFiles where !wasAdded {
                try context.checkCancellation()
                let files = try reading {
                    try StoreFiles(of: store, scratchParent: context.scratch)
                }
                wasAdded = try add(files, of: store, acceptingChanges: attempt == triesForFiles)
                if wasAdded { isStill = try addSidecars(of: files) }
            }
        }
        guard wasAdded else { return }
        addedFiles.insert(store.path)
        let asFiles = "its files are saved as they are\(isStill ? "" : ", not as of one moment")"
        switch error {
        case StoreError.damaged(_, let reason)?:
            note(.damagedStore, store.path, "SQLite finds it damaged: \(reason); \(asFiles)")
        case let error?:
            note(isStill ? .damagedStore : .neverStill, store.path, "\(explain(error)); \(asFiles)")
        case nil where !isStill:
            note(.neverStill, store.path, "it changed every time it was read; \(asFiles)")
        case nil: break
        }
    }

    private func add(
        _ files: StoreFiles,
        of store: Store,
        acceptingChanges: Bool
    ) throws -> Bool {
        func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int {
            let count = try advance { try reading { try files.read(into: buffer, at: offset) } }
            guard count < buffer.count, acceptingChanges else { return count }
            // The file was truncated while it was read: the archive gets zeros, and the problem is reported.
            UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(
                as: UInt8.self,
                repeating: 0
            )
            return buffer.count
        }
        return try addContent(
            of: attributes(store.path, .file, files.info),
            size: files.info.size,
            identity: nil,
            isSnapshot: !acceptingChanges,
            isStill: { try reading { try files.isStill() } || acceptingChanges },
            read: read
        )
    }

    /// Adds the log and the journal, and returns whether they and the database are of one moment.
    private func addSidecars(of files: StoreFiles) throws -> Bool {
        try reading { try files.copySidecars() }
        for sidecar in files.sidecars {
            try add(sidecar.copy, at: sidecar.path, like: sidecar.info)
            addedFiles.insert(sidecar.path)
        }
        for failure in files.failures {
            note(.unreadable, failure.path, failure.error.description)
        }
        return try reading { try files.isStill() }
    }

    /// Adds a copy of a file; the copy does not change.
    private func add(_ copy: File, at path: RelativePath, like info: FileInfo) throws {
        _ = try addContent(
            of: attributes(path, .file, info),
            size: copy.size,
            identity: nil,
            isSnapshot: true,
            isStill: { true },
            read: { buffer, offset in try advance { try copy.read(into: buffer, at: offset) } }
        )
    }

    /// Adds a damaged log under a name under which SQLite takes no transactions from it.
    ///
    /// The store is in the archive as of the last transaction before the damage.
    func add(_ log: DamagedLog, of store: Store) throws {
        let suffix = "-wal.damaged"
        let name = store.path.name.derived(suffix)
        let names = [name] + (2...99).map { store.path.name.derived("\(suffix)-\($0)") }
        let free = try names.first {
            try FileInfo.ifPresent(store.path.sibling($0).below(directory.path)) == nil
        }
        let path = store.path.sibling(free ?? name)
        try add(log.file, at: path, like: log.file.info())
        note(
            .damagedStore,
            store.path,
            "\(log.reason), and SQLite ignores the transactions behind that; all of the log is saved as '\(path.name)'"
        )
    }

    /// Returns whether a file is the log or the journal of a database, and in the archive with it.
    ///
    /// - Throws: `CutAgain` if it appeared after the cut; in the last try, that is reported instead.
    fileprivate func isAddedLog(_ path: RelativePath) throws -> Bool {
        guard let database = Store.database(ofFileBeside: path), !cutStores.contains(database)
        else { return false }
        if addedFiles.contains(path) { return true }
        guard try directory.foreignDatabase(of: path) != nil,
            try !plan.options.leavingOut.leavesOut(database, in: directory.path)
        else { return false }
        guard plan.isLastTry else { throw CutAgain(reason: "'\(path)' was made") }
        note(.neverStill, database, "'\(path)' was made after the cut, and is of another moment")
        return false
    }
}
