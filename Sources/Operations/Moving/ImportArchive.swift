internal import Archives
public import Backups
internal import Files
public import Foundation
internal import Remotes
public import SystemPackage

/// Takes an archive that was made elsewhere into a folder, under a name of ours; the file stays.
public struct ImportArchive: Sendable {
    /// The choices that an import leaves.
    public struct Options: Sendable {
        /// Now.
        public var date: Date
        /// When the archive was made, if it does not say so itself.
        public var time: Date?
        public var tags: [String] = []
        public var note: String?
        public var sameName: SameName = .number
        public var limits = RestoreLimits()

        public init(date: Date) {
            self.date = date
        }
    }

    /// What tells when an archive was made.
    public enum TimeSource: String, Sendable {
        /// Its manifest, which is the truth.
        case manifest
        /// The person who imports it.
        case given
        /// Its name.
        case name
        /// The time at which its file was changed last.
        case file
    }

    /// The result of an import.
    public struct Outcome: Sendable {
        /// The backup in the folder.
        public var backup: Backup
        /// Whether the folder had it.
        public var wasThere: Bool
        /// The backup that moved to the trash for its name.
        public var replaced: Backup?
        public var time: Date
        public var timeSource: TimeSource
        public var stores: Int
        /// Bytes in all files.
        public var bytes: Int64
        public var problems: [Problem]
    }

    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext

    public init(to folder: BackupFolder, options: Options, context: OperationContext) {
        self.folder = folder
        self.options = options
        self.context = context
    }

    /// Imports a file of this machine.
    ///
    /// - Throws: `MovingError.notImported`, `ArchiveError`, `ArchivedBackupError`, `BackupFolderError.taken`,
    ///   `RemoteError`, `FileError`; nothing is added to the folder then.
    public func run(_ path: FilePath) async throws -> Outcome {
        let modified = try File.open(path).info().modified
        let name = path.lastComponent?.string ?? printable(path)
        return try await context.withLock(folder) {
            try context.removeLeftovers(of: folder)
            let receive = ReceiveArchive(
                folder: folder,
                sameName: options.sameName,
                date: options.date,
                context: context
            )
            return try await receive.withParcel(named: name, holdingTo: options.limits) {
                try context.copy(path, to: $0)
            } _: { parcel in
                if let sealed = parcel.sealed { throw sealed }
                guard let archived = parcel.archived, parcel.damage == nil else {
                    let reason = parcel.damage ?? "it cannot be opened"
                    throw MovingError.notImported(name, reason: reason)
                }
                let file = Date(timeIntervalSince1970: Double(modified) / 1e9)
                return try await take(parcel, archived, named: name, file: file, receive)
            }
        }
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
                "'\(name)' says itself when it was made: the time that was given is not used"
            )
        }
        let isEncrypted = BackupName.isEncrypted(name)
        let newName = BackupName.make(time, in: folder.timeZone, isEncrypted: isEncrypted)
        let recipients = isEncrypted ? nil : try folder.keys.recipients()
        let stores = try archived.countStores()
        if stores == 0 { context.warn("'\(name)' has no store in it") }
        let there = try await folder.list().backups
        await context.removeRemoteLeftovers(of: folder)
        let received = try await receive.resealing(parcel, named: newName, for: recipients) {
            parcel,
            file in
            let backup = try folder.backup(file, of: archived)
            let same = try await receive.same(
                as: backup,
                content: backup.content,
                among: there,
                ofAnySize: recipients != nil
            )
            if let same { return ReceiveArchive.Outcome(backup: same, wasThere: true) }
            let isBare = options.tags.isEmpty && options.note == nil
            let annotation = Annotation(of: file.name, tags: options.tags, note: options.note)
            return try await receive.put(
                parcel,
                as: backup,
                isBare ? nil : annotation,
                among: there
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

    /// Returns when an archive was made.
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
