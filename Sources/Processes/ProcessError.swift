public import Files

/// An error in starting a program; the payload is its name.
public enum ProcessError: ExplainedError, Equatable {
    /// There is no such program in `PATH`.
    case notInstalled(String)
    /// The system could not start it, or lost sight of it.
    case cannotRun(String, reason: String)

    public var description: String {
        switch self {
        case .notInstalled(let program): "'\(program)' is not installed"
        case .cannotRun(let program, let reason): "cannot run '\(program)': \(reason)"
        }
    }
}
