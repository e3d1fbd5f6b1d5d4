internal import ArgumentParser
internal import Foundation

/// The programs that run things by the clock.
enum ScheduleKind: String, CaseIterable, ExpressibleByArgument {
    case systemdUser = "systemd-user"
    case systemdSystem = "systemd-system"
    case cron
    case launchd

    /// Returns the kind for this machine: systemd if it runs (the system's for root), else cron.
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
