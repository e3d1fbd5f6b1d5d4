internal import Age
internal import Archives
internal import Backups
public import Files
internal import Foundation
internal import Remotes
internal import Stores
public import SystemPackage

/// An error of a restore, or of the recovery of one; it says in which state the data is.
public enum RestoreError: ExplainedError {
    // The stores are as they were.

    /// A restore failed before the exchange, or was undone; the stores are as they were.
    case restoreFailed(any Error)
    /// The data that a restore would replace could not be backed up first; it is as it was.
    case safetyBackupFailed(any Error)
    /// The restored data was not good. The stores are as they were, and the refused data is kept.
    case rolledBack(any Error, refused: FilePath)
    /// Applications have a store open; nothing was changed.
    case storesInUse(store: String, by: [LockHolder])
    /// Something was written in the stores directory since its data was backed up; nothing was changed.
    case changed(FilePath)
    /// A process sees something in the stores directory even after it is renamed; nothing was changed.
    case held(FilePath, by: DirectoryHolder)
    /// Unpacking needs more space than there is; nothing was changed.
    case tooLarge(FilePath, needed: Int64, available: Int64)
    /// A file system is mounted in the stores directory. A restore can neither replace nor remove it; nothing was
    /// changed.
    case mountInside(FilePath)
    /// The directory to extract to is not empty; nothing was changed.
    case targetNotEmpty(FilePath)
    /// A name that a restore needs is in use by other data; nothing was changed.
    case inTheWay(Leftover)
    /// There are stores now, but none in the archive.
    case noStores(backup: String, FilePath)
    /// The user asked to strip directories from the names of an archive whose manifest has these names.
    case notStripped(backup: String)
    /// Data that the backup excluded has to stay, but cannot be moved; nothing was changed.
    case cannotKeep(FilePath, reason: String)
    /// The user declined the restore; nothing was changed.
    case declined
    /// Stores that were restored and checked are missing from their place; the reason why a restore is undone.
    case storesLost(FilePath, found: Int, expected: Int)

    // The user has to put the stores right.

    /// A restore failed, and the stores could not be put back: they are in `old`, the restored ones in `new`.
    case rollbackFailed(any Error, old: FilePath, new: FilePath)
    /// The interrupted restore of a restore journal cannot be finished or undone; everything stays as it is.
    case cannotRecover(FilePath, reason: String)
    /// A newer version of the program wrote a restore journal; everything stays as it is.
    case newerJournal(FilePath)
    /// It cannot be determined whether the stores that an interrupted restore put in place are good; everything stays
    /// as it is.
    case unsettled(backup: String, FilePath, any Error)
    /// Stores that an interrupted restore put in place must be removed, but are in use; everything stays as it is.
    case refusedInUse(backup: String, FilePath, refusal: (any Error)?, use: any Error)

    /// Returns an error that reports the state after a restore which left the stores as they were.
    static func saying(_ error: any Error) -> any Error {
        switch error {
        case rolledBack, rollbackFailed, storesInUse, changed, held, tooLarge, inTheWay,
            restoreFailed,
            targetNotEmpty, declined, OperationError.remoteInsideStores,
            OperationError.ownDirectoryInsideStores, is CancellationError:
            error
        default: restoreFailed(error)
        }
    }

    /// Returns the error of a restore whose backup could not be opened, or has not what was named.
    static func reading(_ error: any Error) -> any Error {
        switch error {
        case LookingError.damaged(let error): restoreFailed(error)
        case is LookingError, is RemoteError, is CancellationError: error
        default: saying(error)
        }
    }

    public var outcome: FailureOutcome {
        switch self {
        case .storesInUse, .changed, .held: .inUse
        case .tooLarge: .noSpace
        case .rollbackFailed, .cannotRecover, .newerJournal: .rollbackFailed
        case .refusedInUse(_, _, _, let error), .unsettled(_, _, let error):
            Self.unsettled(by: error)
        case .rolledBack, .inTheWay, .noStores, .notStripped, .cannotKeep: .restoreFailed
        // It was not done after all.
        case .safetyBackupFailed(RemoteError.notSynced(_, _, let error)): FailureOutcome(of: error)
        case .safetyBackupFailed(let cause): FailureOutcome(of: cause)
        case .restoreFailed(let cause): Self.restoreFailed(by: cause)
        case .targetNotEmpty, .mountInside, .storesLost, .declined: .failed
        }
    }

    /// Space, locks, passwords and encrypted parts that differ from those written have outcomes of their own.
    private static func restoreFailed(by cause: any Error) -> FailureOutcome {
        let outcome = FailureOutcome(of: cause)
        let isKnown = [.noSpace, .locked, .password, .inUse].contains(outcome) || cause is AgeError
        return isKnown ? outcome : .restoreFailed
    }

    /// Returns the outcome of an error that keeps an interrupted restore from being finished or undone.
    private static func unsettled(by error: any Error) -> FailureOutcome {
        if case StoreError.neverStill = error { return .inUse }
        let outcome = FailureOutcome(of: error)
        return [.inUse, .noSpace].contains(outcome) ? outcome : .rollbackFailed
    }

    public var description: String {
        switch self {
        case .restoreFailed(let error): "restore failed, your data is as it was: \(explain(error))"
        case .safetyBackupFailed(let error):
            "the present data cannot be backed up before it is replaced: \(explain(error))"
        case .rolledBack(let error, let refused):
            "restore failed, your data is as it was: \(explain(error)); the refused data is in '\(printable(refused))'"
        case .rollbackFailed(let error, let old, let new):
            "restore failed and could not be rolled back: \(explain(error)); "
                + "your data is in '\(printable(old))', the backup's in '\(printable(new))'"
        case .storesInUse(let store, let holders):
            "the store '\(store)' is in use by \(holders.map(\.description).joined(separator: ", "))"
        case .changed(let path):
            "'\(printable(path))' was changed while the present data was backed up"
        case .held(let path, let holder):
            "'\(printable(path))' would be replaced, but \(holder), and would keep the old data"
        case .tooLarge(let path, let needed, let available):
            "no space at '\(printable(path))': \(byteCount(needed)) are needed and \(byteCount(available)) are free"
        case .mountInside(let path):
            "something is mounted at '\(printable(path))', in the stores directory"
        case .targetNotEmpty(let path): "'\(printable(path))' is there, and is no empty directory"
        case .inTheWay(let leftover):
            "'\(printable(leftover.path))' is in the way, and is not from an interrupted restore (\(leftover))"
        case .noStores(let backup, let live):
            "'\(BackupName.display(backup))' has no store, and would replace the stores in '\(printable(live))'"
        case .notStripped(let backup):
            "'\(BackupName.display(backup))' has a manifest, which says where everything belongs"
        case .cannotKeep(let path, let reason):
            "the backup left out '\(printable(path))', which cannot be kept in place: \(reason)"
        case .declined: "nothing was changed"
        case .storesLost(let path, let found, let expected):
            "\(counted(expected, "store was", "stores were")) restored, and \(found) \(found == 1 ? "is" : "are") in '\(printable(path))'"
        case .cannotRecover(let path, let reason):
            "the interrupted restore in '\(printable(path))' can be neither finished nor undone: \(reason)"
        case .newerJournal(let path):
            "the interrupted restore in '\(printable(path))' was begun by a newer version of the program"
        case .unsettled(let backup, let path, let error):
            "the interrupted restore of '\(BackupName.display(backup))' in '\(printable(path))' can be neither finished nor undone for now: \(explain(error)); nothing was changed"
        case .refusedInUse(let backup, let path, let refusal, let use):
            "the interrupted restore of '\(BackupName.display(backup))' in '\(printable(path))' has to be undone\(refusal.map { ", since \(explain($0))" } ?? ""), but \(explain(use)); nothing was changed"
        }
    }

    public var hint: String? {
        switch self {
        case .restoreFailed(StoreError.damaged), .rolledBack(StoreError.damaged, _):
            "restore an older backup, or this one with '--allow-damaged' and repair it: https://www.sqlite.org/recovery.html"
        case .restoreFailed(let error), .rolledBack(let error, _):
            Advice.after(error) ?? "\(Advice.list) to choose another backup"
        case .safetyBackupFailed(let error as NotSaved): error.hint
        case .safetyBackupFailed(let error):
            [
                Advice.after(error),
                "restore without it, which cannot be undone: add '--no-safety-backup'",
            ].compactMap(\.self).joined(separator: "; or ")
        case .rollbackFailed:
            "move the directory that you want to its place by hand; nothing was deleted"
        case .storesInUse:
            "close it and try again, or go on at your own risk with '--force'"
        case .changed: "stop the application and anything else that writes there, and try again"
        case .held: "end it, or have it leave the directory, and try again; or go on with '--force'"
        case .tooLarge(let path, _, _): "free some space where '\(printable(path))' is"
        case .mountInside(let path):
            "unmount it: umount \(shellWord(path)); or restore elsewhere with '--target'"
        case .targetNotEmpty: "name a directory that is not there yet"
        case .inTheWay(let leftover):
            "rename it with '--set restore.set_aside_leftovers=true', or move it away: \(moveAway(leftover.path))"
        case .noStores: "if that is what you want, add '--allow-no-stores'"
        case .cannotKeep:
            "give its owner write permission for the directories, or move it away for a while"
        case .notStripped: "leave out the setting 'restore.strip_components'"
        case .declined: nil
        case .storesLost:
            "its file system loses what is renamed: keep the stores on a disk of this machine"
        case .cannotRecover(let path, _):
            "nothing was deleted: look at the directories there, put the one that you want in its place, and then: \(moveAway(path))"
        case .newerJournal: "install a newer version"
        case .unsettled(_, _, let error):
            "\(Advice.after(error) ?? "fix that"), then run any command, such as 'grocerydude list', to finish"
        case .refusedInUse:
            "close it, then run any command, such as 'grocerydude list', to put back the data from before"
        }
    }
}

/// An error for a file that the safety backup lacks and the restore would destroy.
struct NotSaved: ExplainedError {
    let problem: Problem
    let count: Int

    init?(_ problems: [Problem]) {
        let lost = problems.filter { $0.kind == .unreadable }
        guard let first = lost.first else { return nil }
        (problem, count) = (first, lost.count)
    }

    var description: String {
        "\(problem)" + (count > 1 ? ", and \(count - 1) more" : "")
    }

    var hint: String? {
        "make it readable, or move it away and try again; with '--no-safety-backup' it would be lost"
    }
}
