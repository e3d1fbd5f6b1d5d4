public import Archives
public import Backups
internal import Files
public import Foundation
internal import Remotes
internal import SystemPackage

/// Makes a full backup in place of an increment, from archives alone.
///
///     open → write beside → verify all of it → its name → the increment to the trash
///
/// Backups built on the increment use the full backup, and then need no other. If a run is killed at any step, one of
/// the two exists; the next run goes on.
public struct ConsolidateBackup: Sendable {
    /// The options of a consolidation.
    public struct Options: Sendable {
        /// The current time.
        public var date: Date
        /// The program's name and version, for the manifest.
        public var tool: String
        public var compression: Compression = .default
        /// The time for which the increment can be brought back, at least a day.
        public var keepsTrash = Duration.seconds(7 * 86_400)

        public init(date: Date, tool: String) {
            self.date = date
            self.tool = tool
        }
    }

    /// The result.
    public struct Outcome: Sendable {
        /// The full backup.
        public var backup: Backup
        /// The increment that it replaced, which is in the trash; `nil` if there was none.
        public var replaced: Backup?
        /// Whether it was already a full backup.
        public var wasWhole = false
        /// The problems that occurred although the full backup exists.
        public var problems: [Problem] = []
    }

    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext

    public init(in folder: BackupFolder, options: Options, context: OperationContext) {
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Consolidates the named backup; see `BackupFolder.find`.
    ///
    /// - Throws: `BackupFolderError`, `LookingError.damaged`, `ArchivedBackupError`, `MovingError`, `OperationError.noSpace`,
    ///   `RemoteError`, `FileError`; the folder is then as it was.
    public func run(_ name: String) async throws -> Outcome {
        try await context.withLock(folder) {
            try context.removeLeftovers(of: folder)
            let listing = try await folder.list()
            if let error = listing.annotationsError { throw error }
            let backups = listing.backups
            let backup = try backups.matching(name, address: folder.address, now: options.date)
            guard backup.isIncrement else {
                // An earlier run may have been killed.
                guard let left = backups.increment(replacedBy: backup) else {
                    return Outcome(backup: backup, wasWhole: true)
                }
                return try await finish(backup, replacing: left)
            }
            if let whole = backups.whole(inPlaceOf: backup) {
                return try await finish(whole, replacing: backup)
            }
            return try await context.notingDamage(
                of: backup,
                in: folder,
                at: options.date,
                isLocked: true
            ) {
                try await LookingError.translating { try await consolidate(backup, among: backups) }
            }
        }
    }

    private func consolidate(_ backup: Backup, among backups: [Backup]) async throws -> Outcome {
        let increment = try await context.open(backup, in: folder)
        // The whole backup would be unsigned, and its machine would lose one that counts.
        if folder.origin?.isOther(than: backup) ?? false,
            let reason = folder.remark(onSignerOf: increment)
        {
            throw ArchivedBackupError.distrusted(increment.name, reason: reason)
        }
        // An encrypted backup stays encrypted, for the same recipients, even if the user named none.
        let recipients =
            try folder.keys.recipients()
            ?? folder.keys.readers(of: File.open(increment.path), name: backup.name)
        let ending = recipients == nil ? "" : BackupName.encryptedEnding
        var name = "\(BackupName.display(backup.name)) \(BackupName.suffix)\(ending)"
        // Another backup may have that name, or the same display name.
        let rivals = backups.filter { $0.name.exact != backup.name.exact }.map(\.name)
        let others = Set(rivals.map { BackupName.display($0).exact })
        while others.contains(BackupName.display(name).exact) {
            name = BackupName.next(after: name)
        }
        let freeName = name
        try checkSpace(for: increment)
        await context.removeRemoteLeftovers(of: folder)
        let receive = ReceiveArchive(
            folder: folder,
            sameName: .number,
            date: options.date,
            context: context
        )
        let archive = ConsolidatedArchive(
            increment: increment,
            compression: options.compression,
            tool: options.tool,
            signers: increment.isTrusted ? folder.keys.signers : nil,
            context: context
        )
        let readers = recipients
        let received = try await receive.withParcel(named: freeName) {
            try archive.write(to: $0, for: readers)
        } _: { parcel in
            if let sealed = parcel.sealed { throw sealed }
            guard let whole = parcel.archived, parcel.damage == nil else {
                let reason = parcel.damage ?? "it cannot be opened"
                throw MovingError.damaged(freeName, reason: reason)
            }
            let file = RemoteFile(name: freeName, size: try FileInfo(of: parcel.path).size)
            return try await receive.put(
                parcel,
                as: folder.backup(file, of: whole),
                folder.annotations().annotationToTake(of: backup, among: backups),
                among: backups
            )
        }
        var outcome = try await finish(received.backup, replacing: backup)
        outcome.problems = received.problems + outcome.problems
        return outcome
    }

    /// Throws if a full archive may not fit beside the others: its size is about that of the previous full one.
    private func checkSpace(for increment: ArchivedBackup) throws {
        let needed = try increment.needs.first.map { try FileInfo(of: $0.path).size } ?? 0
        let available = try Directory.open(folder.staging).availableSpace()
        guard needed <= available else {
            throw OperationError.noSpace(folder.staging, needed: needed, available: available)
        }
    }

    /// Moves the increment to the trash, because the full backup exists.
    private func finish(_ whole: Backup, replacing increment: Backup) async throws -> Outcome {
        var outcome = Outcome(backup: whole)
        do {
            let problem = try await folder.remove(
                increment,
                at: options.date,
                keepingTrash: increment.trashTime(options.keepsTrash)
            )
            outcome.replaced = increment
            outcome.problems = [problem].compactMap(\.self)
        } catch  where !(error is CancellationError) {
            outcome.problems = [
                Problem(kind: .notRemoved, path: increment.name, reason: explain(error))
            ]
        }
        context.reportProblems(outcome.problems)
        return outcome
    }
}
