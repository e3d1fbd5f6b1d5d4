internal import Files
package import Foundation
package import Remotes
package import SystemPackage

/// A finished archive that is to become a backup.
package struct NewBackup {
    /// A finished archive that has no name in the folder yet.
    package enum Archive {
        /// A file on this machine, synced to the disk.
        case file(FilePath)
        /// A file under a hidden name in the folder, and its hash as the remote reports it.
        case stream(RemoteStream, RemoteHash?)
    }

    var archive: Archive
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
        _ archive: Archive,
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

    /// Gives the archive the next free name of its minute.
    ///
    /// Tags, note and reason are written before the archive becomes visible, so that every policy sees them. They are
    /// written under no name of a listed backup: if the run is killed then, they would be taken for that one's.
    /// - Parameters:
    ///   - folder: the folder; the archive is synced to its disk.
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
        in folder: BackupFolder,
        at date: Date,
        beside others: [Backup] = [],
        mayNumber: Bool = true,
        onItsWayTo other: BackupFolder? = nil,
        warn: (any Error) -> Void,
        checkCancellation: () throws -> Void
    ) async throws -> (backup: Backup, notSynced: RemoteError?) {
        var taken = takenNames(in: folder, at: date, beside: others)
        if mayNumber { try await taken.formUnion(folder.trash.names(warn)) }
        if let other {
            taken.formUnion(folder.memory.catalog.names(in: other.address).map(\.exact))
        }
        for number in 1... {
            let (name, others) = BackupName.makeAll(
                date,
                in: folder.timeZone,
                number: number,
                isIncrement: header.isIncrement,
                isEncrypted: isEncrypted
            )
            if number > 1, !mayNumber {
                let name = BackupName.display(BackupName.make(date, in: folder.timeZone))
                throw BackupFolderError.taken(name, address: folder.address)
            }
            // A deleted backup may come back under this name.
            if taken.contains(name.exact) || !taken.isDisjoint(with: others.map(\.exact)) {
                continue
            }
            try checkCancellation()
            if let backup = try await take(name, in: folder, at: date, warn) { return backup }
        }
        preconditionFailure("numbers do not end")
    }

    /// Gives the archive a name, with its annotation; returns `nil` if the name is taken.
    private func take(
        _ name: String,
        in folder: BackupFolder,
        at date: Date,
        _ warn: (any Error) -> Void
    ) async throws -> (backup: Backup, notSynced: RemoteError?)? {
        var backup = Backup(RemoteFile(name: name, size: size), timeZone: folder.timeZone)
        backup.take(header, signature)
        folder.keys.judge(&backup)
        backup.summary.content = content
        var notSynced: RemoteError?
        do {
            notSynced = try await annotate(&backup, in: folder, at: date, warn)
        } catch RemoteError.exists {
            return nil
        }
        do {
            backup.file = try await bring(to: folder, as: name)
        } catch RemoteError.exists {
            return nil
        } catch let error as RemoteError where error.problem != nil {
            notSynced = error
            backup.file =
                try await folder.remote.list().first { $0.name.exact == name.exact }
                ?? backup.file
        }
        folder.memory.catalog.remember(name, isTaken: false, in: folder.address)
        if !backup.isSafety {
            folder.rememberExpectedData(header.expectedNext, after: backup)
        }
        folder.memory.catalog.remember(backup, in: folder.address)
        // From now on, a folder without it has fallen behind.
        if folder.owns(backup), !backup.isSafety { _ = folder.newer(than: backup) }
        return (backup, notSynced)
    }

    /// Returns the names that this machine gave, those that are listed, and the known ones of the other kinds of backups:
    /// all share display names.
    private func takenNames(
        in folder: BackupFolder,
        at date: Date,
        beside others: [Backup]
    ) -> Set<ExactString> {
        let name = BackupName.make(
            date,
            in: folder.timeZone,
            isIncrement: header.isIncrement,
            isEncrypted: isEncrypted
        )
        let suffix = BackupName.suffix(of: name)
        let known = folder.memory.catalog.names(in: folder.address)
            .filter { BackupName.suffix(of: $0) != suffix }
        return folder.givenNames.union((known + others.map(\.name)).map(\.exact))
    }

    /// Writes the tags, the note and the reason of a new backup.
    ///
    /// - Returns: the error if tags or note, which exist nowhere else, may not be synced to the disk.
    private func annotate(
        _ backup: inout Backup,
        in folder: BackupFolder,
        at date: Date,
        _ warn: (any Error) -> Void
    ) async throws -> RemoteError? {
        backup.summary.isPartial = isPartial
        guard !tags.isEmpty || note != nil || backup.isSafety || isPartial else {
            return nil
        }
        let isBare = tags.isEmpty && note == nil
        backup.tags = tags
        backup.note = note
        do {
            let notSynced = try await folder.notes.add(backup, at: date) {
                $0.tags = tags
                $0.note = note
                $0.reason = header.reason
                $0.isPartial = isPartial ? true : nil
            }
            guard isBare, let error = notSynced else { return notSynced }
            warn(error)
        } catch RemoteError.exists(let address, let name) {
            throw RemoteError.exists(address, name: name)
        } catch  where isBare && !(error is CancellationError) {
            warn(error)
        }
        return nil
    }

    private func bring(to folder: BackupFolder, as name: String) async throws -> RemoteFile {
        switch archive {
        case .file(let path): return try await folder.remote.upload(path, as: name)
        case .stream(let stream, let hash):
            guard let remote = folder.remote.streams else {
                preconditionFailure("a stream comes from its folder")
            }
            try await remote.publish(stream, of: size, as: name)
            var file = RemoteFile(name: name, size: size)
            file.hash = hash
            return file
        }
    }
}
