package import Files
package import History
package import Foundation
package import Remotes
package import SystemPackage

// The caller of each of these methods holds the lock on the staging directory.
extension BackupFolder {
    /// A finished archive that has no name in the folder yet.
    package enum Finished {
        /// A file on this machine, synced to the disk.
        case file(FilePath)
        /// A file under a hidden name in the folder, and its hash as the remote reports it.
        case stream(RemoteStream, RemoteHash?)
    }

    /// A finished archive that is to become a backup.
    package struct NewBackup {
        var archive: Finished
        var size: Int64
        var header: ManifestHeader
        var signature: BackupSignature
        var content: String
        /// Whether data is missing from it, or is not as of one moment.
        var isPartial: Bool
        var isEncrypted: Bool
        var tags: [String]
        var note: String?

        package init(
            _ archive: Finished,
            size: Int64,
            header: ManifestHeader,
            signature: BackupSignature,
            content: String,
            isPartial: Bool,
            isEncrypted: Bool,
            tags: [String],
            note: String?
        ) {
            self.archive = archive
            self.size = size
            self.header = header
            self.signature = signature
            self.content = content
            self.isPartial = isPartial
            self.isEncrypted = isEncrypted
            self.tags = tags
            self.note = note
        }
    }

    /// Gives an archive the next free name of its minute.
    ///
    /// Tags, note and reason are written before the archive becomes visible, so that every policy sees them.
    /// - Parameters:
    ///   - new: the archive, which is synced to the disk.
    ///   - date: the time in its name.
    ///   - others: the listed backups of the folder; no two may have the same display name.
    ///   - mayNumber: whether it gets a number if its minute's name is taken.
    ///   - other: the folder that the archive will move to; the known names in it are not used.
    ///   - warn: called if the trash cannot be listed, or if facts could not be written beside the archive that its
    ///     manifest has as well.
    ///   - checkCancellation: called before each try.
    /// - Returns: the backup, and an error if it may not be synced to the disk.
    /// - Throws: `BackupFolderError.taken`, `RemoteError`, `FileError`; the archive is not in the folder then.
    package func publish(
        _ new: NewBackup,
        at date: Date,
        beside others: [Backup] = [],
        mayNumber: Bool = true,
        onItsWayTo other: BackupFolder? = nil,
        warn: (any Error) -> Void,
        checkCancellation: () throws -> Void
    ) async throws -> (backup: Backup, notSynced: RemoteError?) {
        var taken = givenNames
        // Display names of all kinds of backups lack their ends.
        let suffix = BackupName.suffix(
            of: names(at: date, 1, new.header.isIncrement, new.isEncrypted).name
        )
        taken.formUnion(
            (memory.catalog.names(in: address) + others.map(\.name))
                .filter { BackupName.suffix(of: $0) != suffix }.map(\.exact)
        )
        if mayNumber { try await taken.formUnion(trashedNames(warn)) }
        if let other { taken.formUnion(memory.catalog.names(in: other.address).map(\.exact)) }
        for number in 1... {
            let (name, others) = names(
                at: date,
                number,
                new.header.isIncrement,
                new.isEncrypted
            )
            if number > 1, !mayNumber {
                let name = BackupName.display(BackupName.make(date, in: timeZone))
                throw BackupFolderError.taken(name, address: address)
            }
            // A deleted backup may come back under this name.
            if taken.contains(name.exact) || !taken.isDisjoint(with: others.map(\.exact)) {
                continue
            }
            try checkCancellation()
            var backup = Backup(RemoteFile(name: name, size: new.size), timeZone: timeZone)
            backup.take(new.header, new.signature)
            keys.judge(&backup)
            backup.summary.content = new.content
            var notSynced = try await annotate(&backup, as: new, at: date, warn)
            do {
                backup.file = try await bring(new, as: name)
            } catch RemoteError.exists {
                continue
            } catch let error as RemoteError where error.problem != nil {
                notSynced = error
                backup.file =
                    try await remote.list().first { $0.name.exact == name.exact } ?? backup.file
            }
            memory.catalog.remember(in: address) { $0.give(name) }
            if !backup.isSafety {
                rememberExpectedData(new.header.expectedNext, after: backup)
            }
            memory.catalog.remember(backup, in: address)
            // From now on, a folder without it has fallen behind.
            if owns(backup), !backup.isSafety { _ = newer(than: backup) }
            return (backup, notSynced)
        }
        preconditionFailure("numbers do not end")
    }

    /// Writes the tags, the note and the reason of a new backup.
    ///
    /// - Returns: the error if tags or note, which exist nowhere else, may not be synced to the disk.
    private func annotate(
        _ backup: inout Backup,
        as new: NewBackup,
        at date: Date,
        _ warn: (any Error) -> Void
    ) async throws -> RemoteError? {
        backup.summary.isPartial = new.isPartial
        guard !new.tags.isEmpty || new.note != nil || backup.isSafety || new.isPartial else {
            return nil
        }
        let isBare = new.tags.isEmpty && new.note == nil
        backup.tags = new.tags
        backup.note = new.note
        do {
            var annotations = try await annotations()
            try await change(&annotations, of: backup, at: date) {
                $0.tags = new.tags
                $0.note = new.note
                $0.reason = new.header.reason
                $0.isPartial = new.isPartial ? true : nil
            }
            guard isBare, let error = annotations.notSynced else { return annotations.notSynced }
            warn(error)
        } catch  where isBare && !(error is CancellationError) {
            warn(error)
        }
        return nil
    }

    private func bring(_ new: NewBackup, as name: String) async throws -> RemoteFile {
        switch new.archive {
        case .file(let path): return try await remote.upload(path, as: name)
        case .stream(let stream, let hash):
            guard let remote = remote.streams else {
                preconditionFailure("a stream comes from its folder")
            }
            try await remote.publish(stream, of: new.size, as: name)
            var file = RemoteFile(name: name, size: new.size)
            file.hash = hash
            return file
        }
    }

    /// Returns the name that a backup of a given moment will most likely get.
    package func likelyName(
        at date: Date,
        beside backups: [Backup],
        isIncrement: Bool = false,
        isEncrypted: Bool = false
    ) -> String {
        let taken = givenNames.union(backups.map(\.name.exact))
        for number in 1... {
            let (name, others) = names(at: date, number, isIncrement, isEncrypted)
            if !taken.contains(name.exact), taken.isDisjoint(with: others.map(\.exact)) {
                return name
            }
        }
        preconditionFailure("numbers do not end")
    }

    /// Returns a name, and the names of the other kinds with the same display name.
    private func names(
        at date: Date,
        _ number: Int,
        _ isIncrement: Bool,
        _ isEncrypted: Bool
    ) -> (name: String, others: [String]) {
        let name = BackupName.make(
            date,
            in: timeZone,
            number: number,
            isIncrement: isIncrement,
            isEncrypted: isEncrypted
        )
        let ending = BackupName.suffix(of: name) ?? ""
        let base = name.dropLast(ending.count)
        return (name, BackupName.suffixes.filter { $0 != ending }.map { base + $0 })
    }

    func trashedNames(_ warn: (any Error) -> Void) async throws -> Set<ExactString> {
        do {
            return try await Set(trash.entries().map(\.name.exact))
        } catch let error as RemoteError {
            // A subfolder that is a link or a file holds no deleted backups. The new backup is made all the same.
            guard case .notASubfolder = error else { throw error }
            warn(error)
            return []
        }
    }

    /// Changes the tags, the note or the pin of a backup.
    ///
    /// - Returns: the backup as it is now, whether it changed, and a problem if a loss of power may undo the change.
    /// - Throws: `BackupFolderError.badAnnotations`, `RemoteError`, `FileError`.
    package func annotate(
        _ backup: Backup,
        at date: Date,
        _ body: (inout Annotation) -> Void
    ) async throws -> (backup: Backup, isChanged: Bool, problem: Problem?) {
        var annotations = try await annotations()
        let before = annotations.annotation(of: backup)
        try await change(&annotations, of: backup, at: date, body)
        var annotated = [backup]
        annotations.annotate(&annotated)
        let isChanged = annotations.annotation(of: annotated[0]) != before
        var problem = annotations.notSynced?.problem
        // The problem names the backup, not the file with the annotations.
        problem?.path = backup.name
        return (annotated[0], isChanged, problem)
    }

    private func change(
        _ annotations: inout Annotations,
        of backup: Backup,
        at date: Date,
        _ body: (inout Annotation) -> Void
    ) async throws {
        try await annotations.change(backup, at: date, body)
        remember(annotations, of: backup)
    }

    /// Remembers the annotation of a backup, since other listings may not show it yet.
    private func remember(_ annotations: Annotations, of backup: Backup) {
        guard let id = backup.id, let annotation = annotations.annotation(of: backup) else {
            return
        }
        memory.catalog.remember(in: address) { $0.write(annotation, of: id) }
    }

    /// Moves a backup into the trash, or removes it permanently.
    ///
    /// - Returns: a problem if a loss of power may undo the removal.
    /// - Throws: `RemoteError` if it was not removed.
    package func remove(
        _ backup: Backup,
        at date: Date,
        keepingTrash duration: Duration
    ) async throws -> Problem? {
        let problem = try await RemoteError.problem {
            if duration > .zero {
                try await trash.put(backup.name, at: date)
            } else {
                try await remote.delete(backup.name)
            }
            memory.catalog.remember(in: address) { $0.take(backup.name) }
        }
        memory.catalog.remember(backup.name, isTaken: true, in: address)
        let newName = duration > .zero ? Trash.name(of: backup.name, at: date) : nil
        if let newName { memory.catalog.remember(in: address) { $0.trash(newName) } }
        if backup.notedDamage != nil {
            var annotations = try? await annotations()
            await annotations?.moveDamage(of: backup, from: backup.name, to: newName, at: date)
        }
        return problem
    }

    /// Returns the deleted backup that a person means.
    ///
    /// - Parameter text: the backup's name, its display name, or a unique part of it. If several have one name, the
    ///   last deleted one matches.
    /// - Returns: the deleted backup.
    /// - Throws: `BackupFolderError.notInTrash`, `.ambiguous`; `RemoteError`.
    package func findTrashed(_ text: String) async throws -> TrashedBackup {
        let entries = try await trash.entries()
        let names = Set(entries.map(\.name.exact))
        let exact = names.filter {
            $0 == text.exact || BackupName.display($0.text).exact == text.exact
        }
        let found =
            exact.isEmpty
            ? names.filter { !text.isEmpty && $0.text.utf8.contains(text.utf8) } : exact
        guard found.count < 2 else {
            let matches = found.map(\.text).sorted()
            throw BackupFolderError.ambiguous(text, matches: matches)
        }
        guard let entry = entries.first(where: { found.contains($0.name.exact) }) else {
            throw BackupFolderError.notInTrash(text, address: address)
        }
        return entry
    }

    /// Brings a deleted backup back.
    ///
    /// - Parameter text: see `findTrashed`.
    /// - Returns: the restored backup, and a problem if a loss of power may undo the move.
    /// - Throws: `BackupFolderError.notInTrash`, `.ambiguous`, `.nameTaken`; `RemoteError`.
    package func bringBack(
        _ text: String
    ) async throws -> (backup: TrashedBackup, problem: Problem?) {
        let entry = try await findTrashed(text)
        return try await (entry, bringBack(entry))
    }

    /// Brings a deleted backup back; see `bringBack`.
    package func bringBack(_ entry: TrashedBackup) async throws -> Problem? {
        do {
            // An unlisted backup may have the name.
            guard try await !isThere(entry.name) else {
                throw RemoteError.exists(address, name: entry.name)
            }
            let trashed = backup(entry)
            var problem = try await RemoteError.problem { try await trash.takeOut(entry) }
            memory.catalog.remember(in: address) {
                $0.give(entry.name)
                $0.forgetTrashed([entry.file.name.exact])
            }
            memory.catalog.remember(entry.name, isTaken: false, in: address)
            // The problem names the backup, not its file in the trash.
            problem?.path = entry.name
            var annotations = try? await annotations()
            let (name, date) = (entry.file.name, entry.deleted)
            await annotations?.moveDamage(of: trashed, from: name, to: entry.name, at: date)
            return problem
        } catch RemoteError.exists {
            throw BackupFolderError.nameTaken(entry.name, address: address)
        }
    }

    /// Returns the deleted backups that can come back, most recently deleted first.
    public func trashed() async throws -> [TrashedBackup] {
        // A folder elsewhere lists its hidden subfolders with it.
        if remote.directory == nil { _ = try await remote.list() }
        return try await trash.entries()
    }

    /// Forgets the annotations of backups that were removed permanently.
    ///
    /// - Returns: a problem if a loss of power may undo the change.
    @discardableResult
    package func forget(_ names: Set<ExactString>) async throws -> Problem? {
        let left = try await list().backups
        var annotations = try await annotations()
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
        let all = try await list().backups
        let isCopy = all.copies
        var annotations = try await annotations()
        var changed: [Backup] = []
        for (check, backup) in checks {
            try memory.checkCancellation()
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
        for backup in changed { remember(annotations, of: backup) }
    }
}
