public import Files
internal import GRDB
public import SystemPackage

/// An error with the record of earlier runs.
///
/// The payload has its path.
public enum HistoryError: ExplainedError, Equatable {
    /// SQLite finds the file damaged.
    case damaged(FilePath, reason: String)
    /// Another run holds the file for too long.
    case busy(FilePath)
    /// SQLite cannot open, read or write the file for another reason, such as a full disk.
    case unreadable(FilePath, reason: String, isFull: Bool = false)

    init(_ error: DatabaseError, of path: FilePath) {
        let reason = error.message ?? "\(error.resultCode)"
        switch error.resultCode {
        case .SQLITE_FULL: self = .unreadable(path, reason: reason, isFull: true)
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy(path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: self = .damaged(path, reason: reason)
        // SQLite's parser rejects the schema.
        case .SQLITE_ERROR where reason.contains("malformed"):
            self = .damaged(path, reason: reason)
        default: self = .unreadable(path, reason: reason)
        }
    }

    public var outcome: FailureOutcome {
        switch self {
        case .busy: .locked
        case .unreadable(_, _, isFull: true): .noSpace
        case .damaged, .unreadable: .failed
        }
    }

    public var hint: String? {
        guard case .unreadable(let path, _, isFull: true) = self else { return nil }
        return "free some space where '\(printable(path))' is, and try again"
    }

    public var description: String {
        switch self {
        case .damaged(let path, let reason):
            "'\(printable(path))' is damaged: \(reason)"
        case .busy(let path): "'\(printable(path))' is locked by another run"
        case .unreadable(let path, let reason, _):
            "'\(printable(path))' cannot be used: \(reason)"
        }
    }
}
