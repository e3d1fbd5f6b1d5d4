internal import Remotes
internal import History
public import Archives
public import Backups
internal import Files
public import Foundation
internal import Stores
public import SystemPackage

/// Saves a stores directory into one archive in a remote folder, while applications use it.
///
/// If it fails, the remote folder stays as it was; a killed run leaves a hidden partial file, which the
/// next run removes. Locks are taken in this order: the stores directory, the remote folder's staging
/// directory, then SQLite's.
public struct CreateBackup: Sendable {
    /// The choices that a backup leaves.
    public struct Options: Sendable {
        public var compression: Compression = .default
        /// When the backup is made; its name and its manifest say so.
        public var date: Date
        /// The program's name and version, for the manifest.
        public var tool: String
        /// Why it is made, if that is not plain.
        public var reason: String?
        /// For how long to try while a writer lets nobody read a store.
        public var busyTimeout: Duration = .seconds(30)
        /// Whether every store is checked in full while it is saved, which takes a while.
        public var checksStores = false
        /// Whether a remark of that check is damage: rows that refer to rows that are not there.
        public var isStrict = false
        /// Whether the data is right, however much less than before it is.
        public var acceptsChanges = false
        /// Whether to make none if the newest one has the same content; times do not count.
        public var skipsUnchanged = false
        public var tags: [String] = []
        public var note: String?
        /// Whether it is made before a restore: what was lost is then no news.
        var isBeforeRestore = false

        public init(date: Date, tool: String) {
            self.date = date
            self.tool = tool
        }
    }

    /// The result of a backup.
    public struct Outcome: Sendable {
        /// The new backup, or the newest one if none was made.
        public var backup: Backup
        /// Whether none was made, since `backup` has the same content.
        public var isUnchanged = false
        /// Whether the tags and the note were added to that one.
        public var isAnnotated = false
        /// Entries in the archive, without the manifest.
        public var entries: Int
        /// Bytes in all files before compression.
        public var bytes: Int64
        /// How many stores were cut.
        public var stores: Int
        /// Everything that could not be done as it should; the backup is partial if there is any.
        public var problems: [Problem]
        /// Of one of the problems, the error: the archive is there, but may not be on the disk.
        var notSynced: RemoteError?
    }

    private static let cutsLimit = 5

    private let path: FilePath
    let folder: BackupFolder
    let options: Options
    private let context: OperationContext

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
        let directory: StoresDirectory
        do {
            directory = try StoresDirectory(path)
        } catch let error as FileError where error.isMissing {
            throw OperationError.noStores(path)
        }
        return try await context.withLock(on: directory.path) { try await runLocked(directory) }
    }

    /// Makes the backup for a caller that has locked the stores directory, and perhaps others: one may
    /// be the backup folder.
    func runLocked(
        _ directory: StoresDirectory,
        holding locked: [FilePath] = []
    ) async throws -> Outcome {
        try directory.refuseRemote(folder)
        if let identity = folder.identity,
            try locked.contains(where: { try FileInfo(of: $0).identity == identity })
        {
            return try await runWithFolderLocked(directory)
        }
        return try await context.withLock(folder) { try await runWithFolderLocked(directory) }
    }

    private func runWithFolderLocked(_ directory: StoresDirectory) async throws -> Outcome {
        // Only now that nobody else changes it; and a missing folder is better told before the work.
        let backups = try await folder.list().backups
        if let warning = backups.first?.futureWarning(at: options.date) {
            context.warn(warning)
        }
        do {
            try removeLeftovers()
            await removeRemoteLeftovers()
            return try await make(directory, after: backups)
        } catch let error where Self.saysItAll(error) {
            throw error
        } catch {
            throw OperationError.backupFailed(error)
        }
    }

    private static func saysItAll(_ error: any Error) -> Bool {
        // A note that was not synced says nothing of the backup: there is none.
        (error as? RemoteError).map { $0.problem == nil && !$0.isOfTransfer } ?? false
            || error is OperationError || error is BackupFolderError
            || error is CancellationError || error is StoreError || error is HistoryError
    }

    /// Removes what a killed run left: we have the lock, so nobody else is writing.
    private func removeLeftovers() throws {
        let staging = try Directory.open(folder.staging)
        for name in try staging.names() {
            let text = name.description
            guard PartialName.matches(text), try staging.info(name).kind == .file else { continue }
            try staging.removeFile(name)
            context.note("removed '\(text)', which an interrupted run left")
        }
    }

    /// Removes what killed uploads left in the remote folder, so that it takes no space.
    private func removeRemoteLeftovers() async {
        do {
            for name in try await folder.remote.removeLeftovers() {
                context.note("removed '\(name)', which an interrupted run had uploaded")
            }
        } catch is CancellationError {
            // The next step notices it, too.
        } catch {
            context.note("what interrupted runs had uploaded was not removed: \(explain(error))")
        }
    }

    private func anomalyGuard(after backups: [Backup]) -> AnomalyGuard {
        let real = backups.notFromFuture(options.date)
        let expected = folder.memory.catalog.expectedRows(
            after: real.isEmpty ? backups : real,
            in: folder.address
        )
        if expected == nil, backups.contains(where: { $0.file.location == nil }) {
            context.note("the last backup was made elsewhere: its rows are not compared with these")
        }
        return AnomalyGuard(
            expected: expected,
            acceptsChanges: options.acceptsChanges,
            isBeforeRestore: options.isBeforeRestore
        )
    }

    // MARK: - The archive

    private func make(
        _ directory: StoresDirectory,
        after backups: [Backup]
    ) async throws -> Outcome {
        let (file, written) = try await write(directory, anomalyGuard(after: backups))
        do {
            if let same = try await unchanged(written, since: backups) {
                let (backup, isAnnotated) = try await annotate(same)
                try LocalFileSystem().remove(file.path)
                var outcome = Outcome(backup, written, isUnchanged: true)
                outcome.isAnnotated = isAnnotated
                return outcome
            }
            try file.sync()
            let (backup, error) = try await publish(file, written)
            var outcome = Outcome(backup, written, isUnchanged: false)
            outcome.notSynced = error
            outcome.problems += error?.problem.map { [$0] } ?? []
            return outcome
        } catch {
            try? LocalFileSystem().remove(file.path)
            throw error
        }
    }

    /// Writes an archive, and another one if something changed that only a new cut can mend: an archive
    /// is only ever appended to.
    private func write(
        _ directory: StoresDirectory,
        _ anomalyGuard: AnomalyGuard
    ) async throws -> (File, WrittenArchive) {
        var missing: Set<RelativePath> = []
        for attempt in 1... {
            let partial = folder.staging.appending(PartialName.make())
            do {
                let file = try File.create(partial)
                let plan = BackupWriter.Plan(
                    options: options,
                    folder: folder,
                    anomalyGuard: anomalyGuard,
                    knownMissing: missing,
                    isLastTry: attempt == Self.cutsLimit
                )
                return (file, try await writer(plan, of: directory, to: file).run())
            } catch {
                try? LocalFileSystem().remove(partial)
                guard let again = error as? CutAgain, attempt < Self.cutsLimit else { throw error }
                context.note("\(again.reason) while it was backed up: starting again")
                missing = again.missing ?? missing
            }
        }
        preconditionFailure("the last try throws")
    }

    /// Makes a cut and hands it over: the writer lets go of it as early as it can.
    private func writer(
        _ plan: BackupWriter.Plan,
        of directory: StoresDirectory,
        to file: File
    ) async throws -> BackupWriter {
        let cut = try await BackupCut.make(of: directory, busyTimeout: options.busyTimeout, context)
        guard cut.survey.fileCount > 0 else { throw OperationError.nothingToBackUp(path) }
        return BackupWriter(of: cut, in: directory, to: file, plan, context)
    }

    private func publish(
        _ file: File,
        _ written: WrittenArchive
    ) async throws -> (Backup, RemoteError?) {
        context.report(.began(.uploading, total: nil))
        let (backup, error) = try await folder.publish(
            BackupFolder.NewBackup(
                file.path,
                size: file.info().size,
                header: written.header,
                content: written.trailer.content,
                tags: options.tags,
                note: options.note
            ),
            at: options.date,
            warn: { context.warn(explain($0)) },
            checkCancellation: context.checkCancellation
        )
        context.tell([error?.problem].compactMap(\.self))
        return (backup, error)
    }
}

extension CreateBackup.Outcome {
    fileprivate init(_ backup: Backup, _ written: WrittenArchive, isUnchanged: Bool) {
        self.init(
            backup: backup,
            isUnchanged: isUnchanged,
            entries: written.trailer.entries,
            bytes: written.trailer.bytes,
            stores: written.header.stores.count,
            problems: written.trailer.problems
        )
    }
}
