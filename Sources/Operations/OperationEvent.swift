public import Backups
public import Files
internal import SystemPackage

/// What an operation tells while it runs.
public enum OperationEvent: Sendable {
    /// The stages of work that takes long.
    public enum Stage: String, Sendable {
        case reading, uploading, fetching, extracting, checking, verifying
    }

    /// A stage begins, with the bytes it will go through where that is known.
    case began(Stage, total: Int64?)
    /// Bytes that were gone through since the last time.
    case advanced(Int64)
    /// Something worth knowing that is no problem.
    case note(String)
    /// Something that went wrong beside the work, and does not change its result.
    case warning(String)
    /// Something that makes the result partial.
    case problem(Problem)
    /// A line that a command of the user's wrote, and the moment that it runs at.
    case said(by: String, String)
    /// Waiting for another run.
    case waiting(for: LockHolder?)

    /// What a restore replaced could not be removed, and is kept where it is in nobody's way.
    static func leftover(_ path: FilePath) -> OperationEvent {
        .note("what was replaced could not be removed: it is in '\(printable(path))'")
    }
}
