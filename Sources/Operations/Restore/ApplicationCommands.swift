/// Commands of the user's that a restore runs around the exchange, through `/bin/sh -c`.
public struct ApplicationCommands: Sendable, Equatable {
    /// Stop the application before its data is replaced; one that fails ends the restore.
    public var stop: [String]
    /// Start it again, whatever became of the restore.
    public var start: [String]
    /// Have to succeed once it has started on what was restored, or the restore rolls back.
    public var verify: [String]
    /// How long one command may take; then it is ended.
    public var timeout: Duration
    /// The profile that they are of, if they are of one.
    public var profile: String?

    public init(
        stop: [String] = [],
        start: [String] = [],
        verify: [String] = [],
        timeout: Duration = .seconds(600)
    ) {
        self.stop = stop
        self.start = start
        self.verify = verify
        self.timeout = timeout
    }
}
