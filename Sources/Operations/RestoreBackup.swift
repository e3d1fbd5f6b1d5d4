internal import Archives
public import Files
internal import Foundation
public import Remotes
public import Stores
public import SystemPackage

/// Puts a backup in the place of the stores directory, or somewhere else.
///
///     fetch → verify the archive → extract to Stores_New → sync → check → swap → reopen → done
///                                                                            ↘ roll back
///
/// The live directory is not touched before Stores_New is complete, on the disk and checked.
public struct RestoreBackup: Sendable {
    /// What may be chosen.
    public struct Options: Sendable {
        /// How the staged stores are checked.
        public var check: CheckLevel = .quick
        /// Whether a damaged store is restored all the same.
        public var allowsDamage = false
        /// Whether to go on though a store is in use.
        public var force = false
        /// Whether what is replaced is backed up first.
        public var makesSafetyBackup = true
        /// Whether to stop before anything is done.
        public var isDryRun = false
        public var limits = RestoreLimits()
        /// What stops and starts the application around the exchange, and checks it afterwards.
        public var application = ApplicationCommands()
        /// How the safety backup is made.
        public var backup: CreateBackup.Options

        public init(backup: CreateBackup.Options) {
            self.backup = backup
        }
    }

    /// What was done, or would be.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// The directory that has the data now.
        public var path: String
        public var files: Int
        /// Bytes in all files.
        public var bytes: Int64
        public var stores: Int
        /// The backup of what was replaced.
        public var safetyBackup: Backup?
        /// Whether there was something to replace.
        public var replacesData: Bool
        /// Whether all commands that start the application succeeded; what did not, was told.
        public var isApplicationStarted = true
    }

    let remote: any RemoteFolder
    let catalog: BackupCatalog
    let options: Options
    let context: OperationContext
    let fileSystem: any FileSystem

    public init(
        from remote: any RemoteFolder,
        catalog: BackupCatalog,
        options: Options,
        context: OperationContext,
        fileSystem: any FileSystem = LocalFileSystem()
    ) {
        self.remote = remote
        self.catalog = catalog
        self.options = options
        self.context = context
        self.fileSystem = fileSystem
    }

    /// The backup that a person means, for asking before it is restored.
    public func find(_ name: String) async throws -> Backup {
        try await ListBackups(in: remote, catalog: catalog, timeZone: options.backup.timeZone).find(
            name
        )
    }

    /// Restores a backup in place of a stores directory.
    ///
    /// - Throws: `OperationError` saying the state afterwards; `FileError.locked`; `CancellationError`.
    public func run(_ backup: Backup, to stores: FilePath) async throws -> Outcome {
        try makeParent(of: stores)
        guard let paths = try RestorePaths(resolving: stores) else {
            throw OperationError.noStores(stores)
        }
        let locks = try await RestoreLocks.acquire(paths, wait: context.lockWait, context)
        defer { withExtendedLifetime(locks) {} }
        try RecoverRestore(of: stores, context: context, fileSystem: fileSystem).runLocked(paths)
        let archive = try await FetchedArchive.fetch(backup, from: remote, context)
        defer { withExtendedLifetime(archive) {} }
        do {
            let plan = try context.timing("open archive") {
                try Extraction.Plan(archive.path, name: backup.name, limits: options.limits)
            }
            try plan.checkSpace(at: paths.parent)
            if locks.live != nil {
                try StoresDirectory(paths.live).refuseRemote(remote)
            }
            // Who stops the application first may have it run until then.
            let stopsFirst = !options.application.stop.isEmpty && !options.isDryRun
            if !options.force, !stopsFirst { try refuseIfInUse(paths) }
            var outcome = Outcome(
                backup: backup,
                path: printable(paths.live),
                files: plan.files,
                bytes: plan.bytes,
                stores: plan.contents.header?.stores.count ?? 0,
                safetyBackup: nil,
                replacesData: locks.live != nil
            )
            if options.isDryRun {
                try Extraction(plan, context).run(into: nil)
                return outcome
            }
            let swap = try StoresSwap(paths, backup: backup.name, with: fileSystem)
            let application = application(around: backup, paths)
            do {
                try await restore(plan, swap, locks, application, &outcome)
            } catch {
                await application.start(after: error)
                throw error
            }
            outcome.isApplicationStarted = application.isStarted
            return outcome
        } catch let error where Self.saysItAll(error) {
            throw error
        } catch {
            throw OperationError.restoreFailed(error)
        }
    }

    static func saysItAll(_ error: any Error) -> Bool {
        switch error {
        case OperationError.rolledBack, OperationError.rollbackFailed, OperationError.storesInUse,
            OperationError.tooLarge, OperationError.inTheWay, OperationError.restoreFailed,
            OperationError.remoteInsideStores, OperationError.targetNotEmpty:
            true
        default: error is CancellationError
        }
    }

    /// On a new machine, nothing of the way to the stores directory may be there yet.
    func makeParent(of stores: FilePath) throws {
        let parent = stores.removingLastComponent()
        guard !options.isDryRun, !parent.isEmpty, try FileInfo.ifPresent(parent) == nil else {
            return
        }
        try FileManager.default.createDirectory(
            atPath: parent.string,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    // MARK: - Steps

    private func restore(
        _ plan: Extraction.Plan,
        _ swap: StoresSwap,
        _ locks: RestoreLocks,
        _ application: StoppedApplication,
        _ outcome: inout Outcome
    ) async throws {
        var swap = swap
        let staged: FileLock
        do {
            try swap.stage()
            // After the exchange, this is the lock of the stores directory.
            staged = try await context.lock(swap.paths.new)
            let directory = try Directory.open(swap.paths.new)
            try Extraction(plan, context).run(into: directory)
            outcome.stores = try checkStaged(swap.paths.new)
            try copyAttributes(to: directory, from: swap.paths, plan)
            try directory.sync()
            try fileSystem.sync(swap.paths.parent)
            try await application.stop()
            // Asked now, since who is refused needs no backup, and once more after that.
            if !options.force, !options.application.stop.isEmpty { try refuseIfInUse(swap.paths) }
            outcome.safetyBackup = try await makeSafetyBackup(
                of: swap.paths,
                before: plan,
                holding: locks
            )
            if !options.force { try refuseIfInUse(swap.paths) }
            try context.checkCancellation()
        } catch {
            try abandon(swap, after: error)
            throw error
        }
        defer { withExtendedLifetime(staged) {} }
        if try exchange(&swap) {
            try reopen(&swap)
            await application.start()
            try await verify(&swap, application)
            cleanUp(&swap)
        } else {
            await application.start()
        }
    }

    /// Cleans up after a failure before the exchange.
    ///
    /// Where even that fails, the journal stays, and the next run does it.
    private func abandon(_ swap: StoresSwap, after error: any Error) throws {
        do {
            try swap.abandon()
        } catch let cleanup {
            context.report(.note("\(explain(cleanup)); the next run will clean up"))
        }
    }

    /// Makes the exchange; where it fails half-way, what the journal says is enough to settle it.
    ///
    /// - Returns: `false` where the exchange had happened all the same, and all is done.
    private func exchange(_ swap: inout StoresSwap) throws -> Bool {
        do {
            try swap.exchange()
            return true
        } catch {
            do {
                let recovery = try StoresSwap.recover(swap.paths, with: fileSystem) {
                    // There is no time to ask the application whether it is well: undo it, then.
                    if !options.application.verify.isEmpty { throw error }
                    try checkInPlace(swap.paths.live)
                }
                if case .finished = recovery { return false }
            } catch {
                throw OperationError.rollbackFailed(
                    error,
                    old: swap.paths.old,
                    new: swap.paths.new
                )
            }
            throw OperationError.restoreFailed(error)
        }
    }

    /// Opens every store where it is now.
    ///
    /// From the exchange on nobody may interrupt us: half of a restore that succeeded is worth
    /// nothing.
    private func checkInPlace(_ live: FilePath) throws {
        var context = context
        context.checkCancellation = {}
        try StoresDirectory(live).checkStores(.none, context, tolerating: tolerate)
    }

    private func reopen(_ swap: inout StoresSwap) throws {
        do {
            try checkInPlace(swap.paths.live)
        } catch {
            throw OperationError.rolledBack(error, refused: try rollBack(&swap))
        }
    }

    /// Has the application say whether it can live with what was restored.
    private func verify(_ swap: inout StoresSwap, _ application: StoppedApplication) async throws {
        do {
            try await application.verify()
        } catch {
            await application.stopAgain()
            throw OperationError.rolledBack(error, refused: try rollBack(&swap))
        }
    }

    private func rollBack(_ swap: inout StoresSwap) throws -> FilePath {
        do {
            return try swap.rollBack()
        } catch {
            throw OperationError.rollbackFailed(error, old: swap.paths.old, new: swap.paths.live)
        }
    }

    /// Removes what was there; where that fails, the restore has succeeded all the same, and the
    /// next run does it.
    private func cleanUp(_ swap: inout StoresSwap) {
        do {
            if let leftover = try swap.finish() { context.report(.leftover(leftover)) }
        } catch {
            context.report(.note("\(explain(error)); the next run will clean up"))
        }
    }

    func checkStaged(_ path: FilePath) throws -> Int {
        context.report(.began(.checking, total: nil))
        return try context.timing("check stores") {
            try StoresDirectory(path).checkStores(options.check, context, tolerating: tolerate)
        }
    }

    private func tolerate(_ error: StoreError) throws {
        guard options.allowsDamage else { throw error }
        context.report(.note("\(error), and restored all the same"))
    }

    /// The stores directory itself keeps its mode and owner; a new one gets those of the backup.
    private func copyAttributes(
        to directory: Directory,
        from paths: RestorePaths,
        _ plan: Extraction.Plan
    ) throws {
        if let info = try FileInfo.ifPresent(paths.live) {
            if Extraction.mayGiveAway { try directory.setOwner(info.owner, group: info.group) }
            try directory.setAttributes(mode: info.mode, modified: info.modified)
        } else if let root = plan.contents.header?.root, let mode = UInt16(root.mode, radix: 8) {
            if Extraction.mayGiveAway { try directory.setOwner(root.uid, group: root.gid) }
            try directory.setAttributes(mode: mode & 0o7777, modified: directory.info().modified)
        }
    }

    private func makeSafetyBackup(
        of paths: RestorePaths,
        before plan: Extraction.Plan,
        holding locks: RestoreLocks
    ) async throws -> Backup? {
        guard options.makesSafetyBackup, let live = try? StoresDirectory(paths.live) else {
            return nil
        }
        var backupOptions = options.backup
        backupOptions.reason = "before the restore of '\(BackupName.display(plan.name))'"
        do {
            return try await CreateBackup(
                of: paths.live,
                to: remote,
                catalog: catalog,
                options: backupOptions,
                context: context
            ).runLocked(live, holding: [locks.parent, locks.live].compactMap(\.self)).backup
        } catch OperationError.nothingToBackUp {
            return nil
        }
    }

    private func refuseIfInUse(_ paths: RestorePaths) throws {
        guard let directory = try? StoresDirectory(paths.live) else { return }
        let stores = try directory.survey().stores
        for store in stores {
            let users = try store.users()
            if !users.isEmpty {
                throw OperationError.storesInUse(store: store.path.description, by: users)
            }
        }
        let users = LockHolder.processes(using: Set(stores.map(\.identity)))
        if !users.isEmpty {
            throw OperationError.storesInUse(store: stores.first?.path.description ?? "", by: users)
        }
    }
}
