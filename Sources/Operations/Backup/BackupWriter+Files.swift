internal import Archives
internal import Backups
internal import Files
internal import Stores

/// The tries to read a file that changes meanwhile.
private let triesForAFile = 3

/// The refused files after which no other thread reads any: some file systems tell otherwise of each file once it is open.
private let mostRefused = 1_000

/// Everything besides the stores.
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
            // It is in the archive already: the cut had to hold it.
            guard !addedSupport.contains(path) else { return .skip }
            return try visit(WalkedFile(path: path, directory: file.directory, info: file.info))
        }
    }

    func visit(_ file: WalkedFile) throws -> WalkChoice {
        guard !storeFiles.contains(file.path), !isLeftOut(file) else { return .skip }
        if file.path.parent == nil, directory.leavesOut(file.name, file.info) {
            if file.info.kind != .directory {
                context.note("'\(file.path)' is left out: restores work under that name")
            }
            return .skip
        }
        guard !isReserved(file.path) else {
            context.note("'\(file.path)' is left out: every archive has its own")
            return .skip
        }
        // A directory's name gets a slash at its end.
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
            try add(attributes(file.path, .directory, file.info))
            if cut != nil { addedDirectories.insert(file.path) }
        case .link: try addLink(file)
        case .file: try addWaiting(file)
        case .special(let what):
            context.note("'\(file.path)' is left out: \(what) cannot be in an archive")
        }
        return .descend
    }

    private func addLink(_ file: WalkedFile) throws {
        try telling(file.path) {
            let target = try reading { try file.directory.linkTarget(file.name) }
            try add(attributes(file.path, .link, file.info), content: target)
        }
    }

    /// Adds a file, which another thread reads if it is short and nothing depends on it; `addRefused` adds those that
    /// ask for more care.
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
            // The cut would have a store, if it had been there.
            !DatabaseHeader.begins($0)
        }
        try context.advance(file.info.size)
        if archive.refusedCount > mostRefused {
            readsAhead = false
            try addRefused()
        }
    }

    /// Adds the files that were not as the walk came upon them, one by one.
    func addRefused() throws {
        for attributes in archive.takeRefused() {
            try context.checkCancellation()
            try telling(attributes.path) {
                let (parent, info) = try reading {
                    let parent = try open(attributes.path.parent)
                    return (parent, try parent.info(attributes.path.name))
                }
                try addFile(WalkedFile(path: attributes.path, directory: parent, info: info))
            }
        }
        try archive.drain()
    }

    /// Whether a file may be SQLite's own, beside a store of which the archive has the content.
    private func mayBeSidecar(_ path: RelativePath) -> Bool {
        Store.database(ofFileBeside: path).map(cutStores.contains) ?? false
    }

    /// Adds a file as it is at one moment: reads it again if it changed meanwhile, and reports it if it
    /// does so every time.
    func addFile(_ file: WalkedFile) throws {
        try telling(file.path) {
            for attempt in 1...triesForAFile
            where try add(file, acceptingChanges: attempt == triesForAFile) {
                // Nobody asks for later ones, and there may be a million.
                if cut != nil { addedFiles.insert(file.path) }
                return
            }
        }
    }

    /// Runs `body`, and reports that the file cannot be read if so, unless it is gone.
    private func telling(_ path: RelativePath, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as ReadFailure where failure.error.isMissing {
        } catch let failure as ReadFailure {
            note(.unreadable, path, failure.error.description)
        }
    }

    /// An error in reading what is backed up; one in writing the archive is another matter.
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

    private func add(_ walked: WalkedFile, acceptingChanges: Bool) throws -> Bool {
        // SQLite's own may come while the archive is written. The archive has the store without them: a journal of
        // a later transaction would be rolled back into the store as soon as somebody opens what was restored.
        let mayBeSidecar = mayBeSidecar(walked.path)
        if !mayBeSidecar, try addUnread(walked) { return true }
        let (file, info) = try reading { try walked.directory.fileAndInfo(walked.name) }
        if mayBeSidecar, try reading({ try Store.isSidecar(file, at: walked.path) }) { return true }
        var (changed, isNewStore) = (false, false)
        func isStill() throws -> Bool {
            changed = try reading { try file.info() } != info
            return !changed || acceptingChanges
        }
        func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int {
            let count = try advance { try reading { try file.read(into: buffer, at: offset) } }
            // It has become one since it was looked at: it is given up, and looked at again.
            if mayBeSidecar, offset == 0 {
                let start = [UInt8](buffer.prefix(min(count, 8)))
                if Store.isSidecar(start, size: info.size, at: walked.path) { return 0 }
            }
            // The cut would have it, if it had been there.
            if offset == 0, !storeFiles.contains(walked.path),
                !leftOut.stores.contains(where: { $0.path == walked.path }),
                DatabaseHeader.begins(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            {
                guard isLastTry else {
                    throw CutAgain(reason: "'\(walked.path)' turned out to be a store")
                }
                isNewStore = true
            }
            guard count < buffer.count, acceptingChanges else { return count }
            // It was truncated while it was read; the archive gets zeros, and the problem is told.
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
            identity: acceptingChanges ? nil : identity(of: walked, info),
            isStill: isStill,
            read: read
        )
        if wasAdded, changed || isNewStore {
            let reason =
                isNewStore
                ? "it was made after the cut; its files are saved as they are, at no single moment"
                : "it changed every time it was read; the archive may mix two states of it"
            note(.neverStill, walked.path, reason)
        }
        return wasAdded
    }
}
