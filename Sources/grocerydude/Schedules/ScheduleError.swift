internal import Files

/// An error that keeps a schedule from being installed, removed or shown.
enum ScheduleError: ExplainedError {
    case noSchedule(profile: String?, file: String?)
    /// No scheduler was found on this machine.
    case noKind
    /// systemd does not run here, or runs no manager for this user.
    case noManager(isOfUser: Bool)
    /// The options name another place than the profile's, whose schedule would be replaced.
    case ofOtherPlace(profile: String?, key: String, place: String)
    /// The job is installed for another stores directory or configuration, which would not be backed up any more.
    case ofOtherJob(String, String)
    /// A program is not installed.
    case noProgram(String)
    case program(String, reason: String)
    /// A schedule in one scheduler's own form cannot be used with another.
    case notForKind(Schedule, ScheduleKind)
    /// A command that ends by itself cannot run continuously.
    case notContinuous(String)
    /// A path or a value contains characters that the format does not allow.
    case notWritable(String, ScheduleKind)
    /// All days of a schedule are in the past.
    case over(Schedule)
    /// An environment variable or an option may contain a secret, and others may read the written files.
    case secret(variable: String, key: String)
    /// A block of the crontab has no end.
    case brokenBlock(String)

    var description: String {
        switch self {
        case .noSchedule(.some(let name), _): "the profile '\(name)' has no schedule"
        case .noSchedule(nil, _): "there is no schedule"
        case .noKind: "there is neither systemd nor cron here to run backups"
        case .noManager(true): "systemd has no manager for this user to start backups"
        case .noManager(false): "systemd does not run here"
        case .ofOtherPlace(let profile, let key, let place):
            "nothing was installed: \(profile.map { "the profile '\($0)'" } ?? "the configuration") has another '\(key)', '\(place)'"
        case .ofOtherJob(let name, let place):
            "nothing was installed: '\(name)' is for '\(place)', which would not be backed up any more"
        case .noProgram(let name): "the program '\(name)' is not installed"
        case .program(let command, let reason): "'\(command)' failed: \(reason)"
        case .notForKind(let schedule, let kind):
            "the schedule '\(schedule)' cannot be written for \(kind.rawValue)"
        case .notContinuous(let command): "'\(command)' cannot run continuously: only a backup can"
        case .notWritable(let text, let kind):
            "'\(printable(bytes: text.utf8))' cannot be written for \(kind.rawValue)"
        case .over(let schedule):
            "the schedule '\(schedule)' never runs again: its days have passed"
        case .secret(let variable, _):
            "\(variable) may contain a secret, and others can read a schedule's files"
        case .brokenBlock(let name): "the crontab has the beginning of '\(name)' but not its end"
        }
    }

    var hint: String? {
        switch self {
        case .noSchedule(_, .some(let file)):
            "add 'schedule: daily 03:30' to '\(file)', or use '--schedule \"daily 03:30\"'"
        case .noSchedule(_, nil): "use '--schedule \"daily 03:30\"'"
        case .noKind: "'--dry-run --kind cron' prints lines for another program"
        case .noManager(false): "use '--kind cron', or write the files alone with '--no-enable'"
        case .ofOtherPlace, .ofOtherJob:
            "give the other one a profile: grocerydude link FOLDER --stores DIR --profile NAME"
        case .noManager(true):
            "log in at the machine or with ssh, or run 'loginctl enable-linger', or use '--kind cron'"
        case .noProgram, .program:
            "'--dry-run' prints the files; '--no-enable' writes them and starts nothing"
        case .notContinuous: "use a schedule for it, such as \(Schedule.examples)"
        case .notForKind(let schedule, .cron) where schedule.pace != nil:
            "cron only starts commands that end: use 'every 1m', or '--kind systemd-user'"
        case .notForKind: "use one that all know, such as \(Schedule.examples), or another '--kind'"
        case .notWritable: "choose a path without quotes and line breaks, or another '--kind'"
        case .over: "use a schedule that repeats, such as \(Schedule.examples)"
        case .secret(let variable, let key):
            "write it into the configuration as '\(key)'"
                + (variable.hasPrefix("'") ? "" : ", and run 'unset \(variable)'")
        case .brokenBlock: "mend it with 'crontab -e'"
        }
    }
}
