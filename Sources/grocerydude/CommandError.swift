internal import Files

/// What can be wrong with how a command was given.
enum CommandError: ExplainedError {
    /// Something is to be replaced or deleted, and there is no terminal to ask on.
    case nobodyToAsk

    var description: String {
        switch self {
        case .nobodyToAsk: "nobody can be asked here whether to go on"
        }
    }

    var hint: String? {
        switch self {
        case .nobodyToAsk: "say '--yes' to go on without being asked"
        }
    }
}
