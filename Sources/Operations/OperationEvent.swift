public import Backups
public import Files
public import Remotes

/// An event that an operation tells while it runs.
public enum OperationEvent: Sendable {
    /// The stages of work that takes long.
    public enum Stage: String, Sendable {
        case reading, uploading, fetching, extracting, checking, verifying, encrypting
    }

    /// A stage begins; the bytes that it will go through, if they are known.
    case began(Stage, total: Int64?)
    /// Bytes that were gone through since the last time.
    case advanced(Int64)
    /// Something worth knowing that is no problem.
    case note(String)
    /// A step that only those want to know of who ask for every one.
    case detail(String)
    /// A failure beside the work, which does not change its result.
    case warning(String)
    /// A failure that makes the result partial.
    case problem(Problem)
    /// A line of output, and the moment of the user's command that wrote it.
    case said(by: String, String)
    /// Waiting for another run.
    case waiting(for: LockHolder?)
    /// Waiting for a remote that has said nothing for so long.
    case waitingForRemote(String, since: Duration)

    /// The event that one in the talk with a remote is to an operation.
    public init(_ event: RemoteEvent) {
        self =
            switch event {
            case .began(.upload, let total): .began(.uploading, total: total)
            case .began(.download, let total): .began(.fetching, total: total)
            case .advanced(let bytes): .advanced(bytes)
            case .waiting(let address, let duration): .waitingForRemote(address, since: duration)
            }
    }
}
