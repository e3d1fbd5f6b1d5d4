package import Files
package import Foundation
package import History
internal import Remotes

/// The tags, notes, pins and known damage of a folder's backups, as they are changed.
///
/// The caller of each method holds the lock on the folder's staging directory.
package struct BackupNotes {
    let folder: BackupFolder

    /// Changes the tags, the note or the pin of a backup.
    ///
    /// - Returns: the backup as it is now, whether it changed, and a problem if a loss of power may undo the change.
    /// - Throws: `BackupFolderError.badAnnotations`, `RemoteError`, `FileError`.
    package func annotate(
        _ backup: Backup,
        at date: Date,
        _ body: (inout Annotation) -> Void
    ) async throws -> (backup: Backup, isChanged: Bool, problem: Problem?) {
        var annotations = try await folder.annotations()
        let before = annotations.annotation(of: backup)
        try await annotations.change(backup, at: date, body)
        remember(annotations.annotation(of: backup), of: backup)
        var annotated = [backup]
        annotations.annotate(&annotated)
        let isChanged = annotations.annotation(of: annotated[0]) != before
        var problem = annotations.notSynced?.problem
        // The problem names the backup, not the file with the annotations.
        problem?.path = backup.name
        return (annotated[0], isChanged, problem)
    }

    /// Writes the annotation of a new backup.
    ///
    /// - Returns: an error if the annotation may not be synced to the disk.
    /// - Throws: see `annotate`.
    func add(
        _ backup: Backup,
        at date: Date,
        _ body: (inout Annotation) -> Void
    ) async throws -> RemoteError? {
        guard let id = backup.id else { return nil }
        var annotations = try await folder.annotations()
        remember(try await annotations.add(backup, id, at: date, body), of: backup)
        return annotations.notSynced
    }

    /// Remembers the annotation of a backup, since other listings may not show it yet.
    private func remember(_ annotation: Annotation?, of backup: Backup) {
        guard let id = backup.id, let annotation else { return }
        folder.memory.catalog.remember(in: folder.address) { $0.write(annotation, of: id) }
    }

    /// Forgets the annotations of backups that were removed permanently.
    ///
    /// - Returns: a problem if a loss of power may undo the change.
    @discardableResult
    package func forget(_ names: Set<ExactString>) async throws -> Problem? {
        let left = try await folder.list().backups
        var annotations = try await folder.annotations()
        try await annotations.forget(names.subtracting(left.map(\.name.exact)), keeping: left)
        return annotations.notSynced?.problem
    }

    /// Writes beside the archive whether a check found damage.
    ///
    /// - Throws: `BackupFolderError.badAnnotations`, `RemoteError`, `FileError`.
    package func note(_ check: RunLog.Check, of backup: Backup) async throws {
        try await note([(check, backup)])
    }

    /// Writes the results of several checks at once; see `note`.
    package func note(_ checks: [(check: RunLog.Check, backup: Backup)]) async throws {
        guard !checks.isEmpty else { return }
        let all = try await folder.list().backups
        let isCopy = all.copies
        var annotations = try await folder.annotations()
        var changed: [Backup] = []
        for (check, backup) in checks {
            try folder.memory.checkCancellation()
            // Damage belongs to one file, not to its copies.
            let copies =
                check.damage != nil
                ? [] : all.filter { $0.name.exact != backup.name.exact && isCopy(backup, $0.name) }
            let isNew = annotations.set(backup, at: check.time) {
                $0.take(check, of: backup.name, copies: copies)
            }
            if isNew { changed.append(backup) }
        }
        guard !changed.isEmpty else { return }
        try await annotations.save()
        for backup in changed { remember(annotations.annotation(of: backup), of: backup) }
    }
}

extension BackupFolder {
    package var notes: BackupNotes { BackupNotes(folder: self) }
}
