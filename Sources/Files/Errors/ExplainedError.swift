/// An error that a person can act on.
///
/// `description` says what failed, names the thing, and says why, in lower case and without a
/// final period. `hint` says what to do next, if possible as a command to run.
public protocol ExplainedError: Error, CustomStringConvertible {
    /// Advice on what to do next, or `nil` if there is no good advice.
    var hint: String? { get }
}

extension ExplainedError {
    public var hint: String? { nil }
}

/// Returns an error of any module as one line.
public func explain(_ error: any Error) -> String {
    switch error {
    case let error as any ExplainedError: error.description
    case is CancellationError: "interrupted"
    default: "\(error)"
    }
}
