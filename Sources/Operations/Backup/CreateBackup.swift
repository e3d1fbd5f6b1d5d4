public import Archives
internal import Files
public import Foundation
public import Remotes
public import Stores
public import SystemPackage

/// Saves a stores directory into one archive in a remote folder, while applications use it.
///
/// What stays when it fails: the remote folder as it was. What a killed run leaves is a hidden
/// partial file, which the next run removes. Locks are taken in this order: the stores directory,
/// the remote folder's staging directory, then SQLite's.
public struct CreateBackup: Sendable {
    /// What may be chosen.
    public struct Options: Sendable {
        public var compression: Compression = .default
        /// When the backup is made; its name and its manifest say so.
        public var date: Date
        public var timeZone: TimeZone
        /// The program's name and version, for the manifest.
        public var tool: String
        /// Why it is made, where that is not plain.
        public var reason: String?
        /// For how long to try while a writer lets nobody read a store.
        public var busyTimeout: Duration = .seconds(30)
        /// Whether every store is checked in full while it is saved, which takes a while.
        public var checksStores = false
        /// Whether what is there is right, however much less than before it is.
        public var acceptsChanges = false
        /// Whether to make none where the newest one has the same content; times do not count.
        public var skipsUnchanged = false
        /// What to tag it with.
        public var tags: [String] = []
        /// What to note of it.
        public var note: String?
        /// What tells whether the newest one was found to be damaged, where that matters.
        public var log: RunLog?
        /// Whether it is made before a restore: what was lost is then no news.
        var isBeforeRestore = false

        public init(date: Date, timeZone: TimeZone, tool: String) {
            self.date = date
            self.timeZone = timeZone
            self.tool = tool
        }
    }

    /// What was done.
    public struct Outcome: Sendable {
        /// The new backup, or the newest one where none was made.
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
        /// What could not be done as it should; the backup is partial if there is any.
        public var problems: [Problem]
        /// Of one of the problems, the error: the archive is there, but may not be on the disk.
        var notSynced: RemoteError?
    }

    private static let cutsLimit = 5

    private let path: FilePath
    let remote: any RemoteFolder
    let catalog: BackupCatalog
    let options: Options
    private let context: OperationContext

    public init(
        of stores: FilePath,
        to remote: any RemoteFolder,
        catalog: BackupCatalog,
        options: Options,
        context: OperationContext
    ) {
        path = stores
        self.remote = remote
        self.catalog = catalog
        self.options = options
        self.context = context
    }

    /// Makes the backup.
    ///
    /// - Throws: `OperationError`, `RemoteError`, `FileError.locked`, `CancellationError`.
    public func run() async throws -> Outcome {
        let directory = try StoresDirectory.opened(path)
        let lock = try await context.lock(directory.path)
        defer { withExtendedLifetime(lock) {} }
        return try await runLocked(directory)
    }

    /// Makes the backup for a caller that has the stores directory locked.
    ///
    /// - Parameters:
    ///   - directory: the stores directory.
    ///   - locks: more locks that the caller has: the remote folder may be what one is on.
    /// - Returns: see `run()`.
    /// - Throws: see `run()`.
    func runLocked(
        _ directory: StoresDirectory,
        holding locks: [FileLock] = []
    ) async throws -> Outcome {
        try directory.refuseRemote(remote)
        let isHeld = locks.contains { (try? $0.isHeld(on: remote.staging)) ?? false }
        let lock = isHeld ? nil : try await context.lock(remote)
        defer { withExtendedLifetime(lock) {} }
        // Only now that nobody else changes it. A folder that is not there is better told before the work
        // than after it.
        let backups = try await ListBackups(
            in: remote,
            catalog: catalog,
            timeZone: options.timeZone,
            log: options.log
        ).run().backups
        if let warning = backups.first?.futureWarning(at: options.date) {
            context.report(.warning(warning))
        }
        do {
            try removeLeftovers()
            return try await build(directory, after: backups)
        } catch let error where Self.saysItAll(error) {
            throw error
        } catch {
            throw OperationError.backupFailed(error)
        }
    }

    private func anomalyGuard(after backups: [Backup]) -> AnomalyGuard {
        let real = backups.notFromFuture(options.date)
        let baseline = catalog.baseline(
            after: real.isEmpty ? backups : real,
            in: remote.address
        )
        if baseline == nil, backups.contains(where: { $0.file.location == nil }) {
            context.report(
                .note("the last backup was made elsewhere: what it had is not compared with")
            )
        }
        return AnomalyGuard(
            baseline: baseline,
            acceptsChanges: options.acceptsChanges,
            isBeforeRestore: options.isBeforeRestore
        )
    }

    private static func saysItAll(_ error: any Error) -> Bool {
        // Of a note that was not synced, it has to be said that there is no backup.
        (error as? RemoteError).map { $0.problem == nil } ?? false
            || error is OperationError || error is CancellationError || error is StoreError
    }

    /// We have the lock, so what is here was left by a run that was killed.
    private func removeLeftovers() throws {
        let staging = try Directory.open(remote.staging)
        for name in try staging.names() {
            let text = name.description
            guard LocalFolder.isPartialName(text), try staging.info(name).kind == .file
            else { continue }
            try staging.removeFile(name)
            context.report(.note("removed '\(text)', which an interrupted run left"))
        }
    }

    private func build(
        _ directory: StoresDirectory,
        after backups: [Backup]
    ) async throws -> Outcome {
        let partial = remote.staging.appending(
            LocalFolder.makePartialName()
        )
        do {
            let file = try File.create(partial)
            let written = try await writeArchive(
                of: directory,
                to: file,
                anomalyGuard(after: backups)
            )
            if let same = try await unchanged(written, since: backups) {
                let (backup, isAnnotated) = try await annotate(same)
                try LocalFileSystem().remove(partial)
                var outcome = Outcome(backup, written, isUnchanged: true)
                outcome.isAnnotated = isAnnotated
                return outcome
            }
            try file.sync()
            let (backup, error) = try await publish(partial, size: file.info().size, written)
            var outcome = Outcome(backup, written, isUnchanged: false)
            outcome.notSynced = error
            outcome.problems += error?.problem.map { [$0] } ?? []
            return outcome
        } catch {
            try? LocalFileSystem().remove(partial)
            throw error
        }
    }

    private func writeArchive(
        of directory: StoresDirectory,
        to file: File,
        _ anomalyGuard: AnomalyGuard
    ) async throws -> WrittenArchive {
        var attempt = 1
        var missing: Set<RelativePath> = []
        while true {
            let (build, stores) = try await beginBuild(
                of: directory,
                to: file,
                anomalyGuard,
                missing: missing,
                isLastTry: attempt == Self.cutsLimit
            )
            do {
                let trailer = try build.run()
                for problem in trailer.problems { context.report(.problem(problem)) }
                return WrittenArchive(header: build.header, trailer: trailer, stores: stores)
            } catch let again as CutAgain where attempt < Self.cutsLimit {
                context.report(.note("\(again.reason) while it was backed up: starting again"))
                missing = again.missing ?? missing
                try file.truncate(to: 0)
                attempt += 1
            }
        }
    }

    /// Makes a cut and hands it over: the build lets go of it as early as it can.
    private func beginBuild(
        of directory: StoresDirectory,
        to file: File,
        _ anomalyGuard: AnomalyGuard,
        missing: Set<RelativePath>,
        isLastTry: Bool
    ) async throws -> (BackupBuild, stores: Int) {
        let cut = try await BackupCut.make(of: directory, busyTimeout: options.busyTimeout, context)
        guard cut.survey.fileCount > 0 else { throw OperationError.nothingToBackUp(path) }
        let plan = BackupBuild.Plan(
            compression: options.compression,
            date: options.date,
            header: { try header(of: directory, $0) },
            anomalyGuard: anomalyGuard,
            checksStores: options.checksStores,
            remote: remote.identity.map { ($0, remote.address) },
            knownMissing: missing,
            isLastTry: isLastTry
        )
        let build = BackupBuild(of: cut, in: directory, to: file, plan, context)
        return (build, cut.members.count)
    }

    private func header(
        of directory: StoresDirectory,
        _ stores: [(StoresCut.Member, StoreReport)]
    ) throws -> ManifestHeader {
        let root = try FileInfo(of: directory.path)
        return ManifestHeader(
            format: ManifestHeader.currentFormat,
            created: Timestamp.rfc3339(options.date, in: options.timeZone),
            tool: options.tool,
            reason: options.reason,
            segmentSize: Segment.size,
            root: ManifestHeader.Root(
                mode: FileRecord.octal(root.mode),
                uid: root.owner,
                gid: root.group
            ),
            stores: stores.map { member, report in
                ManifestHeader.StoreRecord(path: member.store.path, facts: report.facts)
            }
        )
    }

    /// Gives the archive its name, the next one of that minute that is free.
    ///
    /// - Returns: the backup, and the error where it is not known to be on the disk.
    private func publish(
        _ partial: FilePath,
        size: Int64,
        _ written: WrittenArchive
    ) async throws -> (Backup, RemoteError?) {
        context.report(.began(.uploading, total: nil))
        let taken = try await takenNames()
        for number in 1... {
            let name = BackupName.make(options.date, in: options.timeZone, number: number)
            // What is said of the backup of that name must stay said.
            if taken.contains(name) { continue }
            var notSynced: RemoteError?
            do {
                try context.checkCancellation()
                try await annotate(name, size: size)
                notSynced = try await upload(partial, as: name)
            } catch RemoteError.exists {
                continue
            }
            let file = RemoteFile(name: name, size: size, location: remote.location(of: name))
            var backup = Backup(file: file, time: options.date, timeSource: .manifest)
            if let header = written.header {
                backup.take(header)
                catalog.rememberBaseline(header.successorBaseline, of: file, in: remote.address)
            }
            backup.content = written.trailer.content
            backup.tags = options.tags
            backup.note = options.note
            catalog.remember(backup, in: remote.address)
            return (backup, notSynced)
        }
        preconditionFailure("numbers do not end")
    }

    /// - Returns: the error of an archive that has its name, though perhaps not on the disk.
    private func upload(_ partial: FilePath, as name: String) async throws -> RemoteError? {
        do {
            try await remote.upload(partial, as: name)
            return nil
        } catch let error as RemoteError {
            guard let problem = error.problem else { throw error }
            context.report(.problem(problem))
            return error
        }
    }

    /// The names that are in use where the upload does not find out, or that matter before it does.
    ///
    /// What is in the trash may come back, and with it what is said of it.
    private func takenNames() async throws -> Set<String> {
        var trashed: Set<String> = []
        do {
            trashed = try await Set(Trash(remote: remote).entries().map(\.name))
        } catch let error as RemoteError {
            // Nothing can come back out of what is no trash: no reason to make no backup.
            guard case .notASubfolder = error else { throw error }
            context.report(.warning(explain(error)))
        }
        guard !options.tags.isEmpty || options.note != nil else { return trashed }
        return try await trashed.union(remote.list().map(\.name))
    }

    /// Writes tags and note down before the archive can be seen: a policy that keeps what has a tag
    /// must never find it without.
    private func annotate(_ name: String, size: Int64) async throws {
        guard !options.tags.isEmpty || options.note != nil else { return }
        var annotations = try await Annotations(of: remote)
        try await annotations.change(name, size: size, at: options.date) {
            $0.tags = options.tags
            $0.note = options.note
        }
    }
}

extension CreateBackup.Outcome {
    fileprivate init(_ backup: Backup, _ written: WrittenArchive, isUnchanged: Bool) {
        self.init(
            backup: backup,
            isUnchanged: isUnchanged,
            entries: written.trailer.entries,
            bytes: written.trailer.bytes,
            stores: written.stores,
            problems: written.trailer.problems
        )
    }
}

extension StoresDirectory {
    /// Opens a directory; `OperationError.noStores` where there is none.
    static func opened(_ path: FilePath) throws -> StoresDirectory {
        do {
            return try StoresDirectory(path)
        } catch let error as FileError where error.isMissing {
            throw OperationError.noStores(path)
        }
    }
}
