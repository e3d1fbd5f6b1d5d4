internal import Age
public import Backups
public import Files
internal import Foundation
internal import Remotes
public import Stores
public import SystemPackage

/// Restores a backup in place of the stores directory, or elsewhere.
///
///     fetch → verify the archive → extract to Stores_New → sync → check → swap → reopen → done
///                                                                            ↘ roll back
///
/// The live directory is not touched before Stores_New is complete, checked and on the disk.
public struct RestoreBackup: Sendable {
    /// The options of a restore.
    public struct Options: Sendable {
        /// The level at which the staged stores are checked.
        public var check: CheckLevel = .quick
        /// Whether remarks of that check count as damage: rows that refer to missing rows.
        public var isStrict = false
        /// Whether damaged stores are restored too.
        public var allowsDamage = false
        /// Whether to continue if a store is in use.
        public var force = false
        /// Whether to back up the replaced data first.
        public var makesSafetyBackup = true
        /// Whether an archive without stores may replace stores.
        public var allowsNoStores = false
        /// Whether files and directories that are in the way of a restore are renamed.
        public var setsAsideLeftovers = false
        /// The number of leading directories to strip from names in an archive without a manifest.
        ///
        /// With `nil`, one is stripped if it contains everything, as in a zip of the stores directory itself.
        public var stripsComponents: Int?
        /// The paths to restore, as the backup has them, while all else stays; empty for everything.
        public var only: [String] = []
        /// Whether this undoes a restore: paths in `only` that the backup lacks are removed.
        public var isUndo = false
        /// Whether files keep their set-user-ID and set-group-ID bits.
        public var keepsSetID = false
        /// The fingerprint of the key that must have signed the archive; `nil` for any key.
        public var signer: String?
        /// Whether files get the numeric owners in the backup, even if the present data has another owner.
        public var takesOwnerNumbers = false
        /// A closure that gets a description of the loss if a backup has much less data than the stores directory.
        ///
        /// It returns whether to replace the data.
        public var acceptsLoss: @Sendable (String) throws -> Bool = { _ in true }
        /// Whether to only report what would be done.
        public var isDryRun = false
        public var limits = RestoreLimits()
        /// The commands that stop, start and check the application around the exchange.
        public var application = ApplicationCommands()
        /// The notification to the application that its stores were replaced.
        public var announcement = RestoreAnnouncement()
        /// The directory of the sync data for each store; `nil` if nothing syncs.
        public var sidecars: FilePath?
        /// The options of the safety backup.
        public var backup: CreateBackup.Options

        public init(backup: CreateBackup.Options) {
            self.backup = backup
        }
    }

    /// The result of a restore, or of a dry run.
    public struct Outcome: Sendable {
        public var backup: Backup
        /// The directory that has the restored data.
        public var path: String
        public var files: Int
        /// The paths that were named; empty for a complete restore.
        public var only: [String] = []
        /// The named paths that the backup lacks, and that were removed.
        public var removed: [String] = []
        /// The total size of all files in bytes.
        public var bytes: Int64
        /// The number of stores; `nil` until they are counted in an archive without a manifest.
        public var stores: Int?
        /// The backup of the replaced data.
        public var safetyBackup: Backup?
        /// Whether there was a stores directory.
        public var replacesData: Bool
        /// The number of backups in the folder; `nil` if it is not known.
        public var backups: Int?
        /// The processes that still have a replaced store open; everything that they write is lost.
        public var stillOpen: [LockHolder] = []
        /// Whether the notification of the application succeeded; failures were reported.
        public var isAnnounced = true
        /// Whether all commands that start the application succeeded; failures were reported.
        public var isApplicationStarted = true
        /// Whether the backup's data was read; a dry run fetches none.
        public var isDataRead: Bool
        /// Missing files that the stores refer to.
        ///
        /// They are searched for if a backup is restored elsewhere, or has no manifest that records them.
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
    /// The part of the backup that is restored; `nil` for all of it.
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
    /// - Returns: the outcome, or in a dry run the expected one.
    /// - Throws: `RestoreError`, `OperationError`, which report the state afterwards; `FileError.locked`;
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
            // After a recovery, the locks must be taken again on other directories.
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
        _ chosen: RestorePaths,
        _ locks: RestoreLocks
    ) async throws -> Outcome {
        let paths = options.isDryRun ? chosen : chosen.sparingHeld(context.note)
        let replacesData = locks.live != nil
        do {
            try plan.checkSpace(for: part?.allocated, at: paths.volume)
            if replacesData {
                let live = try StoresDirectory(paths.live)
                try live.refuseRemote(folder)
                try live.refuseToBeReplaced(withBackupsIn: folder, part: part?.part)
            }
            let origin = folder.origin ?? Origin(of: paths.live)
            if let header = plan.header, origin.isOther(header.origin, header.originName) {
                context.warn(
                    "'\(backup.displayName)' is a backup of another machine, or of another stores directory than '\(printable(paths.live))'"
                )
            }
            // An application that the restore stops may run until then.
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

    /// Opens a backup to restore it, perhaps in place of a directory.
    func open(_ backup: Backup, replacing live: FilePath? = nil) async throws -> ArchivedBackup {
        do {
            guard options.isDryRun else {
                let plan = try await context.open(backup, in: folder, holdingTo: options.limits)
                try refuseOtherSigner(of: plan)
                try plan.strip(options.stripsComponents, replacing: live, context)
                return plan
            }
            return try await context.look(at: backup, in: folder, holdingTo: options.limits) {
                // An archive at hand is verified as a whole.
                if !$0.isAtHand { try $0.forEach { _ in } }
                try refuseOtherSigner(of: $0)
                try $0.strip(options.stripsComponents, replacing: live, context)
                return $0
            }
        } catch let error where error is RemoteError || error is CancellationError {
            throw error
        } catch {
            throw RestoreError.restoreFailed(error)
        }
    }

    /// Throws if a signer was named and did not sign an archive.
    private func refuseOtherSigner(of plan: ArchivedBackup) throws {
        guard let signer = options.signer, plan.signature.key?.fingerprint != signer else { return }
        throw ArchivedBackupError.distrusted(plan.name, reason: "\(signer) did not sign it")
    }

    /// Throws if a process has a store open, or would still see the replaced data afterwards; with `force`, does
    /// nothing.
    func refuseIfInUse(_ paths: RestorePaths) throws {
        guard !options.force, let live = try? StoresDirectory(paths.live) else { return }
        try Store.refuseIfInUse(stores(in: paths.live))
        try live.refuseIfHeld(of: part?.part)
    }

    /// Returns the stores that the restore replaces.
    private func stores(in path: FilePath) throws -> [Store] {
        let live = try StoresDirectory(path)
        return try part?.stores(in: live) ?? live.survey().stores
    }

    /// Makes the next backup compare its data with the restored data, not with the data before.
    ///
    /// If this record is lost, the next backup may warn for no reason.
    /// - Returns: the number of backups.
    private func rememberWhatIsThere(_ plan: ArchivedBackup) async -> Int? {
        guard let backups = try? await folder.list().backups else { return nil }
        if let newest = folder.own(backups).ordinary.first {
            folder.rememberExpectedRows(plan.header?.rows ?? [], after: newest)
        }
        return backups.count
    }

    /// Creates the parent of the stores directory, which may be missing on a new machine.
    func makeParent(of stores: FilePath) throws {
        let parent = stores.removingLastComponent()
        guard !options.isDryRun, !parent.isEmpty, try FileInfo.ifPresent(parent) == nil else {
            return
        }
        try fileSystem.createDirectories(parent)
    }
}

/// The locks of a restore, in their order: first the parent of the stores directory, then the stores directory itself.
///
/// The first lock keeps two restores apart while the stores directory is away. A stores directory that is not renamed
/// needs only its own lock.
struct RestoreLocks {
    let parent: FilePath?
    /// The stores directory, if it exists.
    let live: FilePath?

    /// Runs a closure under the locks.
    static func withLocks<Result>(
        on paths: RestorePaths,
        _ context: OperationContext,
        _ body: (RestoreLocks) async throws -> Result
    ) async throws -> Result {
        let parent = paths.layout == .beside ? paths.area : nil
        return try await context.withLock(on: parent) {
            let live = try FileInfo.ifPresent(paths.live) == nil ? nil : paths.live
            return try await context.withLock(on: live) {
                try await body(RestoreLocks(parent: parent, live: live))
            }
        }
    }
}
