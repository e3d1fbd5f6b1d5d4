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
    /// The probable reason, if there is a sign of one.
    let reason: String?

    /// The commands whose missed runs can be noticed: a sync without news leaves no trace.
    static let commands: [Run.Command] = [.backup, .check]

    /// Returns the missed runs of a profile's schedules.
    ///
    /// - Throws: `ScheduleError`, `HistoryError`, `FileError`, `ProcessError`.
    static func all(_ invocation: Invocation) async throws -> [MissedRun] {
        guard invocation.isInProfilesPlaces else { return [] }
        var missed: [MissedRun] = []
        for command in commands {
            if let run = try await find(command, invocation) { missed.append(run) }
        }
        return missed
    }

    private static func find(
        _ command: Run.Command,
        _ invocation: Invocation
    ) async throws -> MissedRun? {
        let name = ScheduledJob.name(command, of: invocation.profile)
        let place = try await Place(of: name)
        let installation = try invocation.log.installation(name)
        guard let schedule = place?.schedule ?? installation.flatMap({ Schedule($0.schedule) })
        else { return nil }
        let last = try lastRun(command, invocation)
        guard let base = [installation?.since ?? place?.since, last].compactMap(\.self).max(),
            let dues = dues(of: schedule, after: base, command, invocation),
            // A run in progress is not logged yet.
            try command != .backup || LockHolder.of(invocation.absolute(invocation.stores)) == nil
        else { return nil }
        return MissedRun(
            command: command,
            due: dues.first,
            count: dues.count,
            isFirst: last == nil,
            reason: try await place.reason(name, before: dues.last, invocation)
        )
    }

    /// Returns the beginning of the last run; one that began in the future says nothing about the past.
    private static func lastRun(_ command: Run.Command, _ invocation: Invocation) throws -> Date? {
        var filter = RunLog.Filter()
        filter.command = command.rawValue
        filter.stores = printable(invocation.absolute(invocation.stores))
        filter.remote = invocation.address
        return try invocation.log.entries(filter, limit: 10).map(\.began)
            .filter { $0 <= invocation.now }.max()
    }

    /// Returns the first and the last time at which a run should have been, and their number; `nil` if none was missed.
    private static func dues(
        of schedule: Schedule,
        after base: Date,
        _ command: Run.Command,
        _ invocation: Invocation
    ) -> (first: Date, last: Date, count: Int)? {
        let times = schedule.times(after: base, in: invocation.timeZone)
        let soon = Array(times.prefix(2))
        guard soon.count == 2 else { return nil }
        // A run may begin late, and is logged at its end. To read all backups takes longer than to make one.
        let longest: TimeInterval = command == .check ? 86_400 : 3600
        let grace =
            min(max(soon[1].timeIntervalSince(soon[0]) / 2, 120), longest)
            + invocation.profile.lockWait.inSeconds
        var dues: (first: Date, last: Date, count: Int)?
        for time in times.prefix(mostCounted) {
            guard time + grace < invocation.now else { break }
            dues = (soon[0], time, (dues?.count ?? 0) + 1)
        }
        return dues
    }

    /// The greatest number that is counted.
    private static let mostCounted = 1000

    /// The run and its reason in one line.
    func summary(_ invocation: Invocation) -> String {
        let runs = isFirst ? "the first \(command.rawValue)" : "the \(command.rawValue)"
        let more = count >= Self.mostCounted ? "\(count) or more" : "\(count - 1)"
        let rest = count == 1 ? "" : ", and \(more) after it"
        let time = invocation.local(due).description.prefix(16)
        return "\(runs) of \(time)\(rest) did not run\(reason.map { ": \($0)" } ?? "")"
    }
}

/// The scheduler that a job is installed for.
private struct Place {
    let kind: ScheduleKind
    let schedule: Schedule?
    /// The time of the installation, as far as its files show it.
    let since: Date?

    /// Finds a job; `nil` if it is installed nowhere.
    init?(of name: String) async throws {
        for kind in ScheduleKind.allCases {
            let files = try await ScheduleInstallation(kind: kind).installed(name)
            guard let first = files.first else { continue }
            self.kind = kind
            schedule = ScheduleFile.schedule(of: files)
            let info = kind == .cron ? nil : try? FileInfo(of: FilePath(first.path))
            since = info.map { Date(timeIntervalSince1970: Double($0.modified) / 1e9) }
            return
        }
        return nil
    }
}

extension Place? {
    /// Returns the probable reason why no run began; `nil` if there is no sign of one.
    fileprivate func reason(
        _ name: String,
        before last: Date,
        _ invocation: Invocation
    ) async throws -> String? {
        guard let self else {
            return "its schedule is gone: run 'grocerydude schedule install'"
        }
        switch self.kind {
        case .cron:
            if !Crontab.isListenedTo { return "no cron is running" }
        case .systemdUser, .systemdSystem:
            let user = self.kind == .systemdUser ? ["--user"] : []
            let state = try? await SystemProgram.run(
                "systemctl",
                user + ["is-active", "\(name).timer"]
            )
            if state?.ending != .exited(0) { return "its timer is not active" }
        }
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
