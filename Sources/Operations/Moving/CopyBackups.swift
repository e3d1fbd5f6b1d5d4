public import Age
public import Backups
internal import Archives
internal import Files
public import Foundation
internal import History
internal import Remotes
internal import SystemPackage

/// Copies backups to another folder, with their identities, tags, notes, pins and known damage.
///
/// It copies no damaged backup unless the options allow it. A copy should be a second good backup, and an unchecked
/// copy would pass for one.
public struct CopyBackups: Sendable {
    /// The options of a copy.
    public struct Options: Sendable {
        /// The current time.
        public var date: Date
        public var sameName: SameName = .number
        /// Whether to copy damaged backups too; they stay recorded as damaged.
        public var allowsDamage = false
        /// The recipients who may read the copies; `nil` to copy archives as they are.
        public var recipients: [Recipient]?

        public init(date: Date) {
            self.date = date
        }
    }

    /// The result for one backup.
    public struct Item: Sendable {
        /// The backup in the source folder.
        public var backup: Backup
        /// The backup in the target folder: the copy, or the same backup that it already had; `nil` after a failure.
        public var copy: Backup?
        public var wasThere = false
        /// The backup that was moved to the trash to free the copy's name.
        public var replaced: Backup?
    }

    /// The result for all backups.
    public struct Outcome: Sendable {
        public var items: [Item] = []
        public var problems: [Problem] = []
        /// The reason why nothing could be copied.
        public var failure: (any Error)?

        public var copied: [Item] { items.filter { $0.copy != nil && !$0.wasThere } }
    }

    private let source: BackupFolder
    private let target: BackupFolder
    private let options: Options
    private let context: OperationContext

    public init(
        from source: BackupFolder,
        to target: BackupFolder,
        options: Options,
        context: OperationContext
    ) {
        self.source = source
        self.target = target
        self.options = options
        self.context = context
    }

    /// Copies the named backups, or all, the full ones and the oldest first; including those that wait for upload.
    ///
    /// - Parameter names: see `[Backup].matching`; `nil` for all.
    /// - Returns: the result for each backup; one failure does not stop the others.
    /// - Throws: an error that prevents all copies; `CancellationError`.
    public func run(_ names: [String]?) async throws -> Outcome {
        guard let outbox = source.outbox, try await !outbox.waiting().isEmpty else {
            return try await context.withLocks(on: source, target) { try await copy(names) }
        }
        // An unreachable folder cannot be locked.
        guard source.identity != nil else {
            return try await context.withLocks(on: outbox.folder, target) { try await copy(names) }
        }
        return try await context.withLocks(on: source, outbox.folder, target) {
            try await copy(names)
        }
    }

    /// Copies while all folders are locked.
    private func copy(_ names: [String]?) async throws -> Outcome {
        let (listing, unreachable) = try await source.listWithWaiting()
        let all = listing.backups
        let wanted: [Backup]
        do {
            wanted = try names.map { all.withNeeds(of: try find($0, in: all)) } ?? all
        } catch {
            throw unreachable ?? error
        }
        if names != nil, let unreachable { context.warnOfUnknown(unreachable) }
        if unreachable == nil, let loss = await source.losses.warning(beside: all) {
            context.warn(loss)
            if all.isEmpty { throw BackupFolderError.noBackups(source.address) }
        }
        try context.removeLeftovers(of: target)
        // Increments come after all that they need, whatever the clocks said.
        var outcome = try await copy(wanted.dependantsFirst.reversed(), among: all)
        if names == nil, let unreachable {
            let reason = "not copied: \(explain(unreachable))"
            context.note(.notCopied, source.address, reason, in: &outcome.problems)
        }
        return outcome
    }

    private func find(_ names: [String], in backups: [Backup]) throws -> [Backup] {
        let found = try Set(
            names.map {
                try backups.matching($0, address: source.address, now: options.date).name.exact
            }
        )
        return backups.filter { found.contains($0.name.exact) }
    }

    private func copy(_ backups: [Backup], among all: [Backup]) async throws -> Outcome {
        let annotations = try await annotations(of: backups)
        var there = try await target.list().backups
        await context.removeRemoteLeftovers(of: target)
        let receive = ReceiveArchive(
            folder: target,
            sameName: options.sameName,
            date: options.date,
            context: context
        )
        var outcome = Outcome()
        for (index, backup) in backups.enumerated() {
            try context.checkCancellation()
            var item = Item(backup: backup)
            do {
                let annotation = annotations[backup.isWaiting]?.annotationToTake(
                    of: backup,
                    among: all.filter { $0.isWaiting == backup.isWaiting }
                )
                let copy = BackupCopy(
                    backup: backup,
                    annotation: annotation,
                    home: source.home(of: backup),
                    receive: receive,
                    there: there,
                    options: options,
                    context: context
                )
                let received = try await copy.run()
                item.copy = received.backup
                item.wasThere = received.wasThere
                item.replaced = received.replaced
                outcome.problems += received.problems
                there.removeAll { $0.name.exact == received.backup.name.exact }
                there.append(received.backup)
            } catch  where !(error is CancellationError) {
                fail(backup, error, &outcome)
                if error.isUnreachable {
                    outcome.items.append(item)
                    giveUp(backups.dropFirst(index + 1), &outcome)
                    break
                }
            }
            outcome.items.append(item)
        }
        if outcome.items.contains(where: { $0.copy != nil }) { outcome.failure = nil }
        return outcome
    }

    /// Reads the annotations of the folder, and of its waiting backups, if `backups` contains such backups.
    private func annotations(of backups: [Backup]) async throws -> [Bool: Annotations] {
        var annotations: [Bool: Annotations] = [:]
        for backup in backups where annotations[backup.isWaiting] == nil {
            annotations[backup.isWaiting] = try await source.home(of: backup).annotations()
        }
        return annotations
    }

    private func fail(_ backup: Backup, _ error: any Error, _ outcome: inout Outcome) {
        outcome.failure = outcome.failure ?? error
        let reason = "not copied: \(explain(error))"
        context.note(.notCopied, backup.name, reason, in: &outcome.problems)
    }

    /// Reports the remaining backups as failed after a folder could not be reached.
    private func giveUp(_ backups: ArraySlice<Backup>, _ outcome: inout Outcome) {
        for backup in backups {
            fail(backup, MovingError.notTried(backup.displayName), &outcome)
            outcome.items.append(Item(backup: backup))
        }
    }
}

/// The copy of one backup into another folder.
private struct BackupCopy {
    let backup: Backup
    let annotation: Annotation?
    /// The folder that has the backup.
    let home: BackupFolder
    let receive: ReceiveArchive
    /// The backups of the target.
    let there: [Backup]
    let options: CopyBackups.Options
    let context: OperationContext

    /// Copies the backup, unless the target has the same one.
    ///
    /// - Throws: `MovingError`, `BackupFolderError`, `RemoteError`, `FileError`, `CancellationError`.
    func run() async throws -> ReceiveArchive.Outcome {
        if let same = try await same(as: backup, content: home.content(of: backup)) { return same }
        try refuse(backup.archiveDamage)
        let (plain, scratch) = try await unsealed()
        defer { withExtendedLifetime(scratch) {} }
        return try await receive.withParcel(named: backup.name, readingInPlace: plain) {
            try await context.fetch(backup, from: home, to: $0)
        } _: { parcel in
            try await take(parcel)
        }
    }

    /// Returns the outcome if the target has the same backup.
    private func same(
        as known: Backup,
        content: String?
    ) async throws -> ReceiveArchive.Outcome? {
        let same = try await receive.same(
            as: known,
            content: content,
            among: there,
            ofAnySize: options.recipients != nil
        )
        return same.map { .init(backup: $0, wasThere: true) }
    }

    private func refuse(_ damage: String?) throws {
        guard let damage, !options.allowsDamage else { return }
        throw MovingError.damaged(backup.displayName, reason: damage)
    }

    /// Returns the file to read in place of one in the target, and the directory that has it.
    ///
    /// If the target must have the backup encrypted, no plain copy may come into the target.
    private func unsealed() async throws -> (FilePath?, ScratchDirectory?) {
        guard options.recipients != nil, !backup.isEncrypted else { return (nil, nil) }
        if let path = backup.file.location { return (path, nil) }
        let directory = try ScratchDirectory(in: context.scratch)
        let path = directory.path.appending("archive")
        try await context.fetch(backup, from: home, to: path)
        return (path, directory)
    }

    /// Adds the fetched archive to the target, unless the target has the same backup.
    private func take(_ parcel: ReceiveArchive.Parcel) async throws -> ReceiveArchive.Outcome {
        let known = try await facts(of: parcel)
        // The source did not know which backup it is.
        if backup.id == nil, let same = try await same(as: known, content: known.content) {
            return same
        }
        var annotation = annotation
        if let damage = parcel.damage {
            annotation = annotation ?? Annotation(of: backup.name, tags: [], note: nil)
            annotation?.takeDamage(damage, of: backup, in: home.address, at: options.date)
        }
        if let sealed = parcel.sealed, options.recipients == nil {
            context.note("'\(backup.displayName)' is copied as it is: \(explain(sealed))")
        }
        let noted = annotation
        return try await receive.resealing(
            parcel,
            named: backup.name,
            for: options.recipients
        ) { parcel, file in
            var copy = known
            copy.file.name = file.name
            copy.file.size = file.size
            let outcome = try await receive.put(parcel, as: copy, noted, among: there)
            if let recipients = options.recipients {
                receive.remember(recipients, of: outcome)
            }
            return outcome
        }
    }

    /// Returns the facts about the fetched archive; remembers that it was read.
    ///
    /// - Throws: an error if it may not be copied.
    private func facts(of parcel: ReceiveArchive.Parcel) async throws -> Backup {
        var known = backup
        known.isWaiting = false
        known.id = parcel.archived?.id ?? known.id
        if parcel.archived != nil || parcel.damage != nil {
            await context.rememberCheck(
                of: known,
                in: home,
                damage: parcel.damage,
                at: options.date
            )
        }
        try refuse(parcel.damage)
        guard let archived = parcel.archived else { return known }
        if let header = archived.header, !options.allowsDamage {
            try await refuseWithoutNeeds(header)
        }
        return try receive.folder.backup(
            backup.file,
            of: archived,
            damaged: parcel.damage != nil
        )
    }

    /// Throws if the copy could not be restored, because the target lacks a base backup: it was not copied either.
    ///
    /// - Throws: `MovingError.needsTrashed`, `BackupFolderError.missingNeed`; `RemoteError`, `FileError`.
    private func refuseWithoutNeeds(_ header: ManifestHeader) async throws {
        guard header.isIncrement else { return }
        try refuseBaseForOthers(header)
        let lacks = try await NeedSearch.whereabouts(of: header, in: receive.folder)
        guard let need = lacks.missing.first else { return }
        let here = try await NeedSearch.whereabouts(of: header, in: home)
        if let entry = here.trashed.first {
            throw MovingError.needsTrashed(backup.displayName, need: entry.displayName)
        }
        throw BackupFolderError.missingNeed(
            backup.displayName,
            need: BackupName.display(need.name),
            address: here.missing.isEmpty ? receive.folder.address : home.address
        )
    }

    /// Throws if the copy of a base backup is for other recipients, so that no key would restore the increment.
    private func refuseBaseForOthers(_ header: ManifestHeader) throws {
        guard let recipients = options.recipients else { return }
        let names = Set((header.needs ?? []).map { BackupName.display($0.name).exact })
        for need in there
        where need.lineage == header.lineage && names.contains(need.displayName.exact) {
            guard
                let known = receive.folder.memory.catalog.recipients(
                    of: need.name,
                    in: receive.folder.address
                ),
                known != BackupKeys.digest(of: recipients)
            else { continue }
            throw MovingError.needForOthers(
                backup.displayName,
                need: need.displayName,
                address: receive.folder.address
            )
        }
    }
}
