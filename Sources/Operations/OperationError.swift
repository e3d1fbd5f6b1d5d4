public import Files
public import SystemPackage

/// Why an operation failed, and the state in which it left things.
public enum OperationError: ExplainedError {
    /// There is no stores directory.
    case noStores(FilePath)
    /// The stores directory is empty.
    case nothingToBackUp(FilePath)
    /// Every store is left out, as the user said; nothing was changed.
    case everyStoreLeftOut(FilePath, store: String)
    /// A backup failed; nothing was added to the remote folder.
    case backupFailed(any Error)
    /// The remote folder is the stores directory, or in it.
    case remoteInsideStores(String, FilePath)
    /// The archive would not fit where it is made; nothing was changed.
    case noSpace(FilePath, needed: Int64, available: Int64)
    /// The policy would keep nothing.
    case keepsNothing(String)

    public var description: String {
        switch self {
        case .noStores(let path): "there is no stores directory '\(printable(path))'"
        case .nothingToBackUp(let path):
            "there is nothing to back up: '\(printable(path))' is empty"
        case .everyStoreLeftOut(let path, let store):
            "every store in '\(printable(path))' would be left out, such as '\(store)': no restore would take such a backup"
        case .backupFailed(let error): "backup failed, nothing was changed: \(explain(error))"
        case .remoteInsideStores(let address, let stores):
            "the remote folder '\(address)' is inside the stores directory '\(printable(stores))'"
        case .noSpace(let path, let needed, let available):
            "no space for the archive at '\(printable(path))': about \(byteCount(needed)) are needed and \(byteCount(available)) are free"
        case .keepsNothing(let reason): "nothing was removed: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .noStores, .nothingToBackUp: "is it the right directory?"
        case .everyStoreLeftOut: "take the stores in again"
        case .backupFailed(let error): (error as? any ExplainedError)?.hint
        case .remoteInsideStores:
            "backups there would be lost with what they save: name another folder"
        case .noSpace: "free some space there, or have archives made on another disk"
        case .keepsNothing: "say what to keep"
        }
    }
}
