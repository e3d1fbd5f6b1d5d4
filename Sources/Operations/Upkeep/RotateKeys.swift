internal import Age
public import Backups
internal import Files
public import Foundation
internal import Remotes

/// Encrypts a folder's encrypted backups again, for the current recipients.
///
///     fetch → verify → encrypt → upload under a number → the old one to the trash → its name
///
/// At any moment, one of the two is in the list. After a killed run, the next one continues: it skips backups that the
/// available keys do not open, and backups that are already encrypted again.
public struct RotateKeys: Sendable {
    /// The result for one backup.
    public struct Item: Sendable {
        public var backup: Backup
        /// The backup that has its name now; `nil` if the backup was left as it was.
        public var rotated: Backup?
        /// The reason why it was left.
        public var failure: (any Error)?
    }

    /// The result for all backups.
    public struct Outcome: Sendable {
        public var items: [Item] = []
        public var problems: [Problem] = []

        /// The error if nothing was encrypted again because the available keys open no backup.
        ///
        /// They may be the old keys after a completed rotation. But if they are simply wrong, no rotation was done.
        public var missingKey: (any Error)? {
            let failures = items.compactMap { $0.failure as? AgeError }
            return failures.count == items.count && failures.allSatisfy(\.isOfKeys)
                ? failures.first : nil
        }
    }

    private let folder: BackupFolder
    private let context: OperationContext

    /// Creates a rotation of a folder's keys.
    ///
    /// - Parameters:
    ///   - folder: the backups' folder, with the keys.
    ///   - context: the context of the operation.
    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Encrypts all backups again that the available keys open, the oldest first, then those that wait for upload.
    ///
    /// - Parameter date: the current time.
    /// - Returns: the result for each encrypted backup.
    /// - Throws: `AgeError` if there is no recipient; `RemoteError`, `FileError`, `CancellationError`.
    public func run(at date: Date) async throws -> Outcome {
        guard let recipients = try folder.keys.recipients() else {
            throw AgeError.badRecipients(reason: "there is no recipient")
        }
        var outcome = try await rotate(for: recipients, at: date)
        if let outbox = folder.outbox, try await !outbox.waiting().isEmpty {
            let waiting = try await RotateKeys(in: outbox.folder, context: context)
                .rotate(for: recipients, at: date)
            outcome.items += waiting.items
            outcome.problems += waiting.problems
        }
        return outcome
    }

    private func rotate(for recipients: [Recipient], at date: Date) async throws -> Outcome {
        try await context.withLock(folder) {
            try context.removeLeftovers(of: folder)
            await context.removeRemoteLeftovers(of: folder)
            var outcome = Outcome()
            // The backups of an earlier, killed run that now have the names of the backups they replaced.
            var renamed: Set<ExactString> = []
            for backup in try await folder.list().backups.reversed()
            where backup.isEncrypted && !renamed.contains(backup.name.exact) {
                try context.checkCancellation()
                var item = Item(backup: backup)
                do {
                    let received = try await receive(backup, for: recipients, date)
                    let (new, problems) = try await folder.replace(
                        backup,
                        by: received.backup,
                        at: date
                    )
                    folder.memory.catalog.remember(recipients, of: new.name, in: folder.address)
                    renamed.insert(received.backup.name.exact)
                    item.rotated = new
                    outcome.problems += received.problems + problems
                } catch  where !(error is CancellationError) {
                    item.failure = error
                }
                outcome.items.append(item)
            }
            context.reportProblems(outcome.problems)
            return outcome
        }
    }

    /// Adds a backup to the folder again, encrypted for the recipients.
    private func receive(
        _ backup: Backup,
        for recipients: [Recipient],
        _ date: Date
    ) async throws -> ReceiveArchive.Outcome {
        // The archive's beginning suffices for this check, so do not fetch all of it.
        try await folder.checkKey(of: backup)
        let receive = ReceiveArchive(
            folder: folder,
            sameName: .number,
            date: date,
            context: context
        )
        return try await receive.withParcel(named: backup.name) {
            try await context.fetch(backup, from: folder, to: $0)
        } _: { parcel in
            if let damage = parcel.damage {
                await context.note(damage, of: backup, in: folder, at: date, isLocked: true)
                throw MovingError.damaged(backup.displayName, reason: damage)
            }
            return try await renewed(backup, parcel, for: recipients, receive)
        }
    }

    /// Returns whether a killed run has encrypted a backup for the recipients.
    ///
    /// The file does not say for whom it is, nor does the digest say which passphrase.
    private func isRenewed(_ backup: Backup, for recipients: [Recipient]) -> Bool {
        guard !recipients.contains(where: \.isPassphrase) else { return false }
        return folder.memory.catalog.recipients(of: backup.name, in: folder.address)
            == BackupKeys.digest(of: recipients)
    }

    /// Returns the new backup, under its own name; a killed run may already have made it.
    private func renewed(
        _ backup: Backup,
        _ parcel: ReceiveArchive.Parcel,
        for recipients: [Recipient],
        _ receive: ReceiveArchive
    ) async throws -> ReceiveArchive.Outcome {
        let others = try await folder.list().backups.filter { $0.name.exact != backup.name.exact }
        var known = backup
        if let archived = parcel.archived {
            known = try folder.backup(backup.file, of: archived)
        }
        let content = known.content
        let same = try await receive.same(
            as: known,
            content: content,
            among: others.filter { isRenewed($0, for: recipients) },
            ofAnySize: true
        )
        if let same { return ReceiveArchive.Outcome(backup: same, wasThere: true) }
        let fresh = known
        return try await receive.resealing(parcel, named: backup.name, for: recipients) {
            parcel,
            file in
            var copy = fresh
            copy.file.size = file.size
            let outcome = try await receive.put(parcel, as: copy, nil, among: others)
            receive.remember(recipients, of: outcome)
            return outcome
        }
    }
}
