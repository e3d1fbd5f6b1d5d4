internal import Archives
public import Backups
internal import Files
internal import Foundation
internal import History
internal import Remotes
internal import Stores
internal import SystemPackage

/// The plan of a backup: everything that is known before it is made.
public struct BackupPreview: Sendable {
    /// The name that the backup would get now.
    public private(set) var name = ""
    /// The number of backups in the folder; `nil` if it cannot be listed.
    public private(set) var backups: Int?
    /// The names of the backups that it would be built on, the full one first; empty for a full backup.
    public private(set) var needs: [String] = []
    /// The printable paths of the stores.
    public private(set) var stores: [String] = []
    public private(set) var files: [ShowBackup.File] = []
    /// The number of excluded files and directories.
    public private(set) var leftOut = 0
    /// The first of their paths, printable.
    public private(set) var leftOutPaths: [String] = []
    /// The problems that make the backup partial.
    public fileprivate(set) var problems: [Problem] = []
    /// The reason why it would wait on this machine; `nil` if it would be in its folder.
    public private(set) var waitsFor: (any Error)?
    /// The first reason for which no backup can be made now.
    public private(set) var obstacle: (any Error)?

    /// The total size of all files in bytes.
    public var bytes: Int64 {
        files.reduce(0) { $1.type == "file" ? $0.addingSaturated($1.size) : $0 }
    }
}

extension CreateBackup {
    /// Plans the backup, and changes nothing.
    ///
    /// No store's rows are read, and no lock is taken.
    ///
    /// - Parameter mayBeNew: whether a run creates the folder if it is missing.
    /// - Returns: the plan; an error of the folder is in it, so that the rest is known all the same.
    /// - Throws: `OperationError`, `FileError`, `CancellationError`.
    public func preview(folderMayBeNew mayBeNew: Bool = false) async throws -> BackupPreview {
        let directory = try StoresDirectory(existing: path)
        try await context.refuse(folder, in: directory.path)
        var preview = BackupPreview()
        try preview.lookForRestores(of: self)
        preview.attempt { try refuseLocked(directory.path) }
        let backups = try await preview.list(for: self, mayBeNew)
        if preview.backups != nil {
            preview.attempt { try refuseLocked(folder.staging) }
            preview.attempt { try refuseTakenName(among: backups) }
            await reportFolder(beside: backups)
        }
        preview.attempt { _ = try recipients() }
        let cut = try await BackupCut.make(
            of: directory,
            for: options,
            passingOver: { _ in false },
            context
        )
        try refuseLeavingOutAll(cut.survey, of: directory)
        guard cut.survey.fileCount > 0 else { throw OperationError.nothingToBackUp(path) }
        preview.checkPlace(of: self, for: cut.survey, among: backups)
        try preview.add(cut, of: directory, by: self)
        preview.problems += [notContinued(among: backups)].compactMap(\.self)
        preview.choose(for: self, among: backups)
        return preview
    }

    /// Throws if another run has locked a directory, and a backup would not wait for it.
    private func refuseLocked(_ path: FilePath) throws {
        guard let holder = try? LockHolder.of(path) else { return }
        guard context.lockWait == .zero else {
            return context.note("a backup would wait for \(holder)")
        }
        throw FileError.locked(path, holder: holder)
    }
}

// The steps of a run, in their order, without their effects.
extension BackupPreview {
    /// Runs a step of a backup, and keeps the first error.
    fileprivate mutating func attempt(_ step: () throws -> Void) {
        do {
            try step()
        } catch {
            obstacle = obstacle ?? error
        }
    }

    /// Reports an unfinished restore.
    fileprivate func lookForRestores(of create: CreateBackup) throws {
        for layout in RestorePaths.Layout.allCases {
            guard let paths = try RestorePaths(resolving: create.path, layout),
                try paths.hasTraces()
            else { continue }
            create.context.note(
                "a restore is running, or was interrupted: a backup first finishes or undoes it"
            )
        }
    }

    /// Lists the backups beside the new one.
    fileprivate mutating func list(
        for create: CreateBackup,
        _ mayBeNew: Bool
    ) async throws -> [Backup] {
        let (folder, queues) = (create.folder, create.options.queues)
        let waiting = queues ? try await folder.outbox?.waiting() ?? [] : []
        do {
            let listed = try await folder.list().backups
            backups = listed.count
            var all = listed + waiting
            all.sortNewestFirst()
            return all
        } catch RemoteError.missing where mayBeNew {
            backups = 0
        } catch let error where queues && error.isUnreachable {
            waitsFor = error
            attempt { _ = try folder.outbox?.room(beside: waiting, since: error) }
        } catch  where !(error is CancellationError) {
            attempt { throw error }
        }
        return waiting
    }

    /// Checks whether an archive can be made in its place, which may be missing until a run creates it.
    fileprivate mutating func checkPlace(
        of create: CreateBackup,
        for survey: StoresDirectory.Survey,
        among backups: [Backup]
    ) {
        let (folder, options) = (create.folder, create.options)
        let place = create.destination.workplace
        attempt {
            try options.refusePlain(among: backups, in: folder, for: create.recipients())
        }
        guard (try? Directory.open(place)) != nil else { return }
        attempt {
            guard place.allowsChanges else {
                let error = FileError.failed(.write, place, .permissionDenied)
                throw OperationError.backupFailed(error)
            }
            guard !options.streams || options.queues || folder.remote.streams == nil else { return }
            try create.destination.checkSpace(
                for: survey,
                isCompressed: options.compression != .none,
                after: folder.own(backups).newestGood(at: options.date)
            )
        }
    }

    fileprivate mutating func add(
        _ cut: BackupCut,
        of directory: StoresDirectory,
        by create: CreateBackup
    ) throws {
        let survey = cut.survey
        files = try cut.files(
            in: directory,
            leavingOut: create.options.leavingOut,
            create.context
        )
        stores = (survey.stores + survey.foreign).map(\.path.description)
        leftOut = survey.leftOut.count
        leftOutPaths = survey.leftOut.paths.map(\.description)
        problems = cut.knownProblems
        problems += survey.absentStores(in: directory)
    }

    /// Chooses the name, and the backups that the new one would be built on.
    fileprivate mutating func choose(for create: CreateBackup, among backups: [Backup]) {
        let (folder, options) = (create.folder, create.options)
        if waitsFor == nil, let increments = options.increments {
            // If the state of the last backups cannot be read, a full backup is made.
            let place = try? LineagePlan.place(
                of: increments,
                among: create.bases(among: folder.own(backups)),
                at: options.date
            )
            needs = place?.needs.map(\.name) ?? []
        }
        name = folder.likelyName(
            at: options.date,
            beside: backups,
            isIncrement: !needs.isEmpty,
            isEncrypted: folder.keys.encrypts || options.isAlwaysEncrypted
        )
    }
}

extension LineagePlan {
    /// Returns the number and the needs of the next increment according to the recorded state, which is only read.
    ///
    /// - Returns: `nil` if a full backup is due.
    /// - Throws: `HistoryError`, `FileError`.
    fileprivate static func place(
        of options: IncrementOptions,
        among backups: [Backup],
        at date: Date
    ) throws -> (number: Int, needs: [BackupState.Made])? {
        guard let state = try BackupState(reading: options.statePath) else { return nil }
        defer { state.close() }
        guard let lineage = try state.text("lineage") else { return nil }
        return try place(in: lineage, state, among: backups, options, at: date)
    }
}
