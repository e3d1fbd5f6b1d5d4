public import Files

/// An error about the backups of a folder; nothing was changed.
public enum BackupFolderError: ExplainedError, Equatable {
    /// No backup has that name.
    case noBackup(String, address: String, nearest: String? = nil)
    /// There is no backup at all.
    case noBackups(String)
    /// No backup was made at a moment or before it.
    case noneUntil(String, address: String)
    /// There are backups, and restores made all of them of what they replaced.
    case onlySafetyBackups(String)
    /// No restore made a backup of what it replaced.
    case nothingToUndo(String)
    /// All backups that restores made of what they replaced are of other stores directories.
    case undoneElsewhere(String, newest: String)
    /// Several backups that restores made may be meant: they do not tell what stores directory they are of.
    case unknownUndo(String, [String])
    /// Several backups have that in their names.
    case ambiguous(String, matches: [String])
    /// A file with tags, notes and pins cannot be read.
    case badAnnotations(String, file: String)
    /// A name is taken by another backup.
    case nameTaken(String, address: String)
    /// An archive that would come into the folder has the name of another backup.
    case taken(String, address: String)
    /// No backup of that name was deleted lately.
    case notInTrash(String, address: String)
    /// An archive would not fit where it is to be fetched to.
    case noSpace(String, needed: Int64, available: Int64)
    /// A backup that is pinned is removed only once it is not.
    case pinned(String)
    /// A backup's archive has no end.
    case notReady(String)
    /// A backup that others need is not removed alone.
    case needed(String, by: [String])
    /// A backup is not removed as long as others may need it of which that cannot be told: they cannot be read here.
    case perhapsNeeded(String, by: [String])
    /// An increment cannot be put together: another backup is not there.
    ///
    /// `others` cannot either; `whole` is the newest backup of the folder that can be restored.
    case missingNeed(
        String,
        need: String,
        address: String,
        others: [String] = [],
        whole: String? = nil
    )

    public var description: String {
        switch self {
        case .noBackup(let name, let address, _):
            "there is no backup named '\(name)' in '\(address)'"
        case .noBackups(let address): "there is no backup in '\(address)'"
        case .noneUntil(let moment, let address):
            "there is no backup of \(moment) or before in '\(address)'"
        case .onlySafetyBackups(let address):
            "in '\(address)' there are only backups that restores made of the data that they replaced"
        case .nothingToUndo(let address):
            "there is no restore to undo: none left a backup of the data before it in '\(address)'"
        case .undoneElsewhere(let address, _):
            "there is no restore of this stores directory to undo: all backups in '\(address)' that restores made are of another machine, or of another stores directory"
        case .unknownUndo(let address, let names):
            "it is not known which restore to undo: \(names.count) backups in '\(address)' were made by one, and do not tell of which stores directory: \(names.prefix(5).joined(separator: ", "))"
        case .ambiguous(let name, let matches):
            "'\(name)' is in the names of \(matches.count) backups: \(matches.prefix(5).joined(separator: ", "))"
        case .badAnnotations(let address, let file):
            "the tags, notes and pins of '\(address)' cannot be read: '\(file)' is damaged"
        case .nameTaken(let name, let address):
            "'\(name)' cannot come back: there is another backup of that name in '\(address)'"
        case .taken(let name, let address):
            "there is another backup named '\(name)' in '\(address)'"
        case .notInTrash(let name, let address):
            "there is no deleted backup named '\(name)' in '\(address)'"
        case .noSpace(let path, let needed, let available):
            "no space to fetch the archive to '\(path)': \(byteCount(needed)) are needed and \(byteCount(available)) are free"
        case .pinned(let name): "'\(name)' is pinned, and was not removed"
        case .notReady(let name): "'\(name)' is not ready: \(Backup.notReady)"
        case .needed(let name, let others):
            "'\(name)' is needed by \(counted(others.count, "other backup", "other backups")), '\(others.first ?? "")' first, and was not removed"
        case .perhapsNeeded(let name, let others):
            "'\(name)' may be needed by \(counted(others.count, "other backup", "other backups")), and was not removed: what they are built on cannot be read here: \(others.prefix(5).joined(separator: ", "))\(others.count > 5 ? ", …" : "")"
        case .missingNeed(let name, let need, let address, let others, _):
            "'\(name)' is built on '\(need)', which is not in '\(address)'"
                + (others.isEmpty
                    ? ""
                    : "; so \(others.count == 1 ? "is" : "are") \(counted(others.count, "other backup", "other backups")): \(others.prefix(5).joined(separator: ", "))")
        }
    }

    public var hint: String? {
        switch self {
        case .ambiguous: "give more of the name, or 'latest'"
        case .badAnnotations(let address, _):
            "restore it, or if no pin in it matters, remove it: see '\(address)/\(Annotations.subfolder)'"
        case .nameTaken: "rename that one first"
        case .taken: "give it the next number, or have the other one replaced"
        case .noSpace: "free some space there, or have archives fetched to another disk"
        case .pinned: "unpin it first"
        case .notReady: "wait until all of it is there, or choose another backup"
        case .needed: "remove those first, or with it"
        case .perhapsNeeded: "remove it where they can be read, or remove those first"
        case .missingNeed(_, _, _, _, let whole?):
            "bring that one back, or choose another backup: '\(whole)' is the newest whole one"
        case .missingNeed: "bring that one back, or choose another backup"
        case .onlySafetyBackups, .undoneElsewhere, .unknownUndo: "choose one by its name"
        case .noBackup(_, _, let nearest): nearest.map { "did you mean '\($0)'?" }
        case .noBackups, .noneUntil, .nothingToUndo, .notInTrash: nil
        }
    }
}
