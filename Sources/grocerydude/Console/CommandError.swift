internal import Files

/// What can be wrong with how a command was given.
enum CommandError: ExplainedError {
    /// Something is to be replaced or deleted, and there is no terminal to ask on.
    case nobodyToAsk
    /// The work is done, and its answer could not be written to standard output.
    case answerLost(FileError)

    var description: String {
        switch self {
        case .nobodyToAsk: "nobody can be asked here whether to go on"
        case .answerLost(let error): "what was to be done is done, but the answer is lost: \(error)"
        }
    }

    var hint: String? {
        switch self {
        case .nobodyToAsk: "say '--yes' to go on without being asked"
        case .answerLost(let error): error.hint
        }
    }
}
