/// Commands of the user's that run around an operation, through `/bin/sh -c`.
public struct Hooks: Sendable, Equatable {
    /// The moments at which commands run.
    public enum Moment: String, Sendable, CaseIterable {
        /// First; one that exits with 75 skips the run, any other failure ends it.
        case before
        /// After the work, however it ended, before the ones below.
        case after
        case onSuccess = "on_success"
        case onFailure = "on_failure"
        /// Last, whatever happened, a failed `before` too.
        case finally
    }

    public var commands: [Moment: [String]]
    /// How long one command may take; then it is ended.
    public var timeout: Duration

    public init(commands: [Moment: [String]] = [:], timeout: Duration = .seconds(600)) {
        self.commands = commands
        self.timeout = timeout
    }
}
