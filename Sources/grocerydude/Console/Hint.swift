internal import Age
internal import Archives
internal import Backups
internal import Files
internal import Operations
internal import Remotes
internal import Sample
internal import Stores
internal import Sync
internal import SystemPackage

/// Advice on what to do next, with the commands and options of this program.
///
/// It is the one place that knows them for errors of the operations: their own hints are in words.
enum Hint {
    private static let list = "run 'grocerydude list'"

    /// Returns the advice after an error, or `nil` if there is no good advice.
    static func after(_ error: any Error) -> String? {
        switch error {
        case OperationError.backupFailed(let cause): after(cause)
        case let error as OperationError: after(error)
        case let error as RestoreError: after(error)
        case let error as BackupFolderError: after(error)
        case let error as SampleError: after(error)
        case let error as MovingError: after(error)
        case let error as LookingError: after(error)
        case let error as SyncError: after(error)
        case let error as SyncDecision: after(error)
        case let error as SidecarError: after(error)
        case let error as SyncRefusal: after(error)
        case let error as LinkError: error.cause.flatMap(after) ?? error.hint
        case ArchivedBackupError.beyondLimit(_, _, let limit):
            error.inWords.map { "\($0) with '--max-\(limit)'" }
        case ArchiveError.notAnArchive, ArchiveError.damaged, ArchiveError.damagedEntry:
            error.inWords.map { "\(list) and \($0)" }
        case AgeError.noMatch:
            "name the file of the secret key with '--identity', or see 'grocerydude key check --all'"
        case AgeError.otherReaders: "name all who are to read it with '--recipient'"
        case AgeError.needsPassphrase, AgeError.wrongPassphrase:
            "run it on a terminal, or set GROCERYDUDE_PASSWORD or 'password_command'"
        case AgeError.forgedHeader, AgeError.wrongEnd, AgeError.damaged, AgeError.badHeader,
            AgeError.notEncrypted:
            "\(list) and try an older backup; a copy in another place may be whole"
        case QueryError.tookTooLong: error.inWords.map { "\($0) with '--timeout'" }
        case StoreError.damaged:
            "restore an older backup, or this one with '--allow-damaged' and repair it: https://www.sqlite.org/recovery.html"
        case FileError.failed(.move, _, .resourceBusy), FileError.failed(.move, _, .improperLink):
            "unpack with 'grocerydude restore NAME --target DIR', and put it in place by hand"
        case RowReturnError.conflict:
            "choose with '--on-conflict skip' that it stays, or with '--on-conflict replace' that it does not"
        case RowReturnError.missingParents(_, let tables):
            "bring those back first: '--rows \(tables.first ?? "TABLE")'"
        case RowReturnError.needsApplication(_, let store, _),
            RowReturnError.otherModel(_, let store, _):
            "bring all of it back: 'grocerydude restore NAME --only '\(store)''"
        case RowReturnError.unknownRival:
            "delete that row first, or choose with '--on-conflict skip' that it stays"
        case ReturnRowsError.storeIsGone(let store, _):
            "bring all of it back: 'grocerydude restore NAME --only '\(store)''"
        case PartError.everything: "leave out '--only' to restore all of it"
        case PartError.unmovable:
            "get it elsewhere with 'grocerydude extract', and put it in place by hand"
        case PartError.obstructed, PartError.partOfStore, PartError.shared, PartError.tooMany:
            error.inWords.map { "\($0) with '--only'" }
        case FileError.locked: "wait for it with '--lock-wait 60s'"
        case RemoteError.notAFolder: "name a directory with '--remote'"
        case CopyStoresError.inside: error.inWords.map { "\($0) with '--stores'" }
        case RemoteError.noFile: "\(list) to see what is there"
        case RemoteError.notSynced:
            "see what the disk has with 'grocerydude list'; for its errors run 'dmesg'"
        default: error.inWords
        }
    }

    /// Returns the advice on a problem that did not end its operation.
    static func after(_ problem: Problem) -> String? {
        guard problem.kind == .anomaly else { return nil }
        return "if that is right, run 'grocerydude backup --accept-changes'"
    }

    private static func after(_ error: OperationError) -> String? {
        switch error {
        case .noStores: "run 'grocerydude init' to make one, or name yours with '--stores DIR'"
        case .nothingToBackUp: "is it the right directory? name another with '--stores DIR'"
        case .remoteInsideStores: error.inWords.map { "\($0) with '--remote'" }
        case .everyStoreLeftOut:
            "take the stores in again with '--exclude '!PATTERN'', and see 'grocerydude config show'"
        case .noSpace:
            "free some space there, or with rclone: '--staging DIR' on another disk, or '--no-spool'"
        case .keepsNothing:
            "say what to keep, for example '--keep-daily 7 --keep-weekly 5', or '--unsafe-allow-remove-all'"
        case .backupFailed: error.inWords
        }
    }

    private static func after(_ error: RestoreError) -> String? {
        switch error {
        case .restoreFailed(let cause), .rolledBack(let cause, _):
            after(cause) ?? "\(list) to choose another backup"
        case .safetyBackupFailed: "restore without that backup: add '--no-safety-backup'"
        case .storesInUse: "close it and try again, or go on at your own risk with '--force'"
        case .inTheWay(let leftover):
            "have it renamed with '--set-aside-leftovers', or move it away: mv '\(printable(leftover.path))' '\(printable(leftover.path)).mine'"
        case .noStores: "if that is what you want, add '--allow-no-stores'"
        case .notStripped: "leave out '--strip-components'"
        case .mountInside: error.inWords.map { "\($0) with '--target'" }
        case .unsettled(_, _, let cause):
            "\(after(cause) ?? "put that right"); any next command then settles it, 'grocerydude list' too"
        case .refusedInUse: error.inWords.map { "\($0), 'grocerydude list' too" }
        case .tooLarge, .targetNotEmpty, .cannotKeep, .declined, .storesLost, .rollbackFailed,
            .cannotRecover,
            .newerJournal:
            error.inWords
        }
    }

    private static func after(_ error: BackupFolderError) -> String? {
        switch error {
        case .noBackup(_, _, .some): error.inWords.map { "\($0) \(list) to see what there is" }
        case .noBackup, .noneUntil: "\(list) to see what there is"
        case .noBackups: "run 'grocerydude backup' to make one"
        case .onlySafetyBackups: "restore the newest of them with 'grocerydude restore --undo'"
        case .nothingToUndo: "\(list) to see what there is"
        case .undoneElsewhere(_, let newest):
            "see them with 'grocerydude list'; if one is meant, name it: grocerydude restore '\(newest)'"
        case .unknownUndo(_, let names):
            "name the one that is meant: grocerydude restore '\(names.first ?? "NAME")'"
        case .notInTrash: "run 'grocerydude list --trash' to see what there is"
        case .pinned(let name): "run 'grocerydude unpin '\(name)'' first"
        case .taken: "add '--same-name number' for the next number, or '--same-name replace'"
        case .notReady: "wait for it with '--wait 10m', or choose another: \(list)"
        case .needed(_, let others):
            "add '--with-dependants' to delete those too, or first make what is to stay whole: "
                + "grocerydude consolidate '\(others.first ?? "NAME")'"
        case .perhapsNeeded(_, let others):
            "name the file of their secret key with '--identity'; if nobody needs them, delete them first: "
                + "grocerydude delete '\(others.first ?? "NAME")'"
        case .missingNeed(_, _, _, _, let whole?):
            "bring that one back, or restore the newest whole one: grocerydude restore '\(whole)'"
        case .missingNeed: "\(list) to choose another"
        case .noSpace: "free some space there, or fetch to another disk with '--staging DIR'"
        case .ambiguous, .badAnnotations, .nameTaken: error.inWords
        }
    }

    private static func after(_ error: MovingError) -> String? {
        switch error {
        case .damaged: "\(list) to choose another, or take it as it is with '--allow-damaged'"
        case .needsTrashed(_, let need): "run 'grocerydude undelete '\(need)'' first"
        case .notImported, .lacksNeed, .sameFolder, .readBackDiffers, .notTried: error.inWords
        }
    }

    private static func after(_ error: LookingError) -> String? {
        switch error {
        case .damaged: "\(list) and try an older backup; a copy in another place may be whole"
        case .notOfRows(.virtual, _, _, _), .notOfRows(.shadow, _, _, _):
            "all of its store comes back with 'grocerydude restore NAME --only STORE'; 'grocerydude sql' asks it"
        case .subentity(_, let root, let number, _):
            "name '\(root)', with '--where' and the condition 'Z_ENT = \(number)'"
        case .severalStores(_, let stores): "name one with '--store '\(stores.first ?? "PATH")''"
        case .noFile(_, _, nil): "see what is there with 'grocerydude show NAME --tree'"
        case .noFile, .notAFile, .noStore, .noStores, .notAStore, .noTable, .noColumn,
            .notOfRows, .badCondition:
            error.inWords
        }
    }

    private static func after(_ error: SampleError) -> String? {
        switch error {
        case .exists: "run 'grocerydude items' to see what is in it"
        case .missing:
            "run 'grocerydude init' to make one, or name another directory with '--stores'"
        case .noItem: "run 'grocerydude items' to see them"
        case .badItems: "'grocerydude items export' writes such a file"
        case .failed: error.inWords
        }
    }
}

extension Error {
    /// The error's own advice, in words.
    fileprivate var inWords: String? { (self as? any ExplainedError)?.hint }
}
