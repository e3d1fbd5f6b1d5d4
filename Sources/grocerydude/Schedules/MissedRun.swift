internal import Files
internal import Foundation
internal import History
internal import Operations
internal import Processes
internal import SystemPackage

/// A scheduled run that did not happen.
struct MissedRun {
    let command: Run.Command
    /// The time at which the first one should have been.
    let due: Date
    /// The number of those that did not happen, up to now.
    let count: Int
    /// Whether the job never ran.
    let isFirst: Bool
    /// Whether it is a service, which should always be running.
    var isService = false
    /// The probable reason, if there is a sign of one.
    let reason: String?

    /// Returns the missed runs of schedules.
    ///
    /// - Throws: `ScheduleError`, `HistoryError`, `FileError`, `ProcessError`.
    static func all(
        of schedules: [InstalledSchedule],
        _ invocation: Invocation
    ) async throws -> [MissedRun] {
        var missed: [MissedRun] = []
        for schedule in schedules {
            if let run = try await schedule.missed(invocation) { missed.append(run) }
        }
        return missed
    }

    /// The run and its reason in one line.
    func summary(_ invocation: Invocation) -> String {
        let reason = reason.map { ": \($0)" } ?? ""
        if isService { return "the service that makes backups is not running\(reason)" }
        let runs = isFirst ? "the first \(command.rawValue)" : "the \(command.rawValue)"
        let rest = count == 1 ? "" : ", and \(count - 1) after it"
        let time = invocation.local(due).description.prefix(16)
        return "\(runs) of \(time)\(rest) did not run\(reason)"
    }
}

/// The schedule of a profile's command, as it is installed or was last.
struct InstalledSchedule {
    private let name: String
    /// The scheduler that has the job; `nil` if it is gone from there.
    private let kind: ScheduleKind?
    /// The times at which it begins runs; none for a service.
    let due: DueTimes
    private let isService: Bool

    /// Whether a scheduler runs it.
    var isThere: Bool { kind != nil }

    /// Returns warnings of schedules whose profiles the configuration does not have.
    ///
    /// - Throws: `ConfigurationError`, `ScheduleError`, `ProcessError`.
    static func strays(
        _ options: ConfigurationOptions,
        _ kinds: [ScheduleKind]
    ) async throws -> [String] {
        let names = try Configuration(options).names
        var strays: [String] = []
        for kind in kinds {
            for case let name? in try await ScheduleInstallation(kind: kind).profiles()
            where !names.contains(name) {
                strays.append(
                    "\(kind.rawValue) runs commands of the profile '\(name)', which is not configured: run \(Advice.quoted("grocerydude schedule remove \(Advice.option("profile", name))"))"
                )
            }
        }
        return strays.sorted()
    }

    /// Whether its scheduler will begin the next run.
    var isEnabled: Bool {
        get async {
            guard let kind else { return false }
            let installation = ScheduleInstallation(kind: kind)
            if installation.isEnabled(name, isService: isService) { return true }
            return await inactivity() == nil
        }
    }

    /// Finds the schedules of a profile's commands; none if the places are not the profile's.
    ///
    /// - Throws: `ScheduleError`, `HistoryError`, `FileError`, `ProcessError`.
    static func all(_ invocation: Invocation) async throws -> [InstalledSchedule] {
        guard invocation.isInProfilesPlaces else { return [] }
        var schedules: [InstalledSchedule] = []
        for command in Run.Command.scheduled {
            if let one = try await InstalledSchedule(command, invocation) { schedules.append(one) }
        }
        return schedules
    }

    /// Finds the schedule of a command; `nil` if it was never installed, or is removed.
    private init?(_ command: Run.Command, _ invocation: Invocation) async throws {
        name = ScheduledJob.name(command, of: invocation.profile.name)
        let installation = try invocation.log.installation(name)
        var schedule = installation.flatMap { Schedule($0.schedule) }
        var (kind, since) = (ScheduleKind?.none, installation?.since)
        for candidate in ScheduleKind.allCases where kind == nil {
            let files = try await ScheduleInstallation(kind: candidate).installed(name)
            guard let first = files.first else { continue }
            kind = candidate
            schedule = ScheduleFile.schedule(of: files) ?? schedule
            // The time of the installation, as far as its files show it.
            let info = candidate == .cron ? nil : try? FileInfo(of: FilePath(first.path))
            since = since ?? info.map { Date(timeIntervalSince1970: Double($0.modified) / 1e9) }
        }
        guard let schedule else { return nil }
        self.kind = kind
        isService = schedule.pace != nil
        let zone = invocation.timeZone
        due = DueTimes(command, since: since, patience: invocation.profile.lockWait.inSeconds) {
            AnySequence(schedule.times(after: $0, in: zone))
        }
    }

    /// Returns the runs that were missed since the last one; `nil` if there are none.
    fileprivate func missed(_ invocation: Invocation) async throws -> MissedRun? {
        if isService { return await stopped(invocation) }
        let runs = try DueRuns(
            due,
            in: invocation.log,
            of: invocation.absolute(invocation.stores),
            to: invocation.address,
            until: invocation.now
        )
        let times = runs.missedLately
        guard let first = times.first, let last = times.last else { return nil }
        return MissedRun(
            command: due.command,
            due: first,
            count: times.count,
            isFirst: runs.isFirst,
            reason: await reason(before: last, invocation)
        )
    }

    /// Returns the service as a missed run if it is not running.
    private func stopped(_ invocation: Invocation) async -> MissedRun? {
        let (reason, now) = (await inactivity(), invocation.now)
        return reason.map {
            MissedRun(
                command: due.command,
                due: now,
                count: 1,
                isFirst: false,
                isService: true,
                reason: $0
            )
        }
    }

    /// Returns the reason why the scheduler begins nothing; `nil` if it is at work.
    private func inactivity() async -> String? {
        switch kind {
        case nil: return "its schedule is gone: run 'grocerydude schedule install'"
        case .cron: return Crontab.isListenedTo ? nil : "no cron is running"
        case .systemdUser, .systemdSystem:
            let user = kind == .systemdUser ? ["--user"] : []
            let unit = SystemdUnits.starting(name, isService: isService)
            let state = try? await SystemProgram.run("systemctl", user + ["is-active", unit])
            if state?.ending == .exited(0) { return nil }
            guard isService else { return "its timer is not active" }
            return "run 'systemctl \((user + ["status", unit]).joined(separator: " "))'"
        }
    }

    /// Returns the probable reason why no run began; `nil` if there is no sign of one.
    private func reason(before last: Date, _ invocation: Invocation) async -> String? {
        if let reason = await inactivity() { return reason }
        guard let boot = Self.boot, boot > last else { return nil }
        return "the machine was started at \(invocation.local(boot).description.prefix(16))"
    }

    /// The time at which the machine was started (proc(5)).
    private static var boot: Date? {
        let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { TimeInterval($0.dropFirst(6)) }
            .map { Date(timeIntervalSince1970: $0) }
    }
}

extension [InstalledSchedule] {
    /// The schedule of backups, if there is one.
    var ofBackups: InstalledSchedule? { first { $0.due.command == .backup } }
}
