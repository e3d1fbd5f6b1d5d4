internal import Archives
public import Backups
internal import Files
public import Foundation
internal import Remotes
internal import SystemPackage

/// Uploads the backups that wait on this machine to their folder, the oldest first.
///
/// A backup leaves the outbox only once it is in the folder. If a killed run had already uploaded it, it is not
/// uploaded again.
public struct UploadBackups: Sendable {
    /// A backup that is now in the folder.
    public struct Item: Sendable {
        /// The backup in the outbox.
        public var waiting: Backup
        public var backup: Backup
        /// Whether the folder already had it, because an earlier run was killed after the upload.
        public var wasThere: Bool
        /// Whether no loss of power can undo the change.
        var isOnDisk = true
    }

    /// The result for all backups.
    public struct Outcome: Sendable {
        public var items: [Item] = []
        /// The problems: backups that could not be uploaded, and changes that may not be on the disk.
        public var problems: [Problem] = []
        /// The number of backups that still wait.
        public var left = 0
        /// The reason why the first of them could not be uploaded.
        public var failure: (any Error)?
    }

    private let folder: BackupFolder
    private let context: OperationContext

    public init(to folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Uploads all waiting backups; a damaged one stays, and does not stop the others.
    ///
    /// - Parameter date: the current time.
    /// - Returns: the result for each backup.
    /// - Throws: `RemoteError`, `FileError` if the folder cannot be reached, `FileError.locked`, `CancellationError`:
    ///   the remaining backups still wait.
    public func run(at date: Date) async throws -> Outcome {
        guard let outbox = folder.outbox, try await !outbox.waiting().isEmpty else {
            return Outcome()
        }
        return try await context.withLocks(on: folder, outbox.folder) {
            try await send(outbox, at: date)
        }
    }

    private func send(_ outbox: Outbox, at date: Date) async throws -> Outcome {
        let waiting = try await outbox.waiting()
        let annotations = try await outbox.folder.annotations()
        var there = try await folder.list().backups
        try context.removeLeftovers(of: folder)
        await context.removeRemoteLeftovers(of: folder)
        var outcome = Outcome()
        for backup in waiting.reversed() {
            try context.checkCancellation()
            do {
                let annotation = annotations.annotationToTake(of: backup, among: waiting)
                let item = try await send(backup, annotation, there, at: date, &outcome)
                there.append(item.backup)
                outcome.items.append(item)
                // Otherwise a loss of power may undo the change, and the waiting one is the only copy.
                if item.isOnDisk { try await takeOut(backup, of: outbox) }
            } catch let error as CancellationError {
                throw error
            } catch let error where error.isUnreachable {
                throw error
            } catch {
                outcome.failure = outcome.failure ?? error
                let reason = "not sent: \(explain(error))"
                context.note(.notCopied, backup.name, reason, in: &outcome.problems)
            }
        }
        outcome.left = try await outbox.waiting().count
        return outcome
    }

    private func send(
        _ backup: Backup,
        _ annotation: Annotation?,
        _ there: [Backup],
        at date: Date,
        _ outcome: inout Outcome
    ) async throws -> Item {
        guard let location = backup.file.location, let outbox = folder.outbox else {
            preconditionFailure("what waits is on this machine")
        }
        let same = try await folder.backup(
            sameAs: backup,
            content: outbox.folder.content(of: backup),
            among: there
        ) { try await context.open($0, in: folder) }
        if let same { return Item(waiting: backup, backup: same, wasThere: true) }
        var archived: ArchivedBackup?
        do {
            let opened = try ArchivedBackup(location, name: backup.name, keys: folder.keys)
            archived = opened
            try context.verifyQuietly(opened)
        } catch let error where error.reportsDamage {
            throw MovingError.damaged(backup.displayName, reason: explain(error))
        } catch let error where error.isOfKeys {
            context.note("'\(backup.displayName)' is sent as it is: \(explain(error))")
        }
        let file = RemoteFile(
            name: backup.name,
            size: backup.size,
            location: folder.remote.directory?.appending(backup.name)
        )
        context.report(.began(.uploading, total: nil))
        let (new, _, problems) = try await Arrival(
            .here(location),
            backup: archived.map { try folder.backup(file, of: $0) }
                ?? moved(backup, to: file),
            annotation: annotation
        ).reveal(in: folder, .number, at: date)
        let lack = try await lack(of: archived?.header, named: new.displayName)
        context.reportProblems(problems + lack)
        outcome.problems += problems + lack
        return Item(waiting: backup, backup: new, wasThere: false, isOnDisk: problems.isEmpty)
    }

    /// Returns the problem that a sent increment cannot be restored, since a backup that it needs is gone.
    private func lack(of header: ManifestHeader?, named name: String) async throws -> [Problem] {
        guard let header, header.isIncrement,
            let need = try await NeedSearch.whereabouts(of: header, in: folder).missing.first
        else { return [] }
        let reason = explain(
            BackupFolderError.missingNeed(
                name,
                need: BackupName.display(need.name),
                address: folder.address
            )
        )
        return [Problem(kind: .unreadable, path: name, reason: reason)]
    }

    /// Returns a backup that was not opened, with all facts about it, as another file.
    private func moved(_ backup: Backup, to file: RemoteFile) -> Backup {
        var backup = backup
        backup.isWaiting = false
        backup.file = file
        return backup
    }

    /// Removes an uploaded backup and its annotation from the outbox.
    private func takeOut(_ backup: Backup, of outbox: Outbox) async throws {
        _ = try await RemoteError.problem { try await outbox.folder.remote.delete(backup.name) }
        try await outbox.folder.notes.forget([backup.name.exact])
    }
}
