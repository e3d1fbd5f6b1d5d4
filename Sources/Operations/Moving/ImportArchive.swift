internal import Age
internal import Archives
public import Backups
internal import Files
public import Foundation
internal import Remotes
public import SystemPackage

/// Imports an archive that was made elsewhere into a folder, under a name of ours; the file stays.
public struct ImportArchive: Sendable {
    /// The options of an import.
    public struct Options: Sendable {
        /// The current time.
        public var date: Date
        /// The time when the archive was made, if it does not record that itself.
        public var time: Date?
        public var tags: [String] = []
        public var note: String?
        public var sameName: SameName = .number
        public var limits = RestoreLimits()
        /// Whether an encrypted archive is encrypted again, for the folder's recipients.
        public var encryptsAgain = false

        public init(date: Date) {
            self.date = date
        }
    }

    /// The source of an archive's time.
    public enum TimeSource: String, Sendable {
        /// The manifest, which is reliable.
        case manifest
        /// The user who imports it.
        case given
        /// The archive's name.
        case name
        /// The modification time of the file.
        case file
    }

    /// The result of an import.
    public struct Outcome: Sendable {
        /// The backup in the folder.
        public var backup: Backup
        /// Whether the folder already had it.
        public var wasThere: Bool
        /// The backup that was moved to the trash to free the name.
        public var replaced: Backup?
        public var time: Date
        public var timeSource: TimeSource
        public var stores: Int
        /// The total size of all files in bytes.
        public var bytes: Int64
        public var problems: [Problem]
        /// The base backups that were imported with it.
        public var needs: [Backup] = []
    }

    private let folder: BackupFolder
    private var options: Options
    private let context: OperationContext

    public init(to folder: BackupFolder, options: Options, context: OperationContext) {
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Imports a file of this machine.
    ///
    /// The base backups of an increment are imported too, if they are beside the file, and not in the folder.
    ///
    /// - Throws: `MovingError.notImported`, `.lacksNeed`, `ArchiveError`, `ArchivedBackupError`,
    ///   `BackupFolderError.taken`, `RemoteError`, `FileError`; nothing is added to the folder then.
    public func run(_ path: FilePath) async throws -> Outcome {
        try await context.withLock(folder) {
            try context.removeLeftovers(of: folder)
            return try await take(path)
        }
    }

    private func take(_ path: FilePath) async throws -> Outcome {
        let file = try File.open(path)
        let modified = try file.info().modified
        let name = path.lastComponent?.string ?? printable(path)
        let beginning = (try? file.readExactly(count: 4, at: 0)) ?? []
        let isEncrypted = beginning == Array("age-".utf8)
        if isEncrypted || beginning.starts(with: "PK".utf8) {
            guard isEncrypted == BackupName.isEncrypted(name) else {
                throw MovingError.misnamed(name, isEncrypted: isEncrypted)
            }
        }
        let receive = ReceiveArchive(
            folder: folder,
            sameName: options.sameName,
            date: options.date,
            context: context
        )
        // If the folder must have it encrypted, no plain copy may come into the folder.
        let isSealed = try !BackupName.isEncrypted(name) && folder.keys.recipients() != nil
        return try await receive.withParcel(
            named: name,
            holdingTo: options.limits,
            readingInPlace: isSealed ? path : nil
        ) {
            try context.copy(path, to: $0)
        } _: { parcel in
            if let sealed = parcel.sealed { throw sealed }
            guard let archived = parcel.archived, parcel.damage == nil else {
                let reason = parcel.damage ?? "it cannot be opened"
                throw MovingError.notImported(name, reason: reason)
            }
            let needs = try await takeNeeds(of: archived, beside: path)
            let file = Date(timeIntervalSince1970: Double(modified) / 1e9)
            var outcome = try await take(parcel, archived, named: name, file: file, receive)
            outcome.needs = needs.map(\.backup)
            outcome.problems += needs.flatMap(\.problems)
            return outcome
        }
    }

    /// Imports the base backups of an increment that the folder lacks.
    ///
    /// - Throws: `MovingError.lacksNeed` if one is not beside the file either: then none is imported.
    private func takeNeeds(
        of archived: ArchivedBackup,
        beside path: FilePath
    ) async throws -> [Outcome] {
        guard let header = archived.header, header.isIncrement else { return [] }
        let parent = path.removingLastComponent()
        let directory = parent.isEmpty ? "." : parent
        var files: [FilePath] = []
        for need in try await NeedSearch.whereabouts(of: header, in: folder).missing {
            let file = try await header.archiveBeside(for: need, in: directory, like: folder)
            guard let file else {
                throw MovingError.lacksNeed(
                    archived.name,
                    need: BackupName.display(need.name),
                    address: folder.address
                )
            }
            files.append(file)
        }
        var plain = self
        plain.options.tags = []
        plain.options.note = nil
        plain.options.time = nil
        var outcomes: [Outcome] = []
        for file in files { outcomes.append(try await plain.take(file)) }
        return outcomes
    }

    private func take(
        _ parcel: ReceiveArchive.Parcel,
        _ archived: ArchivedBackup,
        named name: String,
        file modified: Date,
        _ receive: ReceiveArchive
    ) async throws -> Outcome {
        let (time, source) = time(of: archived, named: name, file: modified)
        if source == .manifest, let given = options.time, given != time {
            context.warn(
                "'\(name)' itself says when it was made: the given time is not used"
            )
        }
        // Other backups may refer to it by its present name.
        let isInLineage =
            archived.header?.lineage != nil && BackupName.date(of: name, in: folder.timeZone) != nil
        let isEncrypted = BackupName.isEncrypted(name)
        let ownName = BackupName.make(
            time,
            in: folder.timeZone,
            isIncrement: archived.header?.isIncrement ?? false,
            isEncrypted: isEncrypted
        )
        let newName = isInLineage ? name : ownName
        let recipients =
            isEncrypted && !options.encryptsAgain ? nil : try folder.keys.recipients()
        let stores = try archived.countStores()
        if stores == 0 { context.warn("'\(name)' has no store in it") }
        let there = try await folder.list().backups
        await context.removeRemoteLeftovers(of: folder)
        let received = try await receive.resealing(parcel, named: newName, for: recipients) {
            parcel,
            file -> ReceiveArchive.Outcome in
            try await add(
                parcel,
                folder.backup(file, of: archived),
                for: recipients,
                there,
                receive
            )
        }
        return Outcome(
            backup: received.backup,
            wasThere: received.wasThere,
            replaced: received.replaced,
            time: time,
            timeSource: source,
            stores: stores,
            bytes: archived.bytes,
            problems: received.problems
        )
    }

    /// Adds a parcel to the folder, unless the folder has a whole one that equals it.
    private func add(
        _ parcel: ReceiveArchive.Parcel,
        _ backup: Backup,
        for recipients: [Recipient]?,
        _ there: [Backup],
        _ receive: ReceiveArchive
    ) async throws -> ReceiveArchive.Outcome {
        let same = try await whole(sameAs: backup, among: there, for: recipients, receive)
        if let same { return .init(backup: same, wasThere: true) }
        let isBare = options.tags.isEmpty && options.note == nil
        let added = Annotation(of: backup.file.name, tags: options.tags, note: options.note)
        let outcome = try await receive.put(
            parcel,
            as: backup,
            isBare ? nil : added,
            among: there
        )
        if let recipients { receive.remember(recipients, of: outcome) }
        return outcome
    }

    /// Returns a backup that equals the imported one, is whole and is for the recipients; `nil` if there is none.
    private func whole(
        sameAs backup: Backup,
        among there: [Backup],
        for recipients: [Recipient]?,
        _ receive: ReceiveArchive
    ) async throws -> Backup? {
        var others = there
        while let same = try await receive.same(
            as: backup,
            content: backup.content,
            among: others,
            ofAnySize: recipients != nil
        ) {
            if try await isWhole(same, for: recipients) { return same }
            others.removeAll { $0.name.exact == same.name.exact }
        }
        return nil
    }

    /// Returns whether a backup that equals the imported one is whole, as far as it can be read here.
    ///
    /// The imported one may be the last whole copy, and its file is likely to be deleted next.
    private func isWhole(_ backup: Backup, for recipients: [Recipient]?) async throws -> Bool {
        guard backup.file.location != nil else { return true }
        do {
            try await context.verifyQuietly(context.open(backup, in: folder))
            return !options.encryptsAgain
                || backup.summary.recipients == BackupKeys.digest(of: recipients)
        } catch let error where error.isOfKeys {
            // No key here opens it, so it must be for those who can open the imported one.
            return recipients == nil
                || backup.summary.recipients == BackupKeys.digest(of: recipients)
        } catch let error where error.reportsDamage {
            let damage = explain(error)
            context.warn("'\(backup.displayName)' is there already, and damaged: \(damage)")
            await context.rememberCheck(of: backup, in: folder, damage: damage, at: options.date)
            return false
        }
    }

    /// Returns the time when an archive was made, and the source of that time.
    private func time(
        of archived: ArchivedBackup,
        named name: String,
        file modified: Date
    ) -> (Date, TimeSource) {
        if let date = archived.header?.date { return (date, .manifest) }
        if let date = options.time { return (date, .given) }
        if let date = BackupName.date(of: name, in: folder.timeZone) { return (date, .name) }
        return (modified, .file)
    }
}
