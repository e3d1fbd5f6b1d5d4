internal import Operations

/// A file that a kind of schedule has for a job; for cron, a part of the user's table.
struct ScheduleFile: Equatable {
    var path: String
    var text: String

    /// The word in place of a path for the user's crontab, which has none.
    static let crontab = "crontab"

    /// Returns the remark in a file that tells the schedule, which may have been given to the installation alone.
    static func remark(_ schedule: Schedule) -> String { "\(remark) \(schedule)" }

    private static let remark = "Schedule:"

    /// Returns the schedule that files are of; `nil` if they do not tell.
    static func schedule(of files: [ScheduleFile]) -> Schedule? {
        for line in files.flatMap({ $0.text.split(separator: "\n") }) {
            guard let start = line.firstRange(of: remark)?.upperBound else { continue }
            let text = line[start...].split(whereSeparator: \.isWhitespace).prefix { $0 != "-->" }
            if let schedule = Schedule(text.joined(separator: " ")) { return schedule }
        }
        return nil
    }

    /// Returns the files of a job for a kind; throws `ScheduleError` if it cannot be written so.
    static func files(_ job: ScheduledJob, _ kind: ScheduleKind) throws -> [ScheduleFile] {
        guard job.schedule.pace == nil || job.command == .backup else {
            throw ScheduleError.notContinuous(job.command.rawValue)
        }
        let paths = paths(of: job.name, kind)
        switch kind {
        case .systemdUser, .systemdSystem:
            let units = try SystemdUnits(job, kind)
            let texts = [units.service] + [units.timer].compactMap(\.self)
            return zip(paths, texts).map(ScheduleFile.init)
        case .cron: return try zip(paths, [Crontab.block(job)]).map(ScheduleFile.init)
        case .launchd: return try zip(paths, [LaunchAgent.propertyList(job)]).map(ScheduleFile.init)
        }
    }

    /// Returns the paths of a job's files.
    static func paths(of name: String, _ kind: ScheduleKind) -> [String] {
        switch kind {
        case .systemdUser:
            ["service", "timer"].map {
                "\(ProcessEnvironment.configuration)/systemd/user/\(name).\($0)"
            }
        case .systemdSystem: ["service", "timer"].map { "/etc/systemd/system/\(name).\($0)" }
        case .cron: [crontab]
        case .launchd:
            ["\(ProcessEnvironment.home)/Library/LaunchAgents/\(LaunchAgent.label(name)).plist"]
        }
    }
}
