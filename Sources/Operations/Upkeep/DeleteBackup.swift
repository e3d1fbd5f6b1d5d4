public import Backups
internal import Files
public import Foundation

/// Removes a backup from its folder, and brings it back.
public struct DeleteBackup: Sendable {
    private let folder: BackupFolder
    private let context: OperationContext

    public init(from folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// What a deletion took, or would take.
    public struct Outcome: Sendable {
        /// The backup, after all that went with it.
        public var backups: [Backup]
        /// Everything that is not as it should be although they were deleted.
        public var problems: [Problem] = []
    }

    /// Finds out what would be deleted; nothing is.
    ///
    /// - Parameters: see `run`.
    /// - Returns: the backup, and before it all that cannot be restored without it.
    /// - Throws: see `run`.
    public func plan(
        _ backup: Backup,
        keepingTrash trash: Duration,
        withDependants: Bool = false
    ) async throws -> [Backup] {
        let folder = folder.home(of: backup)
        let trash = backup.isWaiting ? .zero : trash
        // All archives that may need it are looked into: a guess is enough to keep a backup, not to delete one.
        let dependants = try await folder.dependants(
            of: backup,
            goneForGood: backup.isWaiting || backup.trashTime(trash) <= .zero
        ) { context.report(.began(.fetching, total: $0)) }
        let trashed = dependants.known.filter { !dependants.listed.contains($0.name) }
        guard trashed.isEmpty else {
            throw BackupFolderError.needed(
                backup.displayName,
                by: trashed.newestFirst.map { "\($0.displayName), which is in the trash" }
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
    ///   - date: now.
    ///   - trash: for how long it can come back; a prune ends that.
    ///   - withDependants: whether to delete before it all that cannot be restored without it.
    ///   - agreed: those that may go, as they were planned; `nil` for all that have to.
    /// - Returns: what was deleted.
    /// - Throws: `RemoteError`, `FileError.locked`; `BackupFolderError.pinned`, `.needed`, and `.perhapsNeeded`
    ///   if that cannot be told of some: then nothing is deleted.
    @discardableResult
    public func run(
        _ backup: Backup,
        at date: Date,
        keepingTrash trash: Duration,
        withDependants: Bool = false,
        agreed: [Backup]? = nil
    ) async throws -> Outcome {
        // One that waits is nowhere else: from there it goes for good.
        let folder = folder.home(of: backup)
        let trash = backup.isWaiting ? .zero : trash
        return try await context.withLock(folder) {
            // Only now that nobody else changes the folder.
            let all = try await plan(
                backup,
                keepingTrash: trash,
                withDependants: withDependants
            )
            if let agreed = agreed.map({ Set($0.map(\.name)) }) {
                let others = all.filter { !agreed.contains($0.name) }
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
                    let forgotten = try await folder.forget(Set(gone.map(\.name)))
                    problems += [forgotten].compactMap(\.self)
                } catch {
                    let path = Annotations.subfolder
                    problems.append(Problem(kind: .notRemoved, path: path, reason: explain(error)))
                }
            }
            context.tell(problems)
            return Outcome(backups: all, problems: problems)
        }
    }

    /// Brings a deleted backup back, and before it all that it is built on; see `BackupFolder.bringBack`.
    ///
    /// - Returns: the backup, those that came back for it, and everything that is not as it should be although
    ///   it is back.
    public func undo(
        _ text: String
    ) async throws -> (backup: TrashedBackup, needs: [TrashedBackup], problems: [Problem]) {
        try await context.withLock(folder) {
            let backup = try await folder.findTrashed(text)
            let needs = try await trashedNeeds(of: backup)
            var problems: [Problem] = []
            for one in needs + [backup] {
                problems += try await [folder.bringBack(one)].compactMap(\.self)
            }
            if !needs.isEmpty {
                let names = needs.map { "'\($0.displayName)'" }.joined(separator: ", ")
                context.note("it is built on others, which are back too: \(names)")
            }
            context.tell(problems)
            return (backup, needs, problems)
        }
    }

    /// Returns what is to come back before a backup, those first that others need.
    ///
    /// One that cannot be read comes back alone: whoever wants it has its reasons.
    private func trashedNeeds(of backup: TrashedBackup) async throws -> [TrashedBackup] {
        do {
            let (trashed, missing) = try await folder.whereabouts(of: backup)
            if let need = missing.first {
                context.warn(
                    "'\(backup.displayName)' cannot be restored: it is built on '\(BackupName.display(need.name))', which is gone"
                )
            }
            return trashed
        } catch let error where error.isOfKeys || error.tellsDamage {
            context.warn(
                "what '\(backup.displayName)' is built on is not known: \(explain(error))"
            )
            return []
        }
    }
}
