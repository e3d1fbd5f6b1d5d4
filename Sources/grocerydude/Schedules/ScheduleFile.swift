/// A file that a kind of schedule has for a job; for cron, a part of the user's table.
struct ScheduleFile: Equatable {
    var path: String
    var text: String

    /// What stands for a path where there is none to see.
    static let crontab = "crontab"

    /// What a job is with a kind.
    ///
    /// - Throws: `ScheduleError` where the job cannot be written so.
    static func files(_ job: ScheduledJob, _ kind: ScheduleKind) throws -> [ScheduleFile] {
        let paths = paths(of: job.name, kind)
        switch kind {
        case .systemdUser, .systemdSystem:
            let units = try SystemdUnits(job, isSystem: kind == .systemdSystem)
            return zip(paths, [units.service, units.timer]).map(ScheduleFile.init)
        case .cron: return try zip(paths, [Crontab.block(job)]).map(ScheduleFile.init)
        case .launchd: return try zip(paths, [LaunchAgent.propertyList(job)]).map(ScheduleFile.init)
        }
    }

    /// Where a job's files are.
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
