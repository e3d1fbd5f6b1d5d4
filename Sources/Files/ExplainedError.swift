/// An error that a person can act on.
///
/// `description` says what failed, names the thing, and says why, in lower case and without a
/// final period. `hint` says what to do next, where it can as a command to run.
public protocol ExplainedError: Error, CustomStringConvertible {
    /// What to do next, or `nil` where there is no good advice.
    var hint: String? { get }
}

extension ExplainedError {
    public var hint: String? { nil }
}
