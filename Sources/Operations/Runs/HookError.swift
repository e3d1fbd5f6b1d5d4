public import Files

/// An error of a user's command or of a ping around a run.
public enum HookError: ExplainedError {
    /// One of the user's commands failed that must succeed.
    case commandFailed(event: String, command: String, CommandFailure)
    /// A `before` command asked to skip the run.
    case skipped(command: String)
    /// A monitor could not be notified.
    case pingFailed(host: String, reason: String)

    public var outcome: FailureOutcome {
        if case .skipped = self { .skipped } else { .failed }
    }

    public var description: String {
        switch self {
        case .commandFailed(let event, let command, let reason):
            "the '\(event)' command '\(Self.shortened(command))' \(reason)"
        case .skipped(let command):
            "skipped: the 'before' command '\(Self.shortened(command))' exited with \(Hooks.skipCode)"
        case .pingFailed(let host, let reason): "cannot ping the monitor '\(host)': \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .commandFailed(_, let command, _):
            "run it by hand to see its output: \(printable(bytes: command.utf8))"
        case .skipped, .pingFailed: nil
        }
    }

    /// Returns a text without the user's command lines, which may have secrets.
    static func withoutLines(_ text: String, _ lines: [String]) -> String {
        lines.sorted { $0.count > $1.count }.reduce(text) { text, line in
            [printable(bytes: line.utf8), shortened(line)]
                .reduce(text) {
                    $0.replacing(" '\($1)'", with: "").replacing("'\($1)' ", with: "a command ")
                }
        }
    }

    /// Returns a command line, shortened for a message.
    private static func shortened(_ command: String) -> String {
        let text = printable(bytes: command.utf8)
        return text.count > 60 ? text.prefix(57) + "..." : text
    }
}
