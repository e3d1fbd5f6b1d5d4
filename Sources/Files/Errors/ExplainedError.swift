/// An error in words that a person reads.
///
/// `description` names what is affected and the reason. It begins with a small letter and has no final period, as it
/// follows other words.
public protocol ExplainedError: Error, CustomStringConvertible {
    /// Advice on what to do next, with this program's commands; `nil` if there is no good advice.
    var hint: String? { get }
    /// The kind of failure, for callers that decide by it.
    var outcome: FailureOutcome { get }
}

extension ExplainedError {
    public var hint: String? { nil }
    public var outcome: FailureOutcome { .failed }
}

/// The kinds of failure that a caller decides by; the program has an exit code for each.
public enum FailureOutcome: Sendable {
    /// The run failed for another reason than those below, and changed nothing.
    case failed
    /// The work is done in part, or may not outlast a loss of power.
    case partial
    /// There is no such remote folder, container or backup.
    case notFound
    case locked
    /// A password or a key is missing or wrong.
    case password
    /// An archive or a store is damaged.
    case damaged
    /// A restore failed, and the stores are as they were.
    case restoreFailed
    /// A restore failed, and the stores could not be put back.
    case rollbackFailed
    case noSpace
    /// An application has the stores open.
    case inUse
    /// Only a person can decide what to do.
    case needsDecision
    /// The command line or the configuration is wrong.
    case usage
    /// The user's own command asks to skip this run.
    case skipped

    /// Finds the outcome of any error.
    public init(of error: any Error) {
        self = (error as? any ExplainedError)?.outcome ?? .failed
    }
}

/// Advice in this program's commands and options, quoted as a shell does.
public enum Advice {
    public static let list = "run 'grocerydude list'"
    public static let olderBackup = "try an older backup; a copy in another place may be whole"

    /// Returns a command of this program for a backup.
    public static func command(_ words: String, _ name: String) -> String {
        "grocerydude \(words) \(name.hasPrefix("-") ? "-- " : "")\(shellWord(name))"
    }

    /// Returns a command or an option in quotes, in which it has no quotes of the same kind.
    public static func quoted(_ command: String) -> String {
        command.contains("'") ? "\"\(command)\"" : "'\(command)'"
    }

    /// Returns an option with its value.
    public static func option(_ name: String, _ value: String) -> String {
        "--\(name)\(value.hasPrefix("-") ? "=" : " ")\(shellWord(value))"
    }

    /// Returns a path as `--only` takes it, which reads a colon as the end of a store's name, and a minus as an option.
    public static func part(_ path: String) -> String {
        shellWord(path.contains(":") || path.hasPrefix("-") ? "./\(path)" : path)
    }

    /// Returns the advice of any error.
    public static func after(_ error: any Error) -> String? {
        (error as? any ExplainedError)?.hint
    }
}

/// Returns an error of any module as one line.
public func explain(_ error: any Error) -> String {
    switch error {
    case let error as any ExplainedError: error.description
    case is CancellationError: "interrupted"
    default: "\(error)"
    }
}

/// Returns an error as one line with its advice in parentheses, for a warning.
public func explainedWithHint(_ error: any Error) -> String {
    explain(error) + (Advice.after(error).map { " (\($0))" } ?? "")
}
