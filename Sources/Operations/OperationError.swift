public import Files
internal import Remotes
public import SystemPackage

/// An error of an operation; it says in which state the data is.
public enum OperationError: ExplainedError {
    /// The stores directory is missing.
    case noStores(FilePath)
    /// The stores directory is empty.
    case nothingToBackUp(FilePath)
    /// The user's exclusions cover every store; nothing was changed.
    case everyStoreLeftOut(FilePath, store: String)
    /// A backup failed; nothing was added to the remote folder.
    case backupFailed(any Error)
    /// The remote folder is the stores directory, or inside it.
    case remoteInsideStores(String, FilePath)
    /// A directory of the program is the stores directory, or inside it; `variable` names its place.
    case ownDirectoryInsideStores(FilePath, FilePath, variable: String)
    /// The archive would not fit in the place where it is made; nothing was changed.
    case noSpace(FilePath, needed: Int64, available: Int64)
    /// The backup would not be encrypted, and the one before it is.
    case wouldBePlain(String)
    /// The policy would keep nothing.
    case keepsNothing(String)

    public var outcome: FailureOutcome {
        switch self {
        case .keepsNothing, .wouldBePlain: .usage
        case .noSpace: .noSpace
        // It was not done after all.
        case .backupFailed(RemoteError.notSynced(_, _, let error)): FailureOutcome(of: error)
        case .backupFailed(let cause): FailureOutcome(of: cause)
        case .noStores, .nothingToBackUp, .everyStoreLeftOut, .remoteInsideStores,
            .ownDirectoryInsideStores:
            .failed
        }
    }

    public var description: String {
        switch self {
        case .noStores(let path): "there is no stores directory '\(printable(path))'"
        case .nothingToBackUp(let path):
            "there is nothing to back up: '\(printable(path))' is empty"
        case .everyStoreLeftOut(let path, let store):
            "every store in '\(printable(path))' would be left out, such as '\(store)': such a backup could not be restored"
        case .backupFailed(let error): "backup failed, nothing was changed: \(explain(error))"
        case .remoteInsideStores(let address, let stores):
            "the remote folder '\(address)' is inside the stores directory '\(printable(stores))'"
        case .ownDirectoryInsideStores(let path, let stores, _):
            "the program's own directory '\(printable(path))' is inside the stores directory '\(printable(stores))': backups would contain it, and a restore would replace it"
        case .noSpace(let path, let needed, let available):
            "no space for the archive at '\(printable(path))': about \(byteCount(needed)) are needed and \(byteCount(available)) are free"
        case .wouldBePlain(let last):
            "nothing was backed up: '\(last)' is encrypted, and this backup would not be, since 'recipients' is not set"
        case .keepsNothing(let reason): "nothing was removed: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .noStores, .nothingToBackUp:
            "is it the right directory? name another with '--stores DIR'"
        case .everyStoreLeftOut:
            "include the stores again with \(Advice.quoted("--exclude '!PATTERN'")), and see 'grocerydude config show'"
        case .backupFailed(let cause): Advice.after(cause)
        case .remoteInsideStores:
            "backups there would be lost with the stores: name another folder with '--remote'"
        case .ownDirectoryInsideStores(_, _, let variable):
            "set '\(variable)' to a directory elsewhere, or name another stores directory with '--stores'"
        case .noSpace:
            "free some space there, or with rclone: '--set staging=DIR' on another disk, or '--set spool=false'"
        case .keepsNothing:
            "say what to keep, for example '--keep-daily 7 --keep-weekly 5'"
        case .wouldBePlain:
            "set 'recipients' as it was; a key is named with '--recipient age1…', and 'recipients: none' leaves the backups plain"
        }
    }
}
