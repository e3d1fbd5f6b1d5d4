public import Files

/// Why something that goes on around a run failed: a command of the user's, or a ping.
public enum HookError: ExplainedError {
    /// A command of the user's failed that has to succeed.
    case commandFailed(event: String, command: String, CommandFailure)
    /// A `before` command says that this is not the time for the run.
    case skipped(command: String)
    /// A monitor could not be told.
    case pingFailed(host: String, reason: String)

    public var description: String {
        switch self {
        case .commandFailed(let event, let command, let reason):
            "the '\(event)' command '\(Self.shortened(command))' \(reason)"
        case .skipped(let command):
            "skipped: the 'before' command '\(Self.shortened(command))' exited with \(Hooks.skipCode)"
        case .pingFailed(let host, let reason): "cannot tell the monitor '\(host)': \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .commandFailed(_, let command, _):
            "run it by hand to see its output: \(printable(bytes: command.utf8))"
        case .skipped, .pingFailed: nil
        }
    }

    /// Returns a command line as far as a message has room for it.
    private static func shortened(_ command: String) -> String {
        let text = printable(bytes: command.utf8)
        return text.count > 60 ? text.prefix(57) + "..." : text
    }
}
