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
    /// - Throws: `OperationError.cannotRecover`, `FileError`.
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
        let recovery = try paths.layout.swap.recover(paths, with: fileSystem) { staged in
            try StoresDirectory(paths.live).checkInPlace(expecting: staged ?? 0, context)
        }
        let draft = LocalFileSystem.draft(of: paths.journal)
        if try FileInfo.ifPresent(draft) != nil { try fileSystem.remove(draft) }
        switch recovery {
        case .finished(let backup, let leftover):
            context.report(.note("finished the restore of '\(backup)', which was interrupted"))
            if let leftover { context.report(.leftover(leftover)) }
        case .undone(let backup, let refused, let error):
            let reason = error.map { ", since \(explain($0))" } ?? ""
            let state =
                refused.map { "what was refused is in '\(printable($0))'" }
                ?? "your data is as it was before it"
            context.report(
                .note("undid the restore of '\(backup)', which was interrupted\(reason); \(state)")
            )
        case nil: break
        }
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
    /// - Returns: how many there are.
    @discardableResult
    func checkStores(
        _ level: CheckLevel,
        _ context: OperationContext,
        tolerating: (StoreError) throws -> Void = { throw $0 }
    ) throws -> Int {
        let survey = try survey()
        // A store that cannot be opened looks like no store at all. What its owner may not read, as
        // its permissions were saved, is left at that.
        for failure in survey.failures {
            if case FileError.failed(_, _, .permissionDenied) = failure.error { continue }
            throw failure.error
        }
        let stores = survey.stores
        for store in stores {
            try context.checkCancellation()
            do {
                try store.check(
                    level,
                    scratchParent: context.scratch,
                    checkCancellation: context.checkCancellation
                )
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
