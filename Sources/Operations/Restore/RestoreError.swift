internal import Backups
public import Files
public import SystemPackage

/// Why a restore, or the recovery of one, failed, and the state in which it left things.
public enum RestoreError: ExplainedError {
    // The stores are as they were.

    /// A restore failed before the exchange, or was undone; the stores are as they were.
    case restoreFailed(any Error)
    /// The data that a restore would replace could not be backed up first; it is as it was.
    case safetyBackupFailed(any Error)
    /// The data that was restored was not good; the stores are as they were, and it is kept.
    case rolledBack(any Error, refused: FilePath)
    /// Applications have a store open; nothing was changed.
    case storesInUse(store: String, by: [LockHolder])
    /// Unpacking needs more space than there is; nothing was changed.
    case tooLarge(FilePath, needed: Int64, available: Int64)
    /// Something is mounted in the stores directory, which a restore can neither replace nor remove;
    /// nothing was changed.
    case mountInside(FilePath)
    /// The directory to extract to has something in it; nothing was changed.
    case targetNotEmpty(FilePath)
    /// A name that a restore needs is taken by something that is not its own; nothing was changed.
    case inTheWay(Leftover)
    /// There are stores now, and none is in the archive.
    case noStores(backup: String, FilePath)
    /// Directories are to be taken off the names of an archive whose manifest has these names.
    case notStripped(backup: String)
    /// What the backup left out is to stay, and cannot be moved; nothing was changed.
    case cannotKeep(FilePath, reason: String)
    /// The user did not want what the restore would do; nothing was changed.
    case declined
    /// Stores that were restored and checked are not where they were put; why a restore is undone.
    case storesLost(FilePath, found: Int, expected: Int)

    // The stores are to be put right.

    /// A restore failed and the stores could not be put back: they are in `old`, the others in `new`.
    case rollbackFailed(any Error, old: FilePath, new: FilePath)
    /// The interrupted restore of a restore journal cannot be finished or undone; all stays as it is.
    case cannotRecover(FilePath, reason: String)
    /// A newer version of the program wrote a restore journal; all stays as it is.
    case newerJournal(FilePath)
    /// Whether the stores are good that an interrupted restore put in place cannot be told; all stays as
    /// it is.
    case unsettled(backup: String, FilePath, any Error)
    /// Stores that an interrupted restore put in place have to go, and are in use; all stays as it is.
    case refusedInUse(backup: String, FilePath, refusal: (any Error)?, use: any Error)

    /// Returns an error that says the state after a restore which left the stores as they were.
    static func saying(_ error: any Error) -> any Error {
        switch error {
        case rolledBack, rollbackFailed, storesInUse, tooLarge, inTheWay, restoreFailed,
            targetNotEmpty, declined, OperationError.remoteInsideStores, is CancellationError:
            error
        default: restoreFailed(error)
        }
    }

    public var description: String {
        switch self {
        case .restoreFailed(let error): "restore failed, your data is as it was: \(explain(error))"
        case .safetyBackupFailed(let error):
            "the data that would be replaced cannot be backed up first: \(explain(error))"
        case .rolledBack(let error, let refused):
            "restore failed, your data is as it was: \(explain(error)); the refused data is in '\(printable(refused))'"
        case .rollbackFailed(let error, let old, let new):
            "restore failed and could not be rolled back: \(explain(error)); "
                + "your data is in '\(printable(old))', the backup's in '\(printable(new))'"
        case .storesInUse(let store, let holders):
            "the store '\(store)' is in use by \(holders.map(\.description).joined(separator: ", "))"
        case .tooLarge(let path, let needed, let available):
            "no space at '\(printable(path))': \(byteCount(needed)) are needed and \(byteCount(available)) are free"
        case .mountInside(let path):
            "something is mounted at '\(printable(path))', in the stores directory"
        case .targetNotEmpty(let path): "'\(printable(path))' is there already and not empty"
        case .inTheWay(let leftover):
            "'\(printable(leftover.path))' is in the way, and is not from an interrupted restore (\(leftover))"
        case .noStores(let backup, let live):
            "no store is in '\(BackupName.display(backup))', and it would replace the stores in '\(printable(live))'"
        case .notStripped(let backup):
            "'\(BackupName.display(backup))' has a manifest, which says where everything belongs"
        case .cannotKeep(let path, let reason):
            "the backup left '\(printable(path))' out, which is to stay and cannot: \(reason)"
        case .declined: "nothing was changed"
        case .storesLost(let path, let found, let expected):
            "\(counted(expected, "store was", "stores were")) restored, and \(found) \(found == 1 ? "is" : "are") in '\(printable(path))'"
        case .cannotRecover(let path, let reason):
            "the interrupted restore of which '\(printable(path))' tells can be neither finished nor undone: \(reason)"
        case .newerJournal(let path):
            "the interrupted restore of which '\(printable(path))' tells was begun by a newer version of the program"
        case .unsettled(let backup, let path, let error):
            "the restore of '\(BackupName.display(backup))' was interrupted, and can for now be neither finished nor undone in '\(printable(path))': \(explain(error)); all stays as it is"
        case .refusedInUse(let backup, let path, let refusal, let use):
            "the restore of '\(BackupName.display(backup))' was interrupted, and what it put in '\(printable(path))' has to go\(refusal.map { ", since \(explain($0))" } ?? ""), but \(explain(use)); all stays as it is"
        }
    }

    public var hint: String? {
        switch self {
        case .restoreFailed(let error), .rolledBack(let error, _):
            (error as? any ExplainedError)?.hint ?? "choose another backup"
        case .safetyBackupFailed: "restore without that backup"
        case .rollbackFailed:
            "move the directory that you want to its place by hand; nothing was deleted"
        case .storesInUse: "close it and try again"
        case .tooLarge(let path, _, _): "free some space where '\(printable(path))' is"
        case .mountInside(let path):
            "unmount it: umount '\(printable(path))'; or restore elsewhere"
        case .targetNotEmpty: "name a directory that is not there yet"
        case .inTheWay(let leftover):
            "move it away: mv '\(printable(leftover.path))' '\(printable(leftover.path)).mine'"
        case .noStores: "look at what is in it"
        case .cannotKeep: "let its owner change the directories, or move it away for a while"
        case .notStripped, .declined: nil
        case .storesLost:
            "its file system loses what is renamed: keep the stores on a disk of this machine"
        case .cannotRecover(let path, _):
            "nothing was deleted: look at the directories there, put the one that you want in its place, and then: mv '\(printable(path))' '\(printable(path)).old'"
        case .newerJournal: "install a newer version"
        case .unsettled(_, _, let error):
            ((error as? any ExplainedError)?.hint ?? "put that right")
                + "; any next command then settles it"
        case .refusedInUse:
            "close it; any next command then puts back what was there before"
        }
    }
}
