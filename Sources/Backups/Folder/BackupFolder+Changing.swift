package import History
package import Foundation
package import Remotes
package import SystemPackage

// The caller of all of these has the staging directory locked.
extension BackupFolder {
    /// An archive that is whole and has no name yet.
    package enum Finished {
        /// A file of this machine, which is on the disk.
        case file(FilePath)
        /// A file under a hidden name in the folder, and the hash that the remote tells of it.
        case stream(RemoteStream, RemoteHash?)
    }

    /// A finished archive that is to become a backup.
    package struct NewBackup {
        var archive: Finished
        var size: Int64
        var header: ManifestHeader
        var content: String
        /// Whether something is missing in it, or is not as of one moment.
        var isPartial: Bool
        var isEncrypted: Bool
        var tags: [String]
        var note: String?

        package init(
            _ archive: Finished,
            size: Int64,
            header: ManifestHeader,
            content: String,
            isPartial: Bool,
            isEncrypted: Bool,
            tags: [String],
            note: String?
        ) {
            self.archive = archive
            self.size = size
            self.header = header
            self.content = content
            self.isPartial = isPartial
            self.isEncrypted = isEncrypted
            self.tags = tags
            self.note = note
        }
    }

    /// Gives an archive the next free name of its minute.
    ///
    /// Tags, note and reason are written before the archive can be seen, so that no policy finds it
    /// without.
    /// - Parameters:
    ///   - new: the archive, which is on the disk.
    ///   - date: the time that its name tells.
    ///   - others: the backups of the folder, as they were listed: no two get names that people see as one.
    ///   - mayNumber: whether it gets a number if its minute's name is taken.
    ///   - other: a folder that it goes on to, whose names it does not take as far as they are known.
    ///   - warn: told if the trash cannot be looked into, or if nothing could be noted beside the archive that
    ///     its manifest does not say as well.
    ///   - checkCancellation: asked before each try.
    /// - Returns: the backup, and the error if it may not be on the disk.
    /// - Throws: `BackupFolderError.taken`, `RemoteError`, `FileError`; nothing is in the folder then.
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
        // People see the names of all kinds without their ends.
        let suffix = BackupName.suffix(
            of: names(at: date, 1, new.header.isIncrement, new.isEncrypted).name
        )
        taken.formUnion(
            (memory.catalog.names(in: address) + others.map(\.name))
                .filter { BackupName.suffix(of: $0) != suffix }
        )
        if mayNumber { try await taken.formUnion(trashedNames(warn)) }
        if let other { taken.formUnion(memory.catalog.names(in: other.address)) }
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
            // A deleted backup may come back under its name.
            if taken.contains(name) || !taken.isDisjoint(with: others) { continue }
            try checkCancellation()
            var backup = Backup(RemoteFile(name: name, size: new.size), timeZone: timeZone)
            backup.take(new.header)
            backup.content = new.content
            var notSynced = try await annotate(&backup, as: new, at: date, warn)
            do {
                backup.file = try await bring(new, as: name)
            } catch RemoteError.exists {
                continue
            } catch let error as RemoteError where error.problem != nil {
                notSynced = error
                backup.file = try await remote.list().first { $0.name == name } ?? backup.file
            }
            memory.catalog.remember(in: address) { $0.give(name) }
            if !backup.isSafety {
                let rows = new.header.successorRows
                memory.catalog.rememberExpectedRows(rows, after: backup, in: address)
            }
            memory.catalog.remember(backup, in: address)
            return (backup, notSynced)
        }
        preconditionFailure("numbers do not end")
    }

    /// Writes tags, note and reason beside a new backup.
    ///
    /// - Returns: the error if tags or note may not be on the disk, which nothing else tells.
    private func annotate(
        _ backup: inout Backup,
        as new: NewBackup,
        at date: Date,
        _ warn: (any Error) -> Void
    ) async throws -> RemoteError? {
        backup.isPartial = new.isPartial
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
            guard let remote = remote as? any StreamingFolder else {
                preconditionFailure("a stream comes from its folder")
            }
            try await remote.publish(stream, of: new.size, as: name)
            var file = RemoteFile(name: name, size: new.size)
            file.hash = hash
            return file
        }
    }

    /// Returns the name that a backup of some moment most probably gets.
    package func likelyName(
        at date: Date,
        beside backups: [Backup],
        isIncrement: Bool = false,
        isEncrypted: Bool = false
    ) -> String {
        let taken = givenNames.union(backups.map(\.name))
        for number in 1... {
            let (name, others) = names(at: date, number, isIncrement, isEncrypted)
            if !taken.contains(name), taken.isDisjoint(with: others) { return name }
        }
        preconditionFailure("numbers do not end")
    }

    /// Returns a name, and those of the other kinds: people see all without their ends.
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

    func trashedNames(_ warn: (any Error) -> Void) async throws -> Set<String> {
        do {
            return try await Set(trash.entries().map(\.name))
        } catch let error as RemoteError {
            // Nothing can come back out of a link or a file: no reason to make no backup.
            guard case .notASubfolder = error else { throw error }
            warn(error)
            return []
        }
    }

    /// Changes tags, note or pin of a backup.
    ///
    /// - Returns: the backup as it is now, whether that is a change, and a problem if a loss of power may
    ///   undo that.
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
        // Not by the name of the file with the notes.
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
        guard let id = backup.id, let annotation = annotations.annotation(of: backup) else {
            return
        }
        memory.catalog.remember(in: address) { $0.write(annotation, of: id) }
    }

    /// Moves a backup into the trash, or removes it for good.
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
        return problem
    }

    /// Returns the deleted backup that a person means.
    ///
    /// - Parameter text: its name, its display name, or a unique part of it; of several of one name
    ///   the one that was deleted last.
    /// - Returns: the deleted backup.
    /// - Throws: `BackupFolderError.notInTrash`, `.ambiguous`; `RemoteError`.
    package func findTrashed(_ text: String) async throws -> TrashedBackup {
        let entries = try await trash.entries()
        let names = Set(entries.map(\.name))
        let exact = names.filter { $0 == text || BackupName.display($0) == text }
        let found = exact.isEmpty ? names.filter { !text.isEmpty && $0.contains(text) } : exact
        guard found.count < 2 else {
            let matches = found.map(BackupName.display).sorted()
            throw BackupFolderError.ambiguous(text, matches: matches)
        }
        guard let entry = entries.first(where: { found.contains($0.name) }) else {
            throw BackupFolderError.notInTrash(text, address: address)
        }
        return entry
    }

    /// Brings a deleted backup back.
    ///
    /// - Parameter text: see `findTrashed`.
    /// - Returns: the backup that came back, and a problem if a loss of power may undo that.
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
            // One may be there that is not listed yet.
            guard try await !isThere(entry.name) else {
                throw RemoteError.exists(address, name: entry.name)
            }
            var problem = try await RemoteError.problem { try await trash.takeOut(entry) }
            memory.catalog.remember(in: address) { $0.give(entry.name) }
            memory.catalog.remember(entry.name, isTaken: false, in: address)
            // Not by its name in the trash.
            problem?.path = entry.name
            return problem
        } catch RemoteError.exists {
            throw BackupFolderError.nameTaken(entry.name, address: address)
        }
    }

    /// Returns the deleted backups that can come back, the last one first.
    public func trashed() async throws -> [TrashedBackup] { try await trash.entries() }

    /// Forgets the annotations of backups that are gone for good.
    ///
    /// - Returns: a problem if a loss of power may undo that.
    @discardableResult
    package func forget(_ names: Set<String>) async throws -> Problem? {
        let left = try await list().backups
        var annotations = try await annotations()
        try await annotations.forget(names.subtracting(left.map(\.name)), keeping: left)
        return annotations.notSynced?.problem
    }

    /// Writes beside the archive that a check found damage, or no longer finds it.
    ///
    /// - Throws: `BackupFolderError.badAnnotations`, `RemoteError`, `FileError`.
    package func note(_ check: RunLog.Check, of backup: Backup) async throws {
        let others = try await list().backups.filter { $0.name != backup.name }
        let isCopy = others.copies
        let copies = others.filter { isCopy(backup, $0.name) }
        var annotations = try await annotations()
        try await change(&annotations, of: backup, at: check.time) { annotation in
            annotation.take(check, of: backup.name, copies: copies)
        }
    }
}
