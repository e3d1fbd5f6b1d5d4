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
        /// What the stores lack that they refer to; looked for where a backup is tried out elsewhere.
        public var problems: [Problem] = []
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
            name,
            now: options.backup.date
        )
    }

    /// Restores a backup in place of a stores directory.
    ///
    /// - Throws: `OperationError` saying the state afterwards; `FileError.locked`; `CancellationError`.
    public func run(_ backup: Backup, to stores: FilePath) async throws -> Outcome {
        try makeParent(of: stores)
        let recovery = RecoverRestore(of: stores, context: context, fileSystem: fileSystem)
        // It may stand in a place where this one has nothing locked.
        try await recovery.run()
        guard let paths = try RestorePaths(resolving: stores) else {
            throw OperationError.noStores(stores)
        }
        let locks = try await RestoreLocks.acquire(paths, wait: context.lockWait, context)
        defer { withExtendedLifetime(locks) {} }
        try recovery.runLocked(paths)
        let archive = try await FetchedArchive.fetch(backup, from: remote, context)
        defer { withExtendedLifetime(archive) {} }
        do {
            let plan = try Extraction.Plan(
                archive.path,
                name: backup.name,
                limits: options.limits
            )
            plan.tellOrigin(context)
            try plan.checkSpace(at: paths.volume)
            if locks.live != nil {
                let live = try StoresDirectory(paths.live)
                try live.refuseRemote(remote)
                try live.refuseToBeReplaced(withBackupsIn: remote)
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
                try Extraction(plan, context).verify()
                return outcome
            }
            let application = application(around: backup, paths)
            try await restore(plan, paths, locks, application, &outcome)
            outcome.isApplicationStarted = application.isStarted
            await rememberWhatIsThere(plan, after: outcome.safetyBackup)
            return outcome
        } catch let error where Self.saysItAll(error) {
            throw error
        } catch {
            throw OperationError.restoreFailed(error)
        }
    }

    /// Has the next backup compared with what was restored, and not with what was there before.
    ///
    /// Only memory: where it is lost, the next backup may warn of what is right.
    private func rememberWhatIsThere(_ plan: Extraction.Plan, after safetyBackup: Backup?) async {
        let list = ListBackups(in: remote, catalog: catalog, timeZone: options.backup.timeZone)
        let found: Backup? =
            if let safetyBackup { safetyBackup } else { try? await list.run().backups.first }
        guard let newest = found else { return }
        let rows = plan.contents.header?.rows ?? []
        catalog.rememberBaseline(rows, of: newest.file, in: remote.address)
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
        try fileSystem.createDirectories(parent)
    }
}
