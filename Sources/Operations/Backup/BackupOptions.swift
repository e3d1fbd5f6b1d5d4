public import Archives
public import Backups
internal import Files
public import Foundation
public import Stores

/// The options of a backup.
public struct BackupOptions: Sendable {
    public var compression: Compression = .default
    /// The time of the backup, for its name and its manifest.
    public var date: Date
    /// The program's name and version, for the manifest.
    public var tool: String
    /// The reason for the backup, unless it is an ordinary one.
    public var reason: String?
    /// The paths that the restore replaces after this safety backup; empty for all.
    var replaced: [String] = []
    /// The time to keep trying while a writer blocks readers of a store.
    public var busyTimeout: Duration = .seconds(30)
    /// Whether to check every store in full while it is saved, which takes some time.
    public var checksStores = false
    /// Whether remarks of that check count as damage: rows that refer to missing rows.
    public var isStrict = false
    /// Whether the user accepts the data, even if it is much less than before.
    public var acceptsChanges = false
    /// Whether to make no backup if the newest one has the same content; times do not count.
    public var skipsUnchanged = false
    /// Whether to upload the archive while it is made, if its folder accepts streams.
    public var streams = false
    public var tags: [String] = []
    public var note: String?
    /// The rules for files to exclude.
    public var exclusions = Exclusions.none
    /// Whether a link to a store outside the stores directory counts as that store.
    public var followsLinks = false
    /// The columns that name files of stores, in addition to those of Core Data.
    public var externalFiles: [ExternalFiles] = []
    /// The paths that a restore keeps, which are the only ones that its safety backup excludes.
    var keptPaths: Set<RelativePath>?
    /// The handling if another backup of the same minute has its name; a waiting backup always gets a number.
    public var sameName = SameName.number
    /// Whether the backup waits in the folder's outbox if the folder is unreachable.
    public var queues = false
    /// The options for increments; `nil` for a backup outside a lineage.
    public var increments: IncrementOptions?
    /// The greatest size of manifest lines, in bytes, that wait for the header.
    ///
    /// The header needs all stores to be examined first.
    var headerWaits = 1 << 20
    /// Whether to encrypt the backup even without recipients, because the backup to restore is encrypted.
    var isAlwaysEncrypted = false
    /// Whether a person has said that backups are not encrypted, even beside encrypted ones.
    public var isPlainByChoice = false
    /// Whether the backup is made before a restore: a loss of data is then already known.
    var isBeforeRestore = false

    public init(date: Date, tool: String) {
        self.date = date
        self.tool = tool
    }

    /// Whether it saves the data that a restore is about to replace, with or without stores.
    var isSafety: Bool { isBeforeRestore || keptPaths != nil }

    /// The rules for the files that a walk skips.
    var leavingOut: LeavingOut { keptPaths.map(LeavingOut.paths) ?? .matches(exclusions) }
}
