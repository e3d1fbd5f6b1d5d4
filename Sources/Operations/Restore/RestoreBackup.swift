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
        /// The columns whose values name files that come back with a named store, or with rows.
        public var externalFiles: [ExternalFiles] = []
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
            _ archived: ArchivedBackup,
            path: FilePath,
            replacesData: Bool
        ) {
            self.backup = backup
            self.path = printable(path)
            (files, bytes) = (archived.files, archived.bytes)
            stores = archived.header?.stores.count
            isDataRead = archived.isAtHand
            self.replacesData = replacesData
        }

        init(_ plan: RestorePlan, path: FilePath, replacesData: Bool) {
            self.init(plan.backup, plan.archived, path: path, replacesData: replacesData)
            stores = plan.facts?.count
            guard let part = plan.part else { return }
            (files, bytes) = (part.files, part.bytes)
            only = part.names.map(\.description)
            removed = part.removed.map(\.description)
        }
    }

    let folder: BackupFolder
    let options: Options
    let context: OperationContext
    let fileSystem: any FileSystem

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
    /// - Throws: `RestoreError`, `OperationError`, which report the state afterwards; `LookingError.noFile` if a named
    ///   path is not in the backup; `FileError.locked`; `CancellationError`.
    public func run(_ plan: RestorePlan) async throws -> Outcome {
        let date = options.isDryRun ? nil : options.backup.date
        return try await context.notingDamage(of: plan.backup, in: folder, at: date) {
            try makeParent(of: plan.stores)
            let recovery = RecoverRestore(
                of: plan.stores,
                announcing: options.announcement,
                log: folder.memory.log,
                context: context,
                fileSystem: fileSystem
            )
            while true {
                guard let paths = try RestorePaths(resolving: plan.stores) else {
                    throw OperationError.noStores(plan.stores)
                }
                let outcome: Outcome? = try await RestoreLocks.withLocks(on: paths, context) {
                    locks in
                    if try recovery.runLocked(paths) { return nil }
                    return try await carryOut(plan, paths, locks)
                }
                // After a recovery, the locks must be taken again on other directories.
                if let outcome { return outcome }
            }
        }
    }

    private func carryOut(
        _ plan: RestorePlan,
        _ paths: RestorePaths,
        _ locks: RestoreLocks
    ) async throws -> Outcome {
        var (plan, paths) = (plan, paths)
        if !options.only.isEmpty {
            guard locks.live != nil else { throw OperationError.noStores(paths.live) }
            plan.part = try await choosePart(of: plan, in: paths.live)
            paths = RestorePaths(live: paths.live, .inside)
        }
        if !options.isDryRun { paths = paths.sparingHeld(context.note) }
        do {
            try await check(plan, paths, locks)
            var outcome = Outcome(plan, path: paths.live, replacesData: locks.live != nil)
            if options.isDryRun {
                try rehearse(plan, paths, &outcome)
            } else {
                try await replace(with: plan, paths, locks, &outcome)
            }
            return outcome
        } catch {
            throw RestoreError.saying(error)
        }
    }

    /// Throws if the restore is not possible; reports everything worth knowing before it.
    private func check(
        _ plan: RestorePlan,
        _ paths: RestorePaths,
        _ locks: RestoreLocks
    ) async throws {
        try plan.archived.checkSpace(for: plan.part?.allocated, at: paths.volume)
        try await context.refuse(folder, in: paths.live)
        if locks.live != nil {
            let live = try StoresDirectory(paths.live)
            try live.refuseToBeReplaced(withBackupsIn: folder, part: plan.roots)
        }
        let origin = folder.origin ?? Origin(of: paths.live)
        if let header = plan.archived.header, origin.isOther(header.origin, header.originName) {
            context.warn(ofAnother: plan.backup.displayName, header.originName)
        }
        // An application that the restore stops may run until then.
        if options.application.stop.isEmpty || options.isDryRun { try refuseIfInUse(plan, paths) }
        if locks.live != nil, plan.archived.isDescribed, let facts = plan.facts {
            try approve(facts, of: plan, replacing: paths.live)
        }
    }

    /// Verifies the backup, as far as it is at hand, in place of a restore.
    private func rehearse(
        _ plan: RestorePlan,
        _ paths: RestorePaths,
        _ outcome: inout Outcome
    ) throws {
        if !options.setsAsideLeftovers { try paths.refuseLeftovers() }
        guard plan.archived.isAtHand else { return }
        try context.verify(plan.archived, only: plan.part?.content)
        if outcome.stores == nil {
            outcome.stores = try plan.archived.items().values.count { item in
                item.isStore && plan.part?.entries.contains(item.path) ?? true
            }
        }
    }

    /// Replaces the data, and does what comes after: the announcement, and the facts for the next commands.
    private func replace(
        with plan: RestorePlan,
        _ paths: RestorePaths,
        _ locks: RestoreLocks,
        _ outcome: inout Outcome
    ) async throws {
        let replaced =
            options.force ? try? plan.replacedStores(in: StoresDirectory(paths.live)) : nil
        try await replaceData(with: plan, paths, locks, &outcome)
        if let sidecars = options.sidecars {
            SyncPlaces.markReplaced(paths.live, sidecars: sidecars, of: plan.roots, context)
        }
        outcome.isDataRead = true
        context.reportProblems(outcome.problems)
        outcome.isAnnounced = options.announcement.make(of: plan.name, in: paths.live, context)
        let files = Set((replaced ?? []).map(\.identity))
        outcome.stillOpen = LockHolder.processes(using: files).map(\.holder)
        outcome.backups = await rememberData(of: plan)
    }

    /// Throws if a process has a store open, or would still see the replaced data afterwards; with `force`, does
    /// nothing.
    func refuseIfInUse(_ plan: RestorePlan, _ paths: RestorePaths) throws {
        guard !options.force, let live = try? StoresDirectory(paths.live) else { return }
        try Store.refuseIfInUse(plan.replacedStores(in: live))
        try live.refuseIfHeld(of: plan.roots)
    }

    /// Makes the next backup compare its data with the restored data, and what was not restored with that before.
    ///
    /// If this record is lost, the next backup may warn for no reason.
    /// - Returns: the number of backups; `nil` if it is not known.
    private func rememberData(of plan: RestorePlan) async -> Int? {
        guard let backups = try? await folder.list().backups else { return nil }
        let own = folder.own(backups).ordinary
        let header = plan.archived.header
        var data: ExpectedData? = .init(stores: header?.rows ?? [], otherFiles: header?.otherFiles)
        if let part = plan.roots {
            let isRestored = { (rows: StoreRows) in part.contains(printed: rows.path) }
            var others = folder.expectedData(after: own)
            others?.stores.removeAll(where: isRestored)
            others?.stores += (data?.stores ?? []).filter(isRestored)
            data = others
        }
        if let newest = own.first, let data { folder.rememberExpectedData(data, after: newest) }
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
