public import Archives
public import Backups
internal import Files
public import Foundation
public import Stores

/// The choices that a backup leaves.
public struct BackupOptions: Sendable {
    public var compression: Compression = .default
    /// When the backup is made; its name and its manifest say so.
    public var date: Date
    /// The program's name and version, for the manifest.
    public var tool: String
    /// Why it is made, if that is not plain.
    public var reason: String?
    /// For how long to try while a writer lets nobody read a store.
    public var busyTimeout: Duration = .seconds(30)
    /// Whether every store is checked in full while it is saved, which takes a while.
    public var checksStores = false
    /// Whether a remark of that check is damage: rows that refer to rows that are not there.
    public var isStrict = false
    /// Whether the data is right, however much less than before it is.
    public var acceptsChanges = false
    /// Whether to make none if the newest one has the same content; times do not count.
    public var skipsUnchanged = false
    /// Whether the archive is uploaded while it is made, if its folder can take it so.
    public var streams = false
    public var tags: [String] = []
    public var note: String?
    /// What is left out.
    public var exclusions = Exclusions.none
    /// The paths that a restore keeps, which is all that its safety backup leaves out.
    var keptPaths: Set<RelativePath>?
    /// What becomes of it if another backup of its minute has its name; one that waits gets a number.
    public var sameName = SameName.number
    /// Whether it waits in the folder's outbox if the folder cannot be reached.
    public var queues = false
    /// How it may be built on others; `nil` for one that stands alone.
    public var increments: IncrementOptions?
    /// Whether it is encrypted though nobody was named who may read it: what it is made for is.
    var isAlwaysEncrypted = false
    /// Whether it is made before a restore: what was lost is then no news.
    var isBeforeRestore = false

    public init(date: Date, tool: String) {
        self.date = date
        self.tool = tool
    }

    /// What a walk passes over.
    var leavingOut: LeavingOut { keptPaths.map(LeavingOut.paths) ?? .matches(exclusions) }
}
