public import Backups
public import Files
internal import Foundation
internal import Remotes
public import Stores
public import SystemPackage

/// Puts a backup in the place of the stores directory, or somewhere else.
///
///     fetch → verify the archive → extract to Stores_New → sync → check → swap → reopen → done
///                                                                            ↘ roll back
///
/// The live directory is not touched before Stores_New is complete, on the disk and checked.
public struct RestoreBackup: Sendable {
    /// The choices that a restore leaves.
    public struct Options: Sendable {
        /// How the staged stores are checked.
        public var check: CheckLevel = .quick
        /// Whether a remark of that check is damage: rows that refer to rows that are not there.
        public var isStrict = false
        /// Whether a damaged store is restored all the same.
        public var allowsDamage = false
        /// Whether to go on though a store is in use.
        public var force = false
        /// Whether to back up first the data that is replaced.
        public var makesSafetyBackup = true
        /// Whether an archive without any store may replace stores.
        public var allowsNoStores = false
        /// Whether what is in the way of a restore gets another name.
        public var setsAsideLeftovers = false
        /// How many directories to take off every name of an archive without a manifest; `nil` to take one
        /// off if everything is in it, as in a zip of the stores directory itself.
        public var stripsComponents: Int?
        /// The paths that are restored, as the backup has them, while all else stays; none for all of it.
        public var only: [String] = []
        /// Whether what a restore has brought goes again: of `only`, what the backup lacks.
        public var isUndo = false
        /// Asked whether a backup may replace the data that is there though it has much less; told what.
        public var acceptsLoss: @Sendable (String) throws -> Bool = { _ in true }
        /// Whether to stop before anything is done.
        public var isDryRun = false
        public var limits = RestoreLimits()
        /// The commands that stop and start the application around the exchange, and check it then.
        public var application = ApplicationCommands()
        /// Word to the application that its stores were replaced.
        public var announcement = RestoreAnnouncement()
        /// The directory of what sync keeps of each store; `nil` if nothing syncs.
        public var sidecars: FilePath?
        /// How the safety backup is made.
        public var backup: CreateBackup.Options

        public init(backup: CreateBackup.Options) {
            self.backup = backup
        }
    }

    /// The result of a restore, or of a dry run.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// The directory that has the data now.
        public var path: String
        public var files: Int
        /// The paths that were named; empty if all of it is meant.
        public var only: [String] = []
        /// Those of them that the backup has not, and that were taken away.
        public var removed: [String] = []
        /// Bytes in all files.
        public var bytes: Int64
        /// `nil` before they are counted, of an archive without a manifest.
        public var stores: Int?
        /// The backup of the data that was replaced.
        public var safetyBackup: Backup?
        /// Whether there was a stores directory.
        public var replacesData: Bool
        /// How many backups are in the folder; `nil` if that is not known.
        public var backups: Int?
        /// The processes that still have a replaced store open: all that they write is lost.
        public var stillOpen: [LockHolder] = []
        /// Whether the application was told of the restore as it should be; failures were told.
        public var isAnnounced = true
        /// Whether all commands that start the application succeeded; failures were told.
        public var isApplicationStarted = true
        /// Whether the backup's data was read; a dry run fetches none.
        public var isDataRead: Bool
        /// Files that the stores refer to and lack; looked for if a backup is restored elsewhere, or has
        /// no manifest that tells.
        public var problems: [Problem] = []

        init(
            _ backup: Backup,
            _ plan: ArchivedBackup,
            part: PartPlan? = nil,
            path: FilePath,
            replacesData: Bool
        ) {
            self.backup = backup
            self.path = printable(path)
            files = part?.files ?? plan.files
            bytes = part?.bytes ?? plan.bytes
            only = part?.names.map(\.description) ?? []
            removed = part?.removed.map(\.description) ?? []
            stores = plan.header.map { header in
                header.stores.count { part?.part.contains(printed: $0.path) ?? true }
            }
            isDataRead = plan.isAtHand
            self.replacesData = replacesData
        }
    }

    let folder: BackupFolder
    let options: Options
    let context: OperationContext
    let fileSystem: any FileSystem
    /// What of the backup is restored; `nil` for all of it.
    var part: PartPlan?

    public init(
        from folder: BackupFolder,
        options: Options,
        context: OperationContext,
        fileSystem: any FileSystem = LocalFileSystem()
    ) {
        self.folder = folder
        self.options = options
        self.context = context
        self.fileSystem = fileSystem
    }

    /// Restores a backup in place of a stores directory.
    ///
    /// - Returns: what was done, or would be.
    /// - Throws: `RestoreError`, `OperationError` saying the state afterwards; `FileError.locked`;
    ///   `CancellationError`.
    public func run(_ backup: Backup, to stores: FilePath) async throws -> Outcome {
        try makeParent(of: stores)
        let recovery = RecoverRestore(
            of: stores,
            announcing: options.announcement,
            context: context,
            fileSystem: fileSystem
        )
        while true {
            guard let paths = try RestorePaths(resolving: stores) else {
                throw OperationError.noStores(stores)
            }
            let outcome: Outcome? = try await RestoreLocks.withLocks(on: paths, context) { locks in
                if try recovery.runLocked(paths) { return nil }
                return try await run(backup, paths, locks)
            }
            // After a recovery, other directories are to be locked.
            if let outcome { return outcome }
        }
    }

    private func run(
        _ backup: Backup,
        _ paths: RestorePaths,
        _ locks: RestoreLocks
    ) async throws -> Outcome {
        guard options.only.isEmpty else {
            guard locks.live != nil else { throw OperationError.noStores(paths.live) }
            var restore = self
            let (plan, part) = try await PartPlan.open(
                options.only,
                of: backup,
                in: folder,
                holdingTo: options.limits,
                strippingOf: options.stripsComponents,
                replacing: paths.live,
                removingMissing: options.isUndo,
                context
            )
            restore.part = part
            let inside = RestorePaths(live: paths.live, .inside)
            return try await restore.run(backup, plan, inside, locks)
        }
        let plan = try await open(backup, replacing: paths.live)
        return try await run(backup, plan, paths, locks)
    }

    private func run(
        _ backup: Backup,
        _ plan: ArchivedBackup,
        _ paths: RestorePaths,
        _ locks: RestoreLocks
    ) async throws -> Outcome {
        let replacesData = locks.live != nil
        do {
            try plan.checkSpace(for: part?.bytes, at: paths.volume)
            if replacesData {
                let live = try StoresDirectory(paths.live)
                try live.refuseRemote(folder)
                try live.refuseToBeReplaced(withBackupsIn: folder, part: part?.part)
            }
            if plan.header?.isOfOther(than: paths.live) ?? false {
                context.warn(
                    "'\(backup.displayName)' is a backup of another machine, or of another stores directory than '\(printable(paths.live))'"
                )
            }
            // An application that is stopped first may run until then.
            if options.application.stop.isEmpty || options.isDryRun { try refuseIfInUse(paths) }
            var outcome = Outcome(
                backup,
                plan,
                part: part,
                path: paths.live,
                replacesData: replacesData
            )
            if replacesData, plan.isDescribed, let header = plan.header {
                try approve(header.stores, of: plan, replacing: paths.live)
            }
            if options.isDryRun {
                if !options.setsAsideLeftovers { try paths.refuseLeftovers() }
                if plan.isAtHand { try context.verify(plan, only: part?.content) }
                if outcome.stores == nil, plan.isAtHand {
                    outcome.stores = try plan.items().values.count { item in
                        item.isStore && part?.entries.contains(item.path) ?? true
                    }
                }
                return outcome
            }
            let replaced = options.force ? try? stores(in: paths.live) : nil
            let replacement = try await replace(with: plan, paths, locks)
            if let sidecars = options.sidecars {
                SyncPlaces.markReplaced(paths.live, sidecars: sidecars, of: part?.part, context)
            }
            outcome.stores = replacement.stores
            outcome.isDataRead = true
            outcome.problems = replacement.problems
            context.tell(outcome.problems)
            outcome.safetyBackup = replacement.safetyBackup
            outcome.isApplicationStarted = replacement.isApplicationStarted
            outcome.isAnnounced = options.announcement.make(of: plan.name, in: paths.live, context)
            let files = Set((replaced ?? []).map(\.identity))
            outcome.stillOpen = LockHolder.processes(using: files).map(\.holder)
            outcome.backups =
                if let part {
                    await folder.rememberRows(of: plan, in: part.part)
                } else {
                    await rememberWhatIsThere(plan)
                }
            return outcome
        } catch {
            throw RestoreError.saying(error)
        }
    }

    /// Opens a backup that is to be restored, perhaps in place of a directory.
    func open(_ backup: Backup, replacing live: FilePath? = nil) async throws -> ArchivedBackup {
        do {
            guard options.isDryRun else {
                let plan = try await context.open(backup, in: folder, holdingTo: options.limits)
                try plan.strip(options.stripsComponents, replacing: live, context)
                return plan
            }
            return try await context.look(at: backup, in: folder, holdingTo: options.limits) {
                // An archive at hand is verified as a whole.
                if !$0.isAtHand { try $0.forEach { _ in } }
                try $0.strip(options.stripsComponents, replacing: live, context)
                return $0
            }
        } catch let error where error is RemoteError || error is CancellationError {
            throw error
        } catch {
            throw RestoreError.restoreFailed(error)
        }
    }

    /// Throws if a process has a store open, unless the restore is to go on all the same.
    func refuseIfInUse(_ paths: RestorePaths) throws {
        guard !options.force, (try? StoresDirectory(paths.live)) != nil else { return }
        try Store.refuseIfInUse(stores(in: paths.live))
    }

    /// Returns the stores that a restore replaces.
    private func stores(in path: FilePath) throws -> [Store] {
        let live = try StoresDirectory(path)
        return try part?.stores(in: live) ?? live.survey().stores
    }

    /// Has the next backup compared with the restored data, and not with that before.
    ///
    /// If this memory is lost, the next backup may warn for no reason.
    /// - Returns: how many backups there are.
    private func rememberWhatIsThere(_ plan: ArchivedBackup) async -> Int? {
        guard let backups = try? await folder.list().backups else { return nil }
        if let newest = backups.ordinary.first {
            let rows = plan.header?.rows ?? []
            folder.memory.catalog.rememberExpectedRows(rows, after: newest, in: folder.address)
        }
        return backups.count
    }

    /// Makes the directory for the stores directory: on a new machine, it may not be there yet.
    func makeParent(of stores: FilePath) throws {
        let parent = stores.removingLastComponent()
        guard !options.isDryRun, !parent.isEmpty, try FileInfo.ifPresent(parent) == nil else {
            return
        }
        try fileSystem.createDirectories(parent)
    }
}
