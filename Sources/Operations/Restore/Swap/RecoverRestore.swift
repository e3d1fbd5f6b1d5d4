public import Files
internal import Stores
public import SystemPackage

/// Finishes or undoes a restore that a crash interrupted.
///
/// Every command does this first.
public struct RecoverRestore: Sendable {
    private let stores: FilePath
    private let fileSystem: any FileSystem
    private let context: OperationContext

    public init(
        of stores: FilePath,
        context: OperationContext,
        fileSystem: any FileSystem = LocalFileSystem()
    ) {
        self.stores = stores
        self.context = context
        self.fileSystem = fileSystem
    }

    /// Does it, if there is anything to do and no other run is at it.
    ///
    /// - Throws: `OperationError.cannotRecover`; `.unsettled` and `.refusedInUse`, after which all is as
    ///   it was found; `FileError`.
    public func run() async throws {
        for layout in RestorePaths.Layout.allCases {
            guard let paths = try RestorePaths(resolving: stores, layout), try paths.hasTraces()
            else { continue }
            do {
                let locks = try await RestoreLocks.acquire(paths, wait: .zero, context)
                try withExtendedLifetime(locks) { try runLocked(paths) }
            } catch FileError.locked {
                // It is no wreck, it is running.
            }
        }
    }

    /// Does it in one layout, for a caller that has the locks.
    func runLocked(_ paths: RestorePaths) throws {
        var context = context
        // To stop in the middle of it would only leave it to the next run again.
        context.checkCancellation = {}
        let recovery = try paths.layout.swap.recover(
            paths,
            with: fileSystem,
            judge: RestoreJudge(of: paths.live, context)
        )
        let draft = LocalFileSystem.draft(of: paths.journal)
        if try FileInfo.ifPresent(draft) != nil { try fileSystem.remove(draft) }
        guard let recovery else { return }
        tell(recovery, context)
        try recovery.swap.conclude()
    }

    private func tell(_ recovery: RestoreRecovery, _ context: OperationContext) {
        let journal = recovery.swap.journal
        let backup = journal.backup
        switch recovery.end {
        case .finished(let leftover):
            context.report(.note("finished the restore of '\(backup)', which was interrupted"))
            if let leftover { context.report(.leftover(leftover)) }
        case .undone(let refused, let error):
            let reason = error.map { ", since \(explain($0))" } ?? ""
            let state =
                refused.map { "what was refused is in '\(printable($0))'" }
                ?? "your data is as it was before it"
            context.report(
                .note("undid the restore of '\(backup)', which was interrupted\(reason); \(state)")
            )
        case .settled: break
        }
        if journal.isApplicationStopped ?? false {
            context.report(
                .warning(
                    "the application was stopped for the restore of '\(backup)', which was interrupted: start it"
                )
            )
        }
    }
}

extension RestoreJudge {
    /// How long to wait for a writer that lets nobody read.
    private static let busyTimeout = Duration.seconds(5)

    /// Judges after a crash: applications may have opened the stores since.
    ///
    /// Only stores that are damaged or lost have to go. All else that may fail says nothing of them.
    fileprivate init(of live: FilePath, _ context: OperationContext) {
        refusal = { journal in
            try Self.settling(journal, live) {
                try StoresDirectory(live).refusalUnderUse(journal, Self.busyTimeout, context)
            }
        }
        refusalOfHalf = { journal, error in
            // Somebody else's file is in the way, which has words of its own.
            if case FileError.exists = error { throw error }
            throw OperationError.unsettled(backup: journal.backup, live, error)
        }
        allowsRollBack = { journal, refusal in
            do {
                try Self.settling(journal, live) {
                    try StoresDirectory(live).refuseIfAnyFileIsInUse()
                }
            } catch OperationError.unsettled(_, _, let use as OperationError) {
                throw OperationError.refusedInUse(
                    backup: journal.backup,
                    live,
                    refusal: refusal,
                    use: use
                )
            }
        }
    }

    private static func settling<Result>(
        _ journal: RestoreJournal,
        _ live: FilePath,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            throw OperationError.unsettled(backup: journal.backup, live, error)
        }
    }
}

extension StoresDirectory {
    /// Looks at the stores that a restore has put in place, though others may be using them.
    ///
    /// - Returns: why they have to go: one is damaged, where damage was not allowed, or some are lost;
    ///   `nil` where they are good.
    /// - Throws: `StoreError`, `FileError` where a store could not be looked at.
    fileprivate func refusalUnderUse(
        _ journal: RestoreJournal,
        _ busyTimeout: Duration,
        _ context: OperationContext
    ) throws -> (any Error)? {
        let survey = try survey()
        // What may not be read, as its permissions were saved, was not counted when it was staged; but
        // that may have been somebody else, who could.
        var failure = survey.failures.first { !$0.error.isPermissionDenied }?.error
        for store in survey.stores {
            do {
                try store.open(scratchParent: context.scratch, busyTimeout: busyTimeout)
            } catch StoreError.damaged(let name, let reason) {
                let error = StoreError.damaged(name, reason: reason)
                guard journal.allowsDamage ?? false else { return error }
                context.report(.note("\(error), and restored all the same"))
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        let (found, expected) = (survey.stores.count, journal.stores ?? 0)
        guard found < expected else { return nil }
        if let denied = survey.failures.first { throw denied.error }
        return OperationError.storesLost(path, found: found, expected: expected)
    }

    /// Looks for processes that have any file in the directory open: what is damaged may not even look
    /// like a store.
    ///
    /// - Throws: `OperationError.storesInUse`; `FileError` where that cannot be told.
    fileprivate func refuseIfAnyFileIsInUse() throws {
        func pass(_ error: any Error) throws {
            // What we may not read is not ours to tell of; the system's list may know.
            guard error.isPermissionDenied else { throw error }
        }
        var files: [Store] = []
        try Directory.open(path).walk(failed: { try pass($1) }) { file in
            if file.path.parent == nil, leavesOut(file.name, file.info) { return .skip }
            guard file.info.kind == .file else { return .descend }
            files.append(Store(path: file.path, directory: path, identity: file.info.identity))
            return .descend
        }
        try Store.refuseIfInUse(files) { error in
            if !error.isMissing { try pass(error) }
        }
    }
}

extension Error {
    fileprivate var isPermissionDenied: Bool {
        if case .failed(_, _, .permissionDenied)? = self as? FileError { true } else { false }
    }
}

/// The locks of a restore, in their order: the directory that holds the stores directory, so that
/// two restores cannot meet while it is away, then the stores directory itself.
///
/// A stores directory that stays where it is needs no lock but its own.
struct RestoreLocks {
    let parent: FileLock?
    let live: FileLock?

    static func acquire(
        _ paths: RestorePaths,
        wait: Duration,
        _ context: OperationContext
    ) async throws -> RestoreLocks {
        var context = context
        context.lockWait = wait
        let parent = paths.layout == .beside ? try await context.lock(paths.area) : nil
        let isThere = try FileInfo.ifPresent(paths.live) != nil
        return RestoreLocks(
            parent: parent,
            live: isThere ? try await context.lock(paths.live) : nil
        )
    }
}

extension StoresDirectory {
    /// Checks every store in a directory that nobody uses.
    ///
    /// - Parameters:
    ///   - level: how thoroughly.
    ///   - isStrict: whether a remark is damage.
    ///   - context: what the operation is given.
    ///   - remark: receives what was found and is no damage.
    ///   - tolerating: whether to go on though a store is damaged; throws if not.
    /// - Returns: how many there are.
    /// - Throws: `StoreError`, `FileError`, `CancellationError`; what `tolerating` throws.
    @discardableResult
    func checkStores(
        _ level: CheckLevel,
        isStrict: Bool = false,
        _ context: OperationContext,
        remark: (String) -> Void = { _ in },
        tolerating: (StoreError) throws -> Void = { throw $0 }
    ) throws -> Int {
        let survey = try survey()
        // A store that cannot be opened looks like no store at all. What its owner may not read, as
        // its permissions were saved, is left at that.
        for failure in survey.failures {
            if failure.error.isPermissionDenied { continue }
            throw failure.error
        }
        let stores = survey.stores
        for store in stores {
            try context.checkCancellation()
            do {
                let remarks = try store.check(
                    level,
                    isStrict: isStrict,
                    scratchParent: context.scratch,
                    checkCancellation: context.checkCancellation
                )
                for finding in remarks { remark("'\(store.path)': \(finding)") }
            } catch let error as StoreError {
                try tolerating(error)
            }
        }
        return stores.count
    }

    /// Opens every store where a restore has put it.
    ///
    /// From the exchange on nobody may interrupt us: half of a restore that succeeded is worth
    /// nothing.
    ///
    /// There are file systems that lose what was written when its directory is renamed, and a file of
    /// no bytes is no store that could fail: they are counted.
    ///
    /// - Parameters:
    ///   - expected: how many stores were staged and checked.
    ///   - context: what the operation is given.
    ///   - tolerating: whether to go on though a store is damaged; throws where not.
    /// - Throws: `StoreError`, `FileError`; `OperationError.storesLost`.
    func checkInPlace(
        expecting expected: Int,
        _ context: OperationContext,
        tolerating: (StoreError) throws -> Void = { throw $0 }
    ) throws {
        var context = context
        context.checkCancellation = {}
        let found = try checkStores(.none, context, tolerating: tolerating)
        guard found >= expected else {
            throw OperationError.storesLost(path, found: found, expected: expected)
        }
    }
}
