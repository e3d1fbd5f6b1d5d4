/// The end that a command came to, for its exit code, the log, metrics and hooks.
public struct CommandResult: Sendable, Equatable {
    /// The program's exit code.
    public var exitCode: Int32
    /// The error, or the first problem of a run that was done in part.
    public var message: String?
    /// The file name of the backup that the command was about.
    public var backup: String?
    /// Bytes in that backup's archive.
    public var size: Int64?
    /// Bytes in all of that backup's files before compression.
    public var bytes: Int64?
    /// Whether a person was asked and said no: nobody is told of the run.
    public var isDeclined = false
    /// Whether there was nothing to do, as most often every few minutes: such a run is not logged.
    public var isUneventful = false

    public init(exitCode: Int32, message: String? = nil) {
        self.exitCode = exitCode
        self.message = message
    }

    /// Whether all was done: a monitor has to hear of a run that was done in part.
    public var isSuccess: Bool { exitCode == 0 }
}
