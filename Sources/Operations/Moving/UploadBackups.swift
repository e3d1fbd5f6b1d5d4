internal import Archives
public import Backups
internal import Files
public import Foundation
internal import Remotes
internal import SystemPackage

/// Sends the backups that wait on this machine to their folder, the oldest first.
///
/// One goes from the outbox only once it is in the folder; one that a killed run had sent already is not
/// sent twice.
public struct UploadBackups: Sendable {
    /// A backup that is in the folder now.
    public struct Item: Sendable {
        /// The backup as it waited.
        public var waiting: Backup
        public var backup: Backup
        /// Whether the folder had it: an earlier run was killed after it had sent it.
        public var wasThere: Bool
    }

    /// The result of all.
    public struct Outcome: Sendable {
        public var items: [Item] = []
        /// A problem for each that could not be sent, and for each change that may not be on the disk.
        public var problems: [Problem] = []
        /// How many still wait.
        public var left = 0
        /// Why the first of those could not be sent.
        public var failure: (any Error)?
    }

    private let folder: BackupFolder
    private let context: OperationContext

    public init(to folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Sends all that waits; a damaged one stays, and keeps no other from being sent.
    ///
    /// - Parameter date: now.
    /// - Returns: what was sent, and what was not.
    /// - Throws: `RemoteError`, `FileError` if the folder cannot be reached, `FileError.locked`, `CancellationError`:
    ///   what was not sent waits.
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
                try await takeOut(backup, of: outbox)
            } catch let error as CancellationError {
                throw error
            } catch let error where error.isUnreachable {
                throw error
            } catch {
                outcome.failure = outcome.failure ?? error
                let problem = Problem(
                    kind: .notCopied,
                    path: backup.name,
                    reason: "not sent: \(explain(error))"
                )
                outcome.problems.append(problem)
                context.tell([problem])
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
        } catch let error where error.tellsDamage {
            throw MovingError.damaged(backup.displayName, reason: explain(error))
        } catch let error where error.isOfKeys {
            context.note("'\(backup.displayName)' is sent as it is: \(explain(error))")
        }
        let file = RemoteFile(
            name: backup.name,
            size: backup.size,
            location: (folder.remote as? LocalFolder)?.path.appending(backup.name)
        )
        context.report(.began(.uploading, total: nil))
        let (new, _, problems) = try await folder.reveal(
            .init(
                .here(location),
                backup: archived.map { try folder.backup(file, of: $0) }
                    ?? moved(backup, to: file),
                annotation: annotation
            ),
            .number,
            at: date
        )
        context.tell(problems)
        outcome.problems += problems
        return Item(waiting: backup, backup: new, wasThere: false)
    }

    /// Returns a backup that was not opened, with all that is known of it, as another file.
    private func moved(_ backup: Backup, to file: RemoteFile) -> Backup {
        var backup = backup
        backup.isWaiting = false
        backup.file = file
        return backup
    }

    /// Removes what was sent, and what is written beside it.
    private func takeOut(_ backup: Backup, of outbox: Outbox) async throws {
        _ = try await RemoteError.problem { try await outbox.folder.remote.delete(backup.name) }
        try await outbox.folder.forget([backup.name])
    }
}
