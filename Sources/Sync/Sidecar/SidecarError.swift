public import Files
internal import GRDB
public import SystemPackage

/// An error with the sidecar of a store; the payload names its file.
public enum SidecarError: ExplainedError, Equatable {
    /// SQLite finds it damaged, or it lacks required data.
    case damaged(FilePath, reason: String)
    /// A newer version of the program created it.
    case tooNew(FilePath, format: Int64)
    /// SQLite cannot open, read or write it.
    case unreadable(FilePath, reason: String)

    /// Its disk is full.
    case noSpace(FilePath)

    init(_ error: DatabaseError, of path: FilePath) {
        if error.extendedResultCode == .SQLITE_IOERR_SHMSIZE {
            // SQLite could not extend the log's index.
            self = .noSpace(path)
            return
        }
        let reason = error.message ?? "\(error.resultCode)"
        switch error.resultCode {
        case .SQLITE_FULL: self = .noSpace(path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: self = .damaged(path, reason: reason)
        default: self = .unreadable(path, reason: reason)
        }
    }

    public var outcome: FailureOutcome {
        switch self {
        case .damaged: .damaged
        case .noSpace: .noSpace
        case .tooNew, .unreadable: .failed
        }
    }

    public var hint: String? {
        switch self {
        case .damaged(let path, _):
            "move '\(printable(path.removingLastComponent()))' away, and take part again with 'grocerydude sync enable'"
        case .tooNew: "update this program"
        case .noSpace(let path): "free some space where '\(printable(path))' is, and try again"
        case .unreadable: nil
        }
    }

    public var description: String {
        switch self {
        case .damaged(let path, let reason):
            "the sync data in '\(printable(path))' is damaged: \(reason)"
        case .tooNew(let path, let format):
            "a newer version of the program wrote '\(printable(path))' (format \(format))"
        case .noSpace(let path):
            "there is no space left for the sync data in '\(printable(path))'"
        case .unreadable(let path, let reason):
            "the sync data in '\(printable(path))' cannot be used: \(reason)"
        }
    }
}
