internal import ArgumentParser
internal import Foundation

/// What runs things by the clock.
enum ScheduleKind: String, CaseIterable, ExpressibleByArgument {
    case systemdUser = "systemd-user"
    case systemdSystem = "systemd-system"
    case cron
    case launchd

    /// The one that this machine has: systemd where it runs, and the system's for root.
    ///
    /// - Throws: `ScheduleError.noKind`.
    static func detected() throws -> ScheduleKind {
        #if canImport(Darwin)
        return .launchd
        #else
        // sd_booted(3)
        if FileManager.default.fileExists(atPath: "/run/systemd/system") {
            return geteuid() == 0 ? .systemdSystem : .systemdUser
        }
        guard SystemProgram.path(of: "crontab") != nil else { throw ScheduleError.noKind }
        return .cron
        #endif
    }
}

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
            ["service", "timer"].map { "\(Surroundings.configuration)/systemd/user/\(name).\($0)" }
        case .systemdSystem: ["service", "timer"].map { "/etc/systemd/system/\(name).\($0)" }
        case .cron: [crontab]
        case .launchd:
            ["\(Surroundings.home)/Library/LaunchAgents/\(LaunchAgent.label(name)).plist"]
        }
    }
}
