internal import Files
internal import Backups
internal import Operations

/// The answer about a backup that was made.
struct BackupAnswer: Answer {
    var messageType = "summary"
    var profile: String?
    /// The name of the machine and stores directory in the manifest.
    var origin: String?
    var name: String
    var displayName: String
    /// Whether no backup was made, because this one, the newest, has the same content.
    var unchanged: Bool
    /// Whether it waits on this machine until the remote folder can be reached.
    var waiting: Bool
    var time: LocalTime?
    var size: Int64
    var bytes: Int64
    var entries: Int
    var stores: Int
    /// The backup of the same name that moved to the trash.
    var replaced: String?
    /// The number of excluded files and directories.
    var leftOut: Int
    var problems: [Problem]
    private let folder: String
    /// Whether the newest backup got the tags and the note; not part of the JSON.
    private let isAnnotated: Bool

    private enum CodingKeys: CodingKey {
        case messageType, profile, origin, name, displayName, unchanged, waiting, time, size, bytes
        case entries, stores, leftOut, replaced, problems
    }

    init(_ outcome: CreateBackup.Outcome, _ invocation: Invocation) {
        profile = invocation.profile.name
        origin = outcome.backup.originName
        name = outcome.backup.name
        displayName = outcome.backup.displayName
        unchanged = outcome.isUnchanged
        waiting = outcome.waitsFor != nil
        time = outcome.backup.time.map(invocation.local)
        size = outcome.backup.size
        bytes = outcome.bytes
        entries = outcome.entries
        stores = outcome.stores
        replaced = outcome.replaced?.name
        leftOut = outcome.leftOut
        problems = outcome.problems
        folder =
            waiting
            ? "the queue of this machine"
            : "'\(invocation.address)' (\(counted(outcome.backups, "backup", "backups")))"
        isAnnotated = outcome.isAnnotated
    }

    func write(to console: Console) {
        console.done(name)
        let what =
            "\(counted(stores, "store", "stores")) and \(counted(entries, "entry", "entries"))"
        let rest = leftOut == 0 ? "" : "; \(counted(leftOut, "path was", "paths were")) left out"
        console.message(
            unchanged
                ? "nothing has changed since then: no backup was made"
                    + (isAnnotated ? ", and that one got the tags and the note" : "")
                : "\(what), \(byteCount(bytes)), saved as \(byteCount(size)) in \(folder)\(rest)"
        )
        if let replaced {
            console.message("the other '\(BackupName.display(replaced))' is in the trash now")
        }
    }
}
