internal import Files

/// Why a command cannot go on, or cannot answer.
enum CommandError: ExplainedError {
    /// Something is to be replaced or deleted, without a terminal to ask on.
    case noTerminal
    /// The work is done, and its answer could not be written to standard output.
    case answerLost(FileError)
    /// The system gives fewer threads than Swift needs to run; nothing was begun.
    case tooFewThreads
    /// No backup is named, without a terminal to choose one on.
    case noBackupNamed

    var description: String {
        switch self {
        case .noTerminal: "cannot ask for confirmation: no terminal"
        case .answerLost(let error): "the work is done, but the answer is lost: \(error)"
        case .tooFewThreads: "cannot begin: the system gives this user too few threads"
        case .noBackupNamed: "no backup is named, and there is no terminal to choose one on"
        }
    }

    var hint: String? {
        switch self {
        case .noTerminal: "use '--yes' to go on without being asked"
        case .answerLost(let error): Hint.after(error)
        case .tooFewThreads: "raise the limit with 'ulimit -u', or that of the container or service"
        case .noBackupNamed: "name one, or 'latest': grocerydude restore latest"
        }
    }
}
