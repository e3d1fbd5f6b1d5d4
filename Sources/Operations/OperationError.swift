public import Files
public import SystemPackage

/// Why an operation failed, and the state in which it left things.
public enum OperationError: ExplainedError {
    /// There is no stores directory.
    case noStores(FilePath)
    /// The stores directory is empty.
    case nothingToBackUp(FilePath)
    /// No backup has that name.
    case noBackup(String, address: String)
    /// There is no backup at all.
    case noBackups(String)
    /// Several backups have that in their names.
    case ambiguous(String, matches: [String])
    /// A backup failed; nothing was added to the remote folder.
    case backupFailed(any Error)
    /// A restore failed before or after the exchange; the stores are as they were.
    case restoreFailed(any Error)
    /// What a restore would replace could not be backed up first.
    case safetyBackupFailed(any Error)
    /// The stores that were restored did not reopen; the old ones are back, the others kept.
    case rolledBack(any Error, refused: FilePath)
    /// A restore failed and what was there could not be put back.
    case rollbackFailed(any Error, old: FilePath, new: FilePath)
    /// Applications have a store open.
    case storesInUse(store: String, by: [LockHolder])
    /// An archive says things that cannot be true of it.
    case badManifest(String, reason: String)
    /// An archive without a manifest would unpack to more than a limit.
    case beyondLimit(String, reason: String, RestoreLimits.Kind)
    /// An archive's format is newer than this program.
    case newerFormat(String, format: Int)
    /// What is to be unpacked needs more space than there is.
    case tooLarge(FilePath, needed: Int64, available: Int64)
    /// The remote folder is the stores directory, or in it.
    case remoteInsideStores(String, FilePath)
    /// Something is mounted in the stores directory, which a restore can neither replace nor remove.
    case mountInside(FilePath)
    /// The directory to extract to has something in it.
    case targetNotEmpty(FilePath)
    /// A name that a restore needs is taken by something that is not its own.
    case inTheWay(FilePath)
    /// Stores that were restored and checked are not where they were put.
    case storesLost(FilePath, found: Int, expected: Int)
    /// A file with tags, notes and pins cannot be read.
    case badAnnotations(String, file: String)
    /// The policy would keep nothing.
    case keepsNothing(String)
    /// A name is taken by another backup.
    case nameTaken(String, address: String)
    /// No backup of that name was deleted lately.
    case notInTrash(String, address: String)
    /// A backup that is pinned is removed only once it is not.
    case pinned(String)
    /// An interrupted restore, of which a journal tells, cannot be finished or undone.
    case cannotRecover(FilePath, reason: String)
    /// A newer version of the program wrote the journal of an interrupted restore.
    case newerJournal(FilePath)
    /// A restore was interrupted when its stores were in place; whether they are good cannot be told, and
    /// all stays as it is.
    case unsettled(backup: String, FilePath, any Error)
    /// Stores that an interrupted restore put in place have to go, and cannot, since they are in use.
    case refusedInUse(backup: String, FilePath, refusal: (any Error)?, use: any Error)

    public var description: String {
        switch self {
        case .noStores(let path): "there is no stores directory '\(printable(path))'"
        case .nothingToBackUp(let path):
            "there is nothing to back up: '\(printable(path))' is empty"
        case .noBackup(let name, let address): "there is no backup named '\(name)' in '\(address)'"
        case .noBackups(let address): "there is no backup in '\(address)'"
        case .ambiguous(let name, let matches):
            "'\(name)' is in the names of \(matches.count) backups: \(matches.prefix(5).joined(separator: ", "))"
        case .backupFailed(let error): "backup failed, nothing was changed: \(explain(error))"
        case .restoreFailed(let error): "restore failed, your data is as it was: \(explain(error))"
        case .safetyBackupFailed(let error):
            "what would be replaced cannot be backed up first: \(explain(error))"
        case .rolledBack(let error, let refused):
            "restore failed, your data is as it was: \(explain(error)); what was refused is in '\(printable(refused))'"
        case .rollbackFailed(let error, let old, let new):
            "restore failed and could not be rolled back: \(explain(error)); "
                + "your data is in '\(printable(old))', the backup's in '\(printable(new))'"
        case .storesInUse(let store, let holders):
            "the store '\(store)' is in use by \(holders.map(\.description).joined(separator: ", "))"
        case .badManifest(let name, let reason): "the manifest of '\(name)' is damaged: \(reason)"
        case .beyondLimit(let name, let reason, _): "'\(name)' is refused: \(reason)"
        case .newerFormat(let name, let format):
            "'\(name)' has archive format \(format), which is newer than this program"
        case .tooLarge(let path, let needed, let available):
            "no space at '\(printable(path))': \(byteCount(needed)) are needed and \(byteCount(available)) are free"
        case .remoteInsideStores(let address, let stores):
            "the remote folder '\(address)' is inside the stores directory '\(printable(stores))'"
        case .mountInside(let path):
            "something is mounted at '\(printable(path))', in the stores directory"
        case .targetNotEmpty(let path): "'\(printable(path))' is there already and not empty"
        case .inTheWay(let path):
            "'\(printable(path))' is in the way, and is not from an interrupted restore"
        case .storesLost(let path, let found, let expected):
            "\(counted(expected, "store was", "stores were")) restored, and \(found) \(found == 1 ? "is" : "are") in '\(printable(path))'"
        case .badAnnotations(let address, let file):
            "the tags, notes and pins of '\(address)' cannot be read: '\(file)' is damaged"
        case .keepsNothing(let reason): "nothing was removed: \(reason)"
        case .nameTaken(let name, let address):
            "'\(name)' cannot come back: there is another backup of that name in '\(address)'"
        case .notInTrash(let name, let address):
            "there is no deleted backup named '\(name)' in '\(address)'"
        case .pinned(let name): "'\(name)' is pinned, and was not removed"
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
        case .noStores: "run 'grocerydude init' to make one, or name yours with '--stores DIR'"
        case .nothingToBackUp: "is it the right directory? name another with '--stores DIR'"
        case .noBackup: "run 'grocerydude list' to see what there is"
        case .noBackups: "run 'grocerydude backup' to make one"
        case .ambiguous: "give more of the name, or 'latest'"
        case .backupFailed(let error): (error as? any ExplainedError)?.hint
        case .restoreFailed(let error), .rolledBack(let error, _):
            (error as? any ExplainedError)?.hint
                ?? "run 'grocerydude list' to choose another backup"
        case .safetyBackupFailed: "restore without that backup: add '--no-safety-backup'"
        case .rollbackFailed:
            "move the directory that you want to its place by hand; nothing was deleted"
        case .storesInUse: "close it and try again, or go on at your own risk with '--force'"
        case .badManifest:
            "restore another backup; 'unzip' may still get single files out of this one"
        case .beyondLimit(_, _, let limit):
            "this archive may be hostile; if you know where it is from, raise the limit with '--max-\(limit)'"
        case .newerFormat, .newerJournal: "install a newer grocerydude"
        case .tooLarge(let path, _, _): "free some space where '\(printable(path))' is"
        case .remoteInsideStores:
            "backups there would be lost with what they save: name another folder with '--remote'"
        case .mountInside(let path):
            "unmount it: umount '\(printable(path))'; or restore elsewhere with '--target'"
        case .targetNotEmpty: "name a directory that is not there yet"
        case .inTheWay(let path): "move it away: mv '\(printable(path))' '\(printable(path)).mine'"
        case .storesLost:
            "its file system loses what is renamed: keep the stores on a disk of this machine"
        case .badAnnotations(let address, _):
            "restore it, or if no pin in it matters, remove it: see '\(address)/\(Annotations.subfolder)'"
        case .keepsNothing:
            "say what to keep, for example '--keep-daily 7 --keep-weekly 5', or '--unsafe-allow-remove-all'"
        case .nameTaken: "rename that one first"
        case .notInTrash: "run 'grocerydude list --trash' to see what there is"
        case .pinned(let name): "run 'grocerydude unpin '\(name)'' first"
        case .cannotRecover(let path, _):
            "nothing was deleted: look at the directories there, put the one that you want in its place, and then: mv '\(printable(path))' '\(printable(path)).old'"
        case .unsettled(_, _, let error):
            ((error as? any ExplainedError)?.hint ?? "put that right")
                + "; any next command then settles it, 'grocerydude list' too"
        case .refusedInUse:
            "close it; any next command then puts back what was there before, 'grocerydude list' too"
        }
    }
}

/// An error of any module as one line.
public func explain(_ error: any Error) -> String {
    switch error {
    case let error as any ExplainedError: error.description
    case is CancellationError: "interrupted"
    default: "\(error)"
    }
}

/// Bytes as people read them: decimal units, `12.34 MB`.
public func byteCount(_ count: Int64) -> String {
    var value = Double(count)
    guard value >= 1000 else { return "\(count) bytes" }
    var unit = ""
    // What would be rounded up to 1000 belongs to the next unit.
    for next in ["kB", "MB", "GB", "TB", "PB"] where unit.isEmpty || value >= 999.995 {
        value /= 1000
        unit = next
    }
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(Timestamp.pad(hundredths % 100, 2)) \(unit)"
}

/// A number of things, in English.
public func counted(_ number: Int, _ singular: String, _ plural: String) -> String {
    "\(number) \(number == 1 ? singular : plural)"
}
