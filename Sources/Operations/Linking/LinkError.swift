public import Files

/// Why a folder cannot be used for backups; nothing was left in it.
public enum LinkError: ExplainedError {
    /// rclone's configuration has no such remote.
    case notConfigured(String)
    /// A step of the probe failed; `doing` is "write a file into" or the like.
    case cannot(doing: String, address: String, any Error)
    /// A file came back with other bytes.
    case changed(String)
    /// A file that was written, renamed or deleted is not listed as it should be.
    case listedWrong(String, after: String)

    public var description: String {
        switch self {
        case .notConfigured(let name): "rclone has no remote '\(name)'"
        case .cannot(let doing, let address, let error):
            "cannot \(doing) '\(address)': \(explain(error))"
        case .changed(let address): "a file came back from '\(address)' with other bytes"
        case .listedWrong(let address, let step):
            "'\(address)' does not list what is in it after a file was \(step)"
        }
    }

    public var hint: String? {
        switch self {
        case .notConfigured: "see 'rclone listremotes', and make it with 'rclone config'"
        case .cannot(_, _, let error): (error as? any ExplainedError)?.hint
        case .changed: "something on the way changes files: no backup is safe there"
        case .listedWrong: "if it shows changes late, try again; no backup is safe there otherwise"
        }
    }

    /// The error beneath.
    public var cause: (any Error)? {
        if case .cannot(_, _, let error) = self { error } else { nil }
    }
}
