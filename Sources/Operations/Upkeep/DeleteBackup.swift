public import Backups
internal import Files
public import Foundation

/// Removes a backup from its folder, or brings it back.
public struct DeleteBackup: Sendable {
    private let folder: BackupFolder
    private let context: OperationContext

    public init(from folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// The backups that a deletion removed, or would remove.
    public struct Outcome: Sendable {
        /// The deleted backups: those built on the named one first, and the named one last.
        public var backups: [Backup]
        /// The problems that occurred although the backups were deleted.
        public var problems: [Problem] = []
    }

    /// Determines the backups that would be deleted, without deleting any.
    ///
    /// - Parameters: see `run`.
    /// - Returns: the backup, preceded by all backups that cannot be restored without it.
    /// - Throws: see `run`.
    public func plan(
        _ backup: Backup,
        keepingTrash trash: Duration,
        withDependants: Bool = false
    ) async throws -> [Backup] {
        let folder = folder.home(of: backup)
        let trash = backup.isWaiting ? .zero : trash
        // Read all archives that may need it: a guess suffices to keep a backup, but not to delete one.
        let dependants = try await Dependants(
            of: backup,
            in: folder,
            goneForGood: backup.isWaiting || backup.trashTime(trash) <= .zero
        ) { context.report(.began(.fetching, total: $0)) }
        let others = dependants.known.filter {
            $0.isWaiting && !backup.isWaiting || !dependants.listed.contains($0.name.exact)
        }
        guard others.isEmpty else {
            throw BackupFolderError.needed(
                backup.displayName,
                by: others.newestFirst.map {
                    "\($0.displayName), which \($0.isWaiting ? "waits to be sent" : "is in the trash")"
                }
            )
        }
        guard dependants.known.isEmpty || withDependants else {
            throw BackupFolderError.needed(
                backup.displayName,
                by: dependants.known.newestFirst.map(\.displayName)
            )
        }
        guard dependants.possible.isEmpty else {
            throw BackupFolderError.perhapsNeeded(
                backup.displayName,
                by: dependants.possible.map(\.displayName)
            )
        }
        let all = dependants.known + [backup]
        let annotations = try await folder.annotations()
        for one in all where annotations.annotation(of: one)?.isPinned ?? false {
            throw BackupFolderError.pinned(one.displayName)
        }
        return all
    }

    /// Deletes a backup; only `PruneBackups` empties the trash.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - date: the current time.
    ///   - trash: the time for which it can be brought back; a prune ends that.
    ///   - withDependants: whether to first delete all backups that cannot be restored without it.
    ///   - agreed: the backups that may be deleted, as planned; `nil` for all that must be.
    /// - Returns: the deleted backups.
    /// - Throws: `RemoteError`, `FileError.locked`; `BackupFolderError.pinned`, `.needed`, and `.perhapsNeeded` if that
    ///   cannot be determined for some: then nothing is deleted.
    @discardableResult
    public func run(
        _ backup: Backup,
        at date: Date,
        keepingTrash trash: Duration,
        withDependants: Bool = false,
        agreed: [Backup]? = nil
    ) async throws -> Outcome {
        // A waiting backup exists nowhere else: it is deleted without the trash.
        let folder = folder.home(of: backup)
        let trash = backup.isWaiting ? .zero : trash
        return try await context.withLock(folder) {
            // Plan only under the lock, when the folder cannot change.
            let all = try await plan(
                backup,
                keepingTrash: trash,
                withDependants: withDependants
            )
            if let agreed = agreed.map({ Set($0.map(\.name.exact)) }) {
                let others = all.filter { !agreed.contains($0.name.exact) }
                guard others.isEmpty else {
                    throw BackupFolderError.needed(
                        backup.displayName,
                        by: others.map(\.displayName)
                    )
                }
            }
            var problems: [Problem] = []
            for one in all {
                let problem = try await folder.remove(
                    one,
                    at: date,
                    keepingTrash: backup.isWaiting ? .zero : one.trashTime(trash)
                )
                problems += [problem].compactMap(\.self)
            }
            let gone = all.filter { backup.isWaiting || $0.trashTime(trash) <= .zero }
            if !gone.isEmpty {
                do {
                    let forgotten = try await folder.notes.forget(Set(gone.map(\.name.exact)))
                    problems += [forgotten].compactMap(\.self)
                } catch {
                    let path = Annotations.subfolder
                    problems.append(Problem(kind: .notRemoved, path: path, reason: explain(error)))
                }
            }
            context.reportProblems(problems)
            return Outcome(backups: all, problems: problems)
        }
    }

    /// Brings a deleted backup back, after all its base backups; see `Trash.bringBack`.
    ///
    /// - Returns: the backup, the base backups that came back with it, and the problems that occurred although it is
    ///   back.
    /// - Throws: `BackupFolderError`; `.consolidated` if a full backup is in its place; `RemoteError`, `FileError`.
    public func undo(
        _ text: String
    ) async throws -> (backup: TrashedBackup, needs: [TrashedBackup], problems: [Problem]) {
        try await context.withLock(folder) {
            let backup = try await folder.trash.find(text)
            let listed = try await folder.list().backups
            if let whole = listed.whole(inPlaceOf: folder.trash.backup(backup)) {
                throw BackupFolderError.consolidated(backup.name, whole: whole.name)
            }
            let needs = try await trashedNeeds(of: backup)
            var problems: [Problem] = []
            for one in needs + [backup] {
                problems += try await [folder.trash.bringBack(one)].compactMap(\.self)
            }
            if !needs.isEmpty {
                let names = needs.map { "'\($0.displayName)'" }.joined(separator: ", ")
                context.note("it is built on others, which are back too: \(names)")
            }
            context.reportProblems(problems)
            return (backup, needs, problems)
        }
    }

    /// Returns the deleted base backups of a backup, in the order in which they must come back.
    ///
    /// A backup that cannot be read comes back alone, because the user asked for it.
    private func trashedNeeds(of backup: TrashedBackup) async throws -> [TrashedBackup] {
        do {
            let found = try await NeedSearch.whereabouts(of: backup, in: folder)
            if let need = found.missing.first {
                context.warn(
                    "'\(backup.displayName)' cannot be restored: it is built on '\(BackupName.display(need.name))', which is gone"
                )
            }
            return found.trashed
        } catch let error where error.isOfKeys || error.reportsDamage {
            context.warn(
                "it is not known what '\(backup.displayName)' is built on: \(explain(error))"
            )
            return []
        }
    }
}
