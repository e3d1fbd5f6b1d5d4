internal import Backups
internal import Files
internal import Foundation
internal import Stores
internal import SystemPackage

/// All stores of a stores directory as of one moment.
///
/// Each has an open read transaction, or holds a lock, until the cut is released.
struct BackupCut {
    /// The directory as it was before the cut.
    let survey: StoresDirectory.Survey
    /// The stores that can be read.
    let members: [StoresCut.Member]
    /// The databases that SQLite does not read, with the reason: their files are saved as they are.
    ///
    /// An encrypted database has no reason.
    private(set) var unopened: [(store: Store, error: (any Error)?)] = []
    /// The linked databases that could not be read: only the links to them are saved.
    private(set) var problems: [Problem] = []
    /// The stores that disappeared before the cut, or whose link is saved instead.
    ///
    /// If one comes back, it is in no cut.
    private var gone: [Store] = []
    /// The disk state of each store's files before the cut; `nil` for a store that was just written.
    let standing: [RelativePath: String]

    /// Makes a cut, and tries again while a writer locks a store.
    ///
    /// - Parameters:
    ///   - directory: the stores directory.
    ///   - options: the options of the backup.
    ///   - passesOver: returns whether the search for stores can skip a file.
    ///   - context: the context of the operation.
    /// - Returns: the cut; each store stays as of one moment until it is released.
    /// - Throws: `StoreError.busy` if a store that a restore must replace was locked all the time.
    static func make(
        of directory: StoresDirectory,
        for options: BackupOptions,
        passingOver passesOver: (WalkedFile) throws -> Bool,
        _ context: OperationContext
    ) async throws -> BackupCut {
        let deadline = ContinuousClock.now + options.busyTimeout
        while true {
            try context.checkCancellation()
            let isLast = ContinuousClock.now >= deadline
            do {
                return try BackupCut(
                    of: directory,
                    for: options,
                    leavingOutBusy: isLast && !options.isBeforeRestore,
                    passesOver,
                    context
                )
            } catch let error as StoreError {
                guard case .busy = error, !isLast else { throw error }
                // Release everything meanwhile, so that two runs cannot deadlock.
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private init(
        of directory: StoresDirectory,
        for options: BackupOptions,
        leavingOutBusy: Bool,
        _ passesOver: (WalkedFile) throws -> Bool,
        _ context: OperationContext
    ) throws {
        var survey = try directory.survey(
            leavingOut: options.leavingOut,
            links: options.isSafety ? .ignored : options.followsLinks ? .followed : .reported,
            threads: context.threads,
            passesOver: passesOver,
            isCancelled: context.checkCancellation
        )
        survey.passOver(where: Manifest.isOwn)
        self.survey = survey
        let leavesOut = options.leavingOut
        if let info = try FileInfo.ifPresent(Manifest.reserved.below(directory.path)),
            info.kind == .file || info.kind == .link,
            try !leavesOut.leavesOut(Manifest.reserved, in: directory.path)
        {
            problems.append(.reserved)
        }
        standing = survey.stores.reduce(into: [:]) { standing, store in
            standing[store.path] = store.standing(at: options.date)
        }
        let cut = try StoresCut(
            of: survey.stores,
            scratchParent: context.scratch,
            busyTimeout: .seconds(1),
            leavingOutBusy: leavingOutBusy
        )
        members = cut.members
        unopened = survey.foreign.map { ($0, nil) }
        for failure in cut.failures { try add(failure) }
        for store in survey.stores where Self.hasLockDirectory(store) {
            context.note(
                "'\(store.path).lock' exists: the program that made it may write to '\(store.path)' without SQLite's locks"
            )
        }
        if !cut.isOneMoment {
            context.note("writers did not pause: the stores are cut a moment apart")
        }
    }

    /// The paths of existing stores that could not be read.
    var unreadableStores: Set<ExactString> {
        Set(survey.stores.map(\.path.description.exact)).subtracting(
            members.map(\.store.path.description.exact)
        )
    }

    /// The paths of the stores in this cut, and of SQLite's files beside them.
    var storeFiles: Set<RelativePath> {
        gone.reduce(into: survey.storeFiles.union(survey.foreignFiles)) { $0.subtract($1.files) }
    }

    /// Returns the sums of the files that belong to no store that can be read.
    func otherFiles(in directory: StoresDirectory) -> OtherFiles {
        let databases = survey.resembling.filter { !survey.storeFiles.contains($0.key) }
        let apart = survey.storeFiles.union(survey.foreignFiles).union(databases.keys)
        let sizes = apart.compactMap { path -> Int64? in
            let info = try? FileInfo.ifPresent(path.below(directory.path))
            return info.flatMap { $0.kind == .file ? $0.size : nil }
        }
        return OtherFiles(
            files: Int64(max(0, survey.regularFileCount - sizes.count)),
            bytes: max(0, survey.size - sizes.reduce(0, +)),
            databases: databases.map { .init(path: $0.description, bytes: $1) }
        )
    }

    /// Whether the lock of SQLite's unix-dotfile VFS exists, which is a directory.
    private static func hasLockDirectory(_ store: Store) -> Bool {
        let path = store.path.sibling(store.path.name.appending(".lock"))
        return (try? FileInfo.ifPresent(path.below(store.directory)))??.kind == .directory
    }

    private mutating func add(_ failure: StoresCut.Failure) throws {
        switch failure.error {
        case let error as StoreError where failure.store.target != nil:
            gone.append(failure.store)
            let reason = "\(error); only the link to it is saved"
            let path = failure.store.path.description
            problems.append(Problem(kind: .unreadable, path: path, reason: reason))
        case let error as FileError
        where try error.isMissing && FileInfo.ifPresent(failure.store.location) == nil:
            gone.append(failure.store)
        case let error as FileError where error.isNoSpace: throw error
        case let error: unopened.append((failure.store, error))
        }
    }
}

// The cut as a list, for a plan that saves nothing.
extension BackupCut {
    /// The problems that are known before any data is read.
    var knownProblems: [Problem] {
        let failures = survey.failures.map { failure in
            Problem(
                kind: .unreadable,
                path: failure.path.description,
                reason: explain(failure.error)
            )
        }
        let unread = unopened.compactMap { store, error in
            error.map {
                Problem(kind: .damagedStore, path: store.path.description, reason: explain($0))
            }
        }
        return problems + failures + unread
    }

    /// Lists everything that a backup has in it, a store without SQLite's files beside it.
    ///
    /// - Throws: `FileError` if the directory cannot be listed; `CancellationError`.
    func files(
        in directory: StoresDirectory,
        leavingOut: LeavingOut,
        _ context: OperationContext
    ) throws -> [ShowBackup.File] {
        let pairs = members.map { ($0.store.path, $0.snapshot.size) }
        let sizes = Dictionary(pairs) { first, _ in first }
        var files: [ShowBackup.File] = []
        try Directory.open(directory.path).walk(failed: { _, _ in }) { file in
            try context.checkCancellation()
            let path = file.path
            if path.parent == nil, directory.leavesOut(file.name, file.info) { return .skip }
            if survey.leftOut.parts.contains(path) || leavingOut.leavesOut(file) { return .skip }
            if file.info.kind != .directory, Manifest.isOwn(path) { return .skip }
            if storeFiles.contains(path), let store = Store.database(ofFileBeside: path),
                sizes[store] != nil
            {
                return .skip
            }
            if let note = file.exclusionNote { context.note(note) }
            if let found = ShowBackup.File(file, ofStore: sizes[path]) { files.append(found) }
            return .descend
        }
        return files
    }
}

extension StoresCut.Member {
    /// Returns the files that a store's rows refer to, and that are not there.
    func missingFiles(_ report: StoreReport, in directory: FilePath) -> Set<RelativePath> {
        externalFiles(report).filter { FileInfo.isMissing($0.below(directory)) }
    }

    /// Returns the files of external data that a store's rows refer to.
    func externalFiles(_ report: StoreReport) -> Set<RelativePath> {
        let names = report.externalReferences.compactMap { try? RelativePath($0).name }
        return report.externalFiles.union(names.map(store.externalDataDirectory.appending))
    }
}

/// An error for a change during the writing of an archive that requires a new cut.
struct CutAgain: ExplainedError {
    var reason: String
    /// The missing files of external data; if they are missing again, they are not about to appear.
    var missing: Set<RelativePath>?

    var description: String { "\(reason) while it was backed up, every time that was tried" }
    var hint: String? { "try again when fewer applications open and close stores" }
}

extension WalkedFile {
    /// The note on a file that no archive can have, such as a socket; `nil` for others.
    var exclusionNote: String? {
        guard case .special(let what) = info.kind else { return nil }
        return "'\(path)' is left out: \(what) cannot be in an archive"
    }
}
