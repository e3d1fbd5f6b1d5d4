/// Why a command of the user's did not succeed.
public enum CommandFailure: Sendable, Equatable, CustomStringConvertible {
    /// The command exited with a code; the last line that it wrote.
    case exited(Int32, lastLine: String?)
    case signalled(Int32)
    case tookTooLong(Duration)
    /// The command could not be started.
    case notRun(String)

    public var description: String {
        switch self {
        case .exited(let code, let line):
            "exited with \(code)" + (line.map { ": \($0)" } ?? "")
        case .signalled(let number): "was ended by signal \(number)"
        case .tookTooLong(let limit):
            "took longer than \(limit.components.seconds) s and was ended"
        case .notRun(let reason): "did not run: \(reason)"
        }
    }
}
