internal import Age
internal import Archives
internal import Remotes
internal import History
public import Backups
internal import Files
internal import Stores
public import SystemPackage

/// Saves a stores directory into one archive in a remote folder, while applications use it.
///
/// If it fails, the remote folder stays as it was. A killed run leaves a hidden partial file, which the next run
/// removes. Locks are taken in this order: the stores directory, the remote folder's staging directory, then SQLite's.
public struct CreateBackup: Sendable {
    public typealias Options = BackupOptions

    /// The result of a backup.
    public struct Outcome: Sendable {
        /// The new backup, or the newest one if none was made.
        public var backup: Backup
        /// Whether no backup was made, because `backup` has the same content.
        public var isUnchanged = false
        /// Whether the tags and the note were added to that backup.
        public var isAnnotated = false
        /// The number of entries in the archive, without the manifest.
        public var entries: Int
        /// The size of all files before compression, in bytes.
        public var bytes: Int64
        /// The number of backups in the folder now.
        public var backups: Int
        /// The number of stores in the cut.
        public var stores: Int
        /// The number of excluded files and directories.
        public var leftOut = 0
        /// The problems; the backup is partial if there are any.
        public var problems: [Problem]
        /// The backup whose name it took, and which is now in the trash.
        public var replaced: Backup?
        /// The reason why it waits on this machine; `nil` if it is in its folder.
        public var waitsFor: (any Error)?
        /// The error of a problem: the archive exists, but may not be on the disk.
        var notSynced: RemoteError?
    }

    private static let cutsLimit = 5
    /// The assumed size of a first archive in bytes.
    private static let unknownSize: Int64 = 1 << 30

    let path: FilePath
    let folder: BackupFolder
    var options: Options
    let context: OperationContext
    /// The error if the folder is known to be unreachable.
    var refusal: (any Error)?
    /// The greatest allowed size of the archive in bytes, if it has to wait.
    var room = Int64.max

    public init(
        of stores: FilePath,
        to folder: BackupFolder,
        options: Options,
        context: OperationContext
    ) {
        path = stores
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Makes the backup.
    ///
    /// - Throws: `OperationError`, `RemoteError`, `FileError.locked`, `CancellationError`.
    public func run() async throws -> Outcome {
        let directory = try StoresDirectory(existing: path)
        return try await context.withLock(on: directory.path) {
            // Upload waiting backups first, so that the folder gets no older backup after the new one.
            let problems = try await options.queues ? [] : sendWaiting().problems
            var outcome = try await runLocked(directory)
            outcome.problems += problems
            return outcome
        }
    }

    /// Makes the backup for a caller that has locked the stores directory, and perhaps others, including the backup
    /// folder.
    func runLocked(
        _ directory: StoresDirectory,
        holding locked: [FilePath] = []
    ) async throws -> Outcome {
        try await context.refuse(folder, in: directory.path)
        if options.queues, let outbox = folder.outbox {
            return try await run(directory, queueingIn: outbox, holding: locked)
        }
        if let identity = folder.identity,
            try locked.contains(where: { try FileInfo(of: $0).identity == identity })
        {
            return try await runWithFolderLocked(directory)
        }
        return try await context.withLock(folder) { try await runWithFolderLocked(directory) }
    }

    private func runWithFolderLocked(_ directory: StoresDirectory) async throws -> Outcome {
        // List the folder only under the lock, when it cannot change, and report a missing folder before the work.
        try await makeLocked(directory, after: folder.list().backups)
    }

    /// Makes the backup while the folder that gets the archive is locked; see `destination`.
    func makeLocked(
        _ directory: StoresDirectory,
        after backups: [Backup]
    ) async throws -> Outcome {
        try refuseTakenName(among: backups)
        // Report a missing password before the work.
        try options.refusePlain(among: backups, in: folder, for: recipients())
        await reportFolder(beside: backups)
        do {
            try context.removeLeftovers(of: destination)
            if refusal == nil { await context.removeRemoteLeftovers(of: folder) }
            var outcome = try await make(directory, after: backups)
            let problems = [notContinued(among: backups)].compactMap(\.self)
            context.reportProblems(problems)
            outcome.problems += problems
            return outcome
        } catch let error where Self.saysItAll(error) {
            throw error
        } catch {
            throw OperationError.backupFailed(error)
        }
    }

    /// Reports everything about the folder and its backups that a user should know beside a new backup.
    func reportFolder(beside backups: [Backup]) async {
        let future = folder.own(backups).first { $0.isFromFuture(at: options.date) }
        if let warning = future?.futureWarning(at: options.date) { context.warn(warning) }
        if refusal == nil, let warning = await folder.losses.warning(beside: backups) {
            context.warn(warning)
        }
        guard folder.own(backups).ordinary.isEmpty else { return }
        let places = Places(stores: path, folder: folder)
        if let warning = places.warning { context.warn(warning) }
        if let remark = places.remark { context.note(remark) }
    }

    /// Returns the problem that the backups of an earlier system or key do not count, unless a user accepts that.
    ///
    /// A machine that loses its key before each run, such as a container, would never compare or prune any.
    func notContinued(among backups: [Backup]) -> Problem? {
        guard !options.acceptsChanges, !options.isSafety else { return nil }
        return Predecessor(in: folder, among: backups).map(Problem.init(notContinuing:))
    }

    private static func saysItAll(_ error: any Error) -> Bool {
        // An error about an unsynced note does not say that no backup was made.
        (error as? RemoteError).map { $0.problem == nil && !$0.isOfTransfer } ?? false
            || error is OperationError || error is BackupFolderError
            || error is CancellationError || error is StoreError || error is HistoryError
            || error is OutboxError
    }

    private func anomalyGuard(after backups: [Backup]) -> AnomalyGuard {
        let backups = folder.own(backups).ordinary
        let real = backups.notFromFuture(options.date)
        let expected = folder.expectedData(
            after: real.isEmpty ? backups : real,
            isListed: refusal == nil
        )
        if expected == nil, backups.contains(where: { $0.file.location == nil }) {
            context.note("the last backup was made elsewhere: its data is not compared with this")
        }
        return AnomalyGuard(
            expected: expected,
            acceptsChanges: options.acceptsChanges,
            isBeforeRestore: options.isBeforeRestore
        )
    }

    /// Returns the recipients who may read the backup; `nil` for no encryption.
    func recipients() throws -> [Recipient]? {
        let recipients = try folder.keys.recipients()
        guard recipients == nil, options.isAlwaysEncrypted else { return recipients }
        return try folder.keys.ownRecipients()
    }

    // MARK: - The archive

    private func make(
        _ directory: StoresDirectory,
        after backups: [Backup]
    ) async throws -> Outcome {
        var lineage = try openLineage()
        defer { lineage?.state.close() }
        let (draft, written) = try await write(directory, after: backups, &lineage)
        do {
            if let same = try await unchanged(written, since: backups) {
                let (backup, isAnnotated, problem) = try await annotate(same)
                await draft.discard()
                var outcome = Outcome(backup, written, isUnchanged: true, of: backups.count)
                outcome.isAnnotated = isAnnotated
                outcome.problems += [problem].compactMap(\.self)
                context.reportProblems([problem].compactMap(\.self))
                return outcome
            }
            let (backup, error) = try await publish(draft.finish(), written, beside: backups)
            var outcome = Outcome(backup, written, isUnchanged: false, of: backups.count + 1)
            outcome.notSynced = error
            outcome.problems += [error?.problem, unsigned(backup, written)].compactMap(\.self)
            await replaceRival(with: &outcome, among: backups)
            // Use the name that the backup has now.
            keep(outcome.backup, written, in: lineage)
            return outcome
        } catch {
            await draft.discard()
            throw error
        }
    }

    /// Returns the problem of a backup that should be signed and is not; reading the key told the cause.
    private func unsigned(_ backup: Backup, _ written: WrittenArchive) -> Problem? {
        guard folder.keys.signers != nil, written.signature == .none else { return nil }
        let reason = "'\(backup.displayName)' is not signed"
        return Problem(kind: .notSigned, path: backup.name, reason: reason)
    }

    /// Writes an archive, and another one if a change requires a new cut: data is only ever appended to an archive.
    private func write(
        _ directory: StoresDirectory,
        after backups: [Backup],
        _ lineage: inout Lineage?
    ) async throws -> (ArchiveDraft, WrittenArchive) {
        let anomalyGuard = anomalyGuard(after: backups)
        // A backup that may have to wait is a file of this machine first.
        let streaming =
            options.streams && !options.queues ? try await folder.streamingFolder(context) : nil
        var next = Try()
        while true {
            let place = try begin(&lineage, among: folder.own(backups), isFull: next.isFull)
            let draft = try await ArchiveDraft.begin(
                in: destination,
                streamingTo: streaming,
                as: folder.likelyName(
                    at: options.date,
                    beside: backups,
                    isIncrement: place?.isIncrement ?? false,
                    isEncrypted: recipients() != nil
                ),
                ofAbout: folder.own(backups).newestGood(at: options.date)?.size ?? Self.unknownSize,
                for: recipients(),
                threads: context.threads
            )
            do {
                try await verifyBase(of: place, among: backups)
                var plan = try BackupPlan(
                    options: options,
                    folder: folder,
                    origin: folder.origin ?? Origin(of: path),
                    recipients: BackupKeys.digest(of: recipients()),
                    scratch: destination.workplace,
                    follows: folder.own(backups).followed(at: options.date),
                    anomalyGuard: anomalyGuard,
                    knownStores: anomalyGuard.knownStores,
                    knownMissing: next.missing,
                    isFirstTry: next.number == 1,
                    isLastTry: next.isLast
                )
                if let lineage, let place { plan.lineage = (place, lineage.state) }
                let writer = try await writer(plan, of: directory, to: draft, after: backups)
                var written = try await draft.write { try writer.run() }
                written.place = place
                try await refuseWithoutNeeds(of: place)
                return (draft, written)
            } catch {
                await draft.discard()
                try prepare(&next, after: error, &lineage)
            }
        }
    }

    /// The conditions of a try to write an archive.
    private struct Try {
        var number = 1
        var isFull = false
        var missing: Set<RelativePath> = []

        var isLast: Bool { number >= CreateBackup.cutsLimit }
    }

    /// Prepares the next try after an error.
    ///
    /// - Throws: the error if another try is of no use.
    private func prepare(
        _ next: inout Try,
        after error: any Error,
        _ lineage: inout Lineage?
    ) throws {
        lineage?.drop()
        if lineage != nil, error.isOfState {
            leave(&lineage, since: error)
        } else if let reason = error.reasonForFull {
            context.note("a whole backup is made: \(reason)")
            if error is HistoryError { try lineage?.renew() }
            next.isFull = true
        } else if let again = error as? CutAgain, !next.isLast {
            context.note("\(again.reason) while it was backed up: starting again")
            next.missing = again.missing ?? next.missing
        } else {
            throw error
        }
        next.number += 1
    }

    /// Makes a cut and passes it to the writer, which releases it as early as possible.
    private func writer(
        _ plan: BackupPlan,
        of directory: StoresDirectory,
        to draft: ArchiveDraft,
        after backups: [Backup]
    ) async throws -> BackupWriter {
        let cut = try await BackupCut.make(
            of: directory,
            for: options,
            passingOver: plan.passesOver,
            context
        )
        try refuseLeavingOutAll(cut.survey, of: directory)
        guard cut.survey.fileCount > 0 else { throw OperationError.nothingToBackUp(path) }
        if draft.isFile {
            try destination.checkSpace(
                for: cut.survey,
                isCompressed: options.compression != .none,
                after: folder.own(backups).newestGood(at: options.date)
            )
        }
        return BackupWriter(of: cut, in: directory, to: draft.sink, plan, context)
    }

    /// Throws `OperationError.everyStoreLeftOut` if there are stores, and all of them are excluded.
    ///
    /// That is a mistake, which would otherwise be noticed only when a store must be restored.
    ///
    /// A safety backup saves the data that a restore replaces, which may include no store.
    func refuseLeavingOutAll(
        _ survey: StoresDirectory.Survey,
        of directory: StoresDirectory
    ) throws {
        guard survey.stores.isEmpty, survey.leftOut.count > 0, options.keptPaths == nil else {
            return
        }
        func stores(besides leftOut: LeavingOut) throws -> [Store] {
            let isCancelled = context.checkCancellation
            return try directory.survey(leavingOut: leftOut, isCancelled: isCancelled).stores
        }
        // The first search may have skipped a store of irregular size.
        guard let store = try stores(besides: .nothing).first,
            try stores(besides: options.leavingOut).isEmpty
        else { return }
        throw OperationError.everyStoreLeftOut(directory.path, store: store.path.description)
    }

    private func publish(
        _ archive: NewBackup.Archive,
        _ written: WrittenArchive,
        beside backups: [Backup]
    ) async throws -> (Backup, RemoteError?) {
        if let refusal, let outbox = folder.outbox, written.size > room {
            throw try await outbox.full(beside: outbox.waiting(), since: refusal)
        }
        context.report(.began(.uploading, total: nil))
        let new = NewBackup(
            archive,
            size: written.size,
            header: written.header,
            signature: written.signature,
            content: written.trailer.content,
            isPartial: written.trailer.problems.contains(where: \.isOfTheBackup),
            isEncrypted: try recipients() != nil,
            tags: options.tags,
            note: options.note
        )
        let (backup, error) = try await new.publish(
            in: destination,
            at: options.date,
            beside: backups,
            mayNumber: options.sameName != .fail,
            onItsWayTo: options.queues ? folder : nil,
            warn: { context.warn(explain($0)) },
            checkCancellation: context.checkCancellation
        )
        context.reportProblems([error?.problem].compactMap(\.self))
        return (backup, error)
    }
}

extension CreateBackup.Outcome {
    fileprivate init(
        _ backup: Backup,
        _ written: WrittenArchive,
        isUnchanged: Bool,
        of backups: Int
    ) {
        self.init(
            backup: backup,
            isUnchanged: isUnchanged,
            entries: written.trailer.entries,
            bytes: written.trailer.bytes,
            backups: backups,
            stores: written.header.stores.count,
            leftOut: written.header.excluded?.count ?? 0,
            problems: written.trailer.problems
        )
    }
}

extension Problem {
    /// Creates the problem that the backups of an earlier system or key are neither compared with nor pruned.
    init(notContinuing last: Predecessor) {
        let shown = printable(bytes: last.name.utf8)
        let steps = [
            last.isOther ? "set 'origin' to '\(shown)'" : nil,
            last.key.map { "run 'grocerydude trust add \($0.fingerprint)'" },
        ].compactMap(\.self).joined(separator: ", and ")
        self.init(
            kind: .notContinued,
            path: last.backup.name,
            reason:
                "another system or key made '\(last.backup.displayName)' of '\(shown)': nothing is compared with it, and it is not pruned; to continue its backups, \(steps)"
        )
    }
}
