internal import Backups
internal import Files
internal import Operations

extension CommandResult {
    /// Creates the result of a command from its status.
    init(
        _ status: ExitStatus,
        of backup: Backup? = nil,
        bytes: Int64? = nil,
        message: String? = nil
    ) {
        self.init(exitCode: status.rawValue, message: message)
        self.backup = backup?.name
        size = backup?.size
        self.bytes = bytes
    }

    /// Creates the result of work that is incomplete if it has problems.
    init(
        of backup: Backup? = nil,
        bytes: Int64? = nil,
        problems: [Problem],
        safety: Backup? = nil
    ) {
        let message = problems.first.map {
            "\(counted(problems.count, "problem", "problems")): \($0)"
        }
        self.init(problems.isEmpty ? .done : .partial, of: backup, bytes: bytes, message: message)
        self.safety = safety?.id?.rawValue
    }

    /// The result of a command whose question was answered with no.
    static var declined: CommandResult {
        var result = CommandResult(.failed)
        result.isDeclined = true
        return result
    }

    /// Returns the result with another status and its reason.
    func with(_ status: ExitStatus, _ reason: String?) -> CommandResult {
        var result = self
        result.exitCode = status.rawValue
        result.message = reason
        return result
    }

    var status: ExitStatus { ExitStatus(rawValue: exitCode) }
}
