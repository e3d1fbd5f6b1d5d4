public import Files
public import SystemPackage

/// An error that makes a folder unusable for backups, or a directory as one of stores; nothing was left in it.
public enum LinkError: ExplainedError {
    /// rclone's configuration has no such remote.
    case notConfigured(String)
    /// A step of the probe failed; `doing` is "write a file into" or similar.
    case cannot(doing: String, address: String, any Error)
    /// A file was read back with different bytes.
    case changed(String)
    /// The listing is wrong after a file was written, renamed or deleted.
    case listedWrong(String, after: String)
    /// No file in the directory is a store.
    case noStore(FilePath)

    public var outcome: FailureOutcome {
        switch self {
        case .notConfigured: .notFound
        case .cannot(_, _, let error): FailureOutcome(of: error)
        case .changed, .listedWrong, .noStore: .failed
        }
    }

    public var description: String {
        switch self {
        case .notConfigured(let name): "rclone has no remote '\(name)'"
        case .cannot(let doing, let address, let error):
            "cannot \(doing) '\(address)': \(explain(error))"
        case .changed(let address): "a file read back from '\(address)' has other content"
        case .listedWrong(let address, let step):
            "'\(address)' lists its content wrongly after a file was \(step)"
        case .noStore(let path): "there is no SQLite database in '\(printable(path))'"
        }
    }

    public var hint: String? {
        switch self {
        case .notConfigured: "see 'rclone listremotes', and make it with 'rclone config'"
        case .cannot(_, _, let error): Advice.after(error)
        case .changed: "something on the way changes files: no backup is safe there"
        case .noStore:
            "name the directory in which the application keeps its databases"
        case .listedWrong:
            "if it only shows changes late, try again; otherwise no backup is safe there"
        }
    }
}
