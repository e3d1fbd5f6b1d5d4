internal import History
package import Files
public import Foundation
public import Remotes
public import SystemPackage

/// A remote folder seen as the backups in it, with their notes, the trash, and the findings of checks.
///
/// Methods that change the folder say so; their caller has `staging` locked.
public struct BackupFolder: Sendable {
    /// A file that is no backup, and the reason.
    public struct PassedOver: Sendable, Equatable {
        public var name: String
        public var reason: String
    }

    /// The backups of a folder, and what is known of them.
    public struct Listing: Sendable {
        /// Newest first.
        public var backups: [Backup] = []
        public var passedOver: [PassedOver] = []
        /// The reason that tags, notes and pins are not known, if they are not.
        public var annotationsError: (any Error)?
        /// The reason that checks are not known, if they are not.
        public var logError: (any Error)?
    }

    public let remote: any RemoteFolder
    /// A directory on this machine, for this folder only: uploads are made there, and runs that use
    /// the folder lock it.
    public let staging: FilePath
    /// A directory on this machine, for this folder only, where archives are made and fetched to.
    public let workplace: FilePath
    public let memory: BackupMemory
    /// The time zone of names.
    public let timeZone: TimeZone
    /// The place of backups that wait until the folder can be reached; `nil` if none can.
    public var outbox: Outbox?

    public var address: String { remote.address }

    /// The keys of this run.
    package var keys: BackupKeys { memory.catalog.keys }

    public init(
        _ remote: any RemoteFolder,
        staging: FilePath,
        workplace: FilePath? = nil,
        memory: BackupMemory,
        timeZone: TimeZone
    ) {
        self.remote = remote
        self.staging = staging
        self.workplace = workplace ?? staging
        self.memory = memory
        self.timeZone = timeZone
    }

    /// Names a directory of this machine, which is its own staging directory.
    public init(_ folder: LocalFolder, memory: BackupMemory, timeZone: TimeZone) {
        self.init(folder, staging: folder.path, memory: memory, timeZone: timeZone)
    }

    /// The directory that stands for the folder on this machine; `nil` if there is none.
    package var identity: FileInfo.Identity? {
        (try? staging.resolved()).flatMap { try? FileInfo(of: $0) }?.identity
    }

    /// Returns the tags, notes and pins of the folder.
    ///
    /// - Throws: see `Annotations.init`.
    package func annotations() async throws -> Annotations {
        let remembered = memory.catalog.annotations(for: address)
        return try await Annotations(
            of: remote,
            staging: staging,
            remembering: remembered,
            writing: memory.catalog.deeds(in: address).annotations
        )
    }

    var trash: Trash { Trash(remote: remote) }

    /// The name of the subfolder that deleted backups are in.
    package static let trashName = Trash.subfolder

    /// Returns the same folder, whose archives are fetched to another directory.
    package func fetching(to workplace: FilePath) -> BackupFolder {
        var folder = BackupFolder(
            remote,
            staging: staging,
            workplace: workplace,
            memory: memory,
            timeZone: timeZone
        )
        folder.outbox = outbox
        return folder
    }

    // MARK: - Finding

    /// Reads the folder.
    ///
    /// - Throws: `RemoteError`.
    public func list() async throws -> Listing {
        var listing = Listing()
        var files: [RemoteFile] = []
        for file in try await remote.list() {
            if let reason = Self.reasonToPassOver(file.name) {
                listing.passedOver.append(PassedOver(name: file.name, reason: reason))
            } else {
                files.append(file)
            }
        }
        listing.backups = await memory.catalog.backups(files, in: address, timeZone: timeZone)
        do {
            try addChecks(to: &listing.backups)
        } catch {
            listing.logError = error
        }
        do {
            let annotations = try await annotations()
            annotations.annotate(&listing.backups)
            memory.catalog.remember(annotations, of: listing.backups)
            let known = annotations.readAgain
            if !known.isEmpty { memory.catalog.remember(in: address) { $0.forget(known) } }
        } catch {
            // No reason not to find and restore a backup.
            listing.annotationsError = error
        }
        memory.catalog.keepOnly(Set(listing.backups.map(\.name)), in: address)
        // A restore looks into the trash too.
        await listing.backups.markIncomplete {
            try? await trash.entries().map(backup)
        }
        listing.backups.sortNewestFirst()
        listing.passedOver.sort { $0.name < $1.name }
        return listing
    }

    private static func reasonToPassOver(_ name: String) -> String? {
        if name.hasPrefix(PartialName.prefix) {
            return "a backup that is being made, or was interrupted"
        }
        return BackupName.suffix(of: name) != nil
            ? nil
            : "its name ends neither in '\(BackupName.suffix)' nor in '\(BackupName.incrementSuffix)', perhaps with '\(BackupName.encryptedEnding)'"
    }

    private func addChecks(to backups: inout [Backup]) throws {
        guard let log = memory.log else { return }
        let checks = try log.lastChecks(of: Set(backups.map(\.key.rawValue)))
        let isCopy = backups.copies
        for index in backups.indices {
            let backup = backups[index]
            guard let found = checks[backup.key.rawValue] else { continue }
            backups[index].checks = CheckHistory(
                of: backup.name,
                in: address,
                among: found,
                isCopy: { isCopy(backup, $0) },
                isElsewhere: { memory.catalog.isStillThere(backup.key, $1, in: $0) }
            )
        }
    }

    /// Returns the backup that a person means; see `[Backup].matching`.
    ///
    /// - Throws: `BackupFolderError.noBackup` and its like; `RemoteError`.
    public func find(_ text: String, now: Date? = nil) async throws -> Backup {
        try await list().backups.matching(text, address: address, now: now)
    }

    /// Returns the digest of everything in a backup, if it is known or can be read here.
    package func content(of backup: Backup) -> String? {
        memory.catalog.content(of: backup, in: address)
    }

    /// Returns a deleted backup with what its manifest says, if its archive is on this machine.
    func backup(_ entry: TrashedBackup) -> Backup {
        var file = entry.file
        file.name = entry.name
        var backup = Backup(file, timeZone: timeZone)
        if let location = entry.file.location, backup.isIncrement || backup.lineage == nil,
            let header = try? ArchivedBackup.glance(
                at: location,
                name: entry.name,
                keys: keys
            ).header
        {
            backup.take(header)
        }
        return backup
    }
}
