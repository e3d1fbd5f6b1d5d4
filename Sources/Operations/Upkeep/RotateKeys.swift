internal import Age
public import Backups
internal import Files
public import Foundation
internal import Remotes

/// Encrypts a folder's encrypted backups anew, for the recipients of today.
///
///     fetch → verify → encrypt → upload under a number → the old one to the trash → its name
///
/// At every moment one of both is in the list. A run that was killed goes on where it stopped: what the keys at
/// hand do not open is passed over, and so is what was encrypted anew already.
public struct RotateKeys: Sendable {
    /// What became of one backup.
    public struct Item: Sendable {
        public var backup: Backup
        /// The backup that has its name now; `nil` if it was left as it was.
        public var rotated: Backup?
        /// Why it was left.
        public var failure: (any Error)?
    }

    /// The result of all.
    public struct Outcome: Sendable {
        public var items: [Item] = []
        public var problems: [Problem] = []

        /// Why nothing was encrypted anew, if the keys at hand open no backup.
        ///
        /// They may be those of before a rotation that is done. Who takes a wrong key for that has not rotated.
        public var missingKey: (any Error)? {
            let failures = items.compactMap { $0.failure as? AgeError }
            return failures.count == items.count && failures.allSatisfy(\.isOfKeys)
                ? failures.first : nil
        }
    }

    private let folder: BackupFolder
    private let context: OperationContext

    /// Names the folder.
    ///
    /// - Parameters:
    ///   - folder: the backups' folder, with the keys.
    ///   - context: the world around it.
    public init(in folder: BackupFolder, context: OperationContext) {
        self.folder = folder
        self.context = context
    }

    /// Encrypts all backups anew that the keys at hand open, the oldest first.
    ///
    /// - Parameter date: now.
    /// - Returns: what became of each encrypted one.
    /// - Throws: `AgeError` if there is no recipient; `RemoteError`, `FileError`, `CancellationError`.
    public func run(at date: Date) async throws -> Outcome {
        guard let recipients = try folder.keys.recipients() else {
            throw AgeError.badRecipients(reason: "there is no recipient")
        }
        return try await context.withLock(folder) {
            try context.removeLeftovers(of: folder)
            await context.removeRemoteLeftovers(of: folder)
            var outcome = Outcome()
            // Those that a run before this one made, and that have another one's name by now.
            var renamed: Set<String> = []
            for backup in try await folder.list().backups.reversed()
            where backup.isEncrypted && !renamed.contains(backup.name) {
                try context.checkCancellation()
                var item = Item(backup: backup)
                do {
                    let received = try await receive(backup, for: recipients, date)
                    let (new, problems) = try await folder.replace(
                        backup,
                        by: received.backup,
                        at: date
                    )
                    renamed.insert(received.backup.name)
                    item.rotated = new
                    outcome.problems += received.problems + problems
                } catch let error as CancellationError {
                    throw error
                } catch {
                    item.failure = error
                }
                outcome.items.append(item)
            }
            context.tell(outcome.problems)
            return outcome
        }
    }

    /// Puts a backup into the folder once more, for the recipients.
    private func receive(
        _ backup: Backup,
        for recipients: [Recipient],
        _ date: Date
    ) async throws -> ReceiveArchive.Outcome {
        // Told by the beginning; a whole archive is not fetched for it.
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
                throw MovingError.damaged(backup.displayName, reason: damage)
            }
            return try await renewed(backup, parcel, for: recipients, receive)
        }
    }

    /// Returns the new backup, under a name of its own; a killed run may have made it already.
    private func renewed(
        _ backup: Backup,
        _ parcel: ReceiveArchive.Parcel,
        for recipients: [Recipient],
        _ receive: ReceiveArchive
    ) async throws -> ReceiveArchive.Outcome {
        let others = try await folder.list().backups.filter { $0.name != backup.name }
        var known = backup
        if let archived = parcel.archived {
            known = try folder.backup(backup.file, of: archived)
        }
        let content = known.content
        let same = try await receive.same(
            as: known,
            content: content,
            among: others,
            ofAnySize: true
        )
        if let same { return ReceiveArchive.Outcome(backup: same, wasThere: true) }
        let fresh = known
        return try await receive.resealing(parcel, named: backup.name, for: recipients) {
            parcel,
            file in
            var copy = fresh
            copy.file.size = file.size
            return try await receive.put(parcel, as: copy, nil, among: others)
        }
    }
}
