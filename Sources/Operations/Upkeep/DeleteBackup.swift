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

    /// Deletes a backup; only `PruneBackups` empties the trash.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - date: now.
    ///   - trash: for how long it can come back; a prune ends that.
    ///   - withDependants: whether to delete before it all that cannot be restored without it.
    /// - Returns: everything that is not as it should be although the backup was deleted.
    /// - Throws: `RemoteError`, `FileError.locked`; `BackupFolderError.pinned`, `.needed`: then nothing is
    ///   deleted.
    @discardableResult
    public func run(
        _ backup: Backup,
        at date: Date,
        keepingTrash trash: Duration,
        withDependants: Bool = false
    ) async throws -> [Problem] {
        // One that waits is nowhere else: from there it goes for good.
        let folder = folder.home(of: backup)
        let trash = backup.isWaiting ? .zero : trash
        return try await context.withLock(folder) {
            // Only now that nobody else changes the folder.
            let dependants = try await dependants(
                of: backup,
                in: folder,
                goneForGood: backup.isWaiting || backup.trashTime(trash) <= .zero
            )
            guard dependants.isEmpty || withDependants else {
                throw BackupFolderError.needed(
                    backup.displayName,
                    by: dependants.map(\.displayName)
                )
            }
            let all = dependants.dependantsFirst + [backup]
            let annotations = try await folder.annotations()
            for one in all where annotations.annotation(of: one)?.isPinned ?? false {
                throw BackupFolderError.pinned(one.displayName)
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
            return problems
        }
    }

    /// Returns the listed backups that cannot be restored without one, the newest first.
    ///
    /// - Throws: `RemoteError`; `BackupFolderError.needed` if one in the trash needs it for good.
    private func dependants(
        of backup: Backup,
        in folder: BackupFolder,
        goneForGood isForGood: Bool
    ) async throws -> [Backup] {
        let listed = try await folder.list().backups
        let all = try await folder.dependence(among: listed, goneForGood: isForGood)
            .dependants(of: backup)
        let names = Set(listed.map(\.name))
        let trashed = all.filter { !names.contains($0.name) }
        guard trashed.isEmpty else {
            throw BackupFolderError.needed(
                backup.displayName,
                by: trashed.map { "\($0.displayName), which is in the trash" }
            )
        }
        return all
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
