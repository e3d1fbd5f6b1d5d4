internal import History
package import Files
public import Foundation
public import Remotes
public import SystemPackage

/// A remote folder as a list of backups, with their annotations, the trash, and the results of checks.
///
/// The caller of a method that changes the folder holds the lock on `staging`.
public struct BackupFolder: Sendable {
    /// A file that is no backup, and the reason.
    public struct PassedOver: Sendable, Equatable {
        public var name: String
        public var reason: String
        /// Whether it may be a backup that cannot be read as it is.
        var isProblem = false
    }

    /// The backups of a folder, with the known facts about them.
    public struct Listing: Sendable {
        /// The backups, newest first.
        public var backups: [Backup] = []
        public var passedOver: [PassedOver] = []
        /// The backups whose names were altered, so that they are in no list, unless the folder has them by their names.
        package internal(set) var altered: [Backup] = []
        /// The other files that may be archives; increments may be built on them.
        var unlisted: [RemoteFile] = []
        /// The error if tags, notes and pins are unknown.
        public var annotationsError: (any Error)?
        /// The error if the results of checks are unknown.
        public var logError: (any Error)?
        /// The error if the trusted keys are unknown, so that no backup counts.
        public var signersError: (any Error)?
    }

    public let remote: any RemoteFolder
    /// A directory on this machine for this folder only.
    ///
    /// Uploads are prepared in it, and runs that use the folder lock it.
    public let staging: FilePath
    /// A directory on this machine for this folder only.
    ///
    /// Archives are created in it and fetched to it.
    public private(set) var workplace: FilePath
    public let memory: BackupMemory
    /// The time zone of backups' names.
    public let timeZone: LocalZone
    /// The origin of this run's backups; `nil` if all origins count as own.
    public var origin: Origin?
    /// Whether annotations elsewhere are copied to `staging` when they are read.
    public var keepsCopies = true
    /// The outbox for backups that wait until the folder is reachable; `nil` if backups cannot wait.
    public var outbox: Outbox?

    public var address: String { remote.address }

    /// The keys of this run.
    package var keys: BackupKeys { memory.catalog.keys }

    public init(
        _ remote: any RemoteFolder,
        staging: FilePath,
        workplace: FilePath? = nil,
        memory: BackupMemory,
        timeZone: LocalZone
    ) {
        self.remote = remote
        self.staging = staging
        self.workplace = workplace ?? staging
        self.memory = memory
        self.timeZone = timeZone
    }

    /// Creates the view of a local directory, which is its own staging directory.
    public init(_ folder: LocalFolder, memory: BackupMemory, timeZone: LocalZone) {
        self.init(folder, staging: folder.path, memory: memory, timeZone: timeZone)
    }

    /// The identity of the folder's staging directory; `nil` if that does not exist.
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
            keepingCopies: keepsCopies,
            remembering: remembered,
            writing: memory.catalog.deeds(in: address).annotations
        )
    }

    /// Returns the same folder with another directory for fetched archives.
    package func fetching(to workplace: FilePath) -> BackupFolder {
        var folder = self
        folder.workplace = workplace
        return folder
    }

    // MARK: - Finding

    /// The names that this machine gave to backups.
    ///
    /// A remote listing may not show them yet; a local folder always does.
    var givenNames: Set<ExactString> {
        remote.directory != nil ? [] : Set(memory.catalog.deeds(in: address).names.map(\.exact))
    }

    /// Returns the backups of the own origin with a trusted signature; only these count for decisions.
    package func own(_ backups: [Backup]) -> [Backup] { backups.filter(owns) }

    /// Returns whether a backup is of the own origin and has a trusted signature.
    package func owns(_ backup: Backup) -> Bool {
        backup.distrust == nil && (origin?.has(backup) ?? true)
    }

    /// Whether this machine has seen a backup of the own origin in this folder.
    package var knowsOwn: Bool { newer(than: nil) != nil }

    /// Remembers the newest own backup, and returns the name of a newer one that was seen before.
    func newer(than newest: Backup?) -> String? {
        memory.catalog.newer(than: newest, of: origin.key, in: address)
    }

    /// Returns the data to compare the next backup with; see `BackupCatalog.expectedData`.
    package func expectedData(after backups: [Backup], isListed: Bool = true) -> ExpectedData? {
        memory.catalog.expectedData(after: backups, of: origin.key, in: address, isListed: isListed)
    }

    /// Remembers the data to compare the own backup after this one with.
    package func rememberExpectedData(_ data: ExpectedData, after backup: Backup) {
        memory.catalog.rememberExpectedData(data, after: backup, of: origin.key, in: address)
    }

    /// Reads the folder.
    ///
    /// - Throws: `RemoteError`.
    public func list() async throws -> Listing {
        var listing = Listing()
        var entries = try await remote.listAll()
        entries.files += try await Listing.late(besides: entries.files, in: self)
        let files = try listing.sortEntries(entries, in: self)
        listing.backups = try await memory.backups(files, in: address, timeZone: timeZone)
        try await listing.findAltered(in: self)
        do {
            try keys.signers?.check()
        } catch {
            listing.signersError = error
        }
        do {
            try listing.addChecks(in: self)
        } catch  where !(error is CancellationError) {
            listing.logError = error
        }
        do {
            let annotations = try await annotations()
            annotations.annotate(&listing.backups)
            memory.catalog.remember(annotations, of: listing.backups)
            let known = annotations.readAgain
            if !known.isEmpty { memory.catalog.remember(in: address) { $0.forget(known) } }
        } catch {
            // Backups can be found and restored without annotations.
            listing.annotationsError = error
        }
        memory.catalog.keepOnly(
            Set((files + listing.unlisted).map(\.name.exact)),
            in: address,
            missing: { [origin] in origin?.isOrigin($0) ?? true }
        )
        try memory.checkCancellation()
        // A restore searches the trash too.
        let unlisted = listing.unlisted
        await listing.backups.markIncomplete {
            guard let trashed = try? await trash.entries().map(trash.backup) else { return nil }
            let others = try? await memory.backups(unlisted, in: address, timeZone: timeZone)
            return trashed + (others ?? [])
        }
        listing.backups.notePlain()
        try memory.checkCancellation()
        listing.backups.arrange()
        listing.passedOver.sort { $0.name.exact < $1.name.exact }
        return listing
    }

    /// Returns the backup that a person means; see `[Backup].matching`.
    ///
    /// - Throws: `BackupFolderError.noBackup` and similar errors; `RemoteError`.
    public func find(_ text: String, now: Date? = nil) async throws -> Backup {
        try await list().backups.matching(text, address: address, now: now)
    }

    /// Returns the digest of a backup's content, if it is known or can be read on this machine.
    package func content(of backup: Backup) -> String? {
        memory.catalog.content(of: backup, in: address)
    }
}

extension Origin? {
    /// The key for facts about the own origin's backups.
    fileprivate var key: String { self?.id ?? "" }
}
