internal import Operations

/// A file of a scheduled job; for cron, a part of the user's table.
struct ScheduleFile: Equatable {
    var path: String
    var text: String

    /// The word that replaces a path for the user's crontab, which has none.
    static let crontab = "crontab"

    /// Returns the remark with the schedule for a file, since the schedule may have been an option of the installation.
    static func remark(_ schedule: Schedule) -> String { "\(remark) \(schedule)" }

    private static let remark = "Schedule:"

    /// Returns the schedule from the remark in files; `nil` if there is none.
    static func schedule(of files: [ScheduleFile]) -> Schedule? {
        for line in files.flatMap({ $0.text.split(separator: "\n") }) {
            guard let start = line.firstRange(of: remark)?.upperBound else { continue }
            if let schedule = Schedule(String(line[start...])) { return schedule }
        }
        return nil
    }

    /// Returns the files of a job for a scheduler; throws `ScheduleError` if it cannot express the job.
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
        }
    }
}
