public import Backups
public import Files
public import Remotes

/// An event that an operation reports while it runs.
public enum OperationEvent: Sendable {
    /// The stages of long work.
    public enum Stage: String, Sendable, Codable {
        case reading, uploading, fetching, extracting, checking, verifying, encrypting
    }

    /// A stage begins; the payload is its size in bytes, if known.
    case began(Stage, total: Int64?)
    /// The number of bytes processed since the last event.
    case advanced(Int64)
    /// Something worth knowing that is no problem.
    case note(String)
    /// A step that only verbose output reports.
    case detail(String)
    /// A failure that does not change the result.
    case warning(String)
    /// A failure that makes the result partial.
    case problem(Problem)
    /// A line of output of one of the user's commands, and the event for which the command runs.
    case said(by: String, String)
    /// The operation waits for another run.
    case waiting(for: LockHolder?)
    /// The operation waits for a remote that has not answered for some time.
    case waitingForRemote(String, since: Duration)

    /// Converts an event of the communication with a remote.
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
