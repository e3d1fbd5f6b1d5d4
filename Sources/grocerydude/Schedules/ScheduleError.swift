internal import Files

/// Why a schedule cannot be installed, removed or shown.
enum ScheduleError: ExplainedError {
    case noSchedule(profile: String?, file: String?)
    /// No scheduler was found on this machine.
    case noKind
    /// A program is not installed.
    case noProgram(String)
    case program(String, reason: String)
    /// A schedule is written in the form of another kind.
    case notForKind(Schedule, ScheduleKind)
    /// A command that does one thing and ends is to run always.
    case notContinuous(String)
    /// A path or a value has characters that the form does not allow.
    case notWritable(String, ScheduleKind)
    /// A block of the crontab has a beginning and no end.
    case brokenBlock(String)

    var description: String {
        switch self {
        case .noSchedule(.some(let name), _): "the profile '\(name)' has no schedule"
        case .noSchedule(nil, _): "there is no schedule"
        case .noKind: "there is neither systemd nor cron here to run backups"
        case .noProgram(let name): "the program '\(name)' is not installed"
        case .program(let command, let reason): "'\(command)' failed: \(reason)"
        case .notForKind(let schedule, let kind):
            "the schedule '\(schedule)' cannot be written for \(kind.rawValue)"
        case .notContinuous(let command): "'\(command)' cannot run continuously: only a backup can"
        case .notWritable(let text, let kind):
            "'\(printable(bytes: text.utf8))' cannot be written for \(kind.rawValue)"
        case .brokenBlock(let name): "the crontab has the beginning of '\(name)' but not its end"
        }
    }

    var hint: String? {
        switch self {
        case .noSchedule(_, .some(let file)):
            "add 'schedule: daily 03:30' to '\(file)', or say '--schedule \"daily 03:30\"'"
        case .noSchedule(_, nil): "say '--schedule \"daily 03:30\"'"
        case .noKind: "'--dry-run --kind cron' prints lines for another program"
        case .noProgram, .program:
            "'--dry-run' prints the files; '--no-enable' writes them and starts nothing"
        case .notContinuous: "use a schedule for it, such as \(Schedule.examples)"
        case .notForKind(let schedule, .cron) where schedule.pace != nil:
            "cron only starts what ends: use 'every 1m', or '--kind systemd-user'"
        case .notForKind: "use one that all know, such as \(Schedule.examples), or another '--kind'"
        case .notWritable: "choose a path without quotes and line breaks, or another '--kind'"
        case .brokenBlock: "mend it with 'crontab -e'"
        }
    }
}
