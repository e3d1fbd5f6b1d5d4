internal import Files
internal import Foundation
internal import History
internal import Operations
internal import Processes
internal import SystemPackage

/// An installer of jobs for one kind of scheduler.
///
/// All methods throw `FileError`, `ScheduleError` and `ProcessError`.
struct ScheduleInstallation {
    let kind: ScheduleKind
    /// Whether to notify the scheduler of jobs; if not, only files are written.
    var enables = true
    /// The log of installations, by which a first run that never came is noticed.
    private let log = RunLog(FilePath(ProcessEnvironment.state + "/grocerydude/log.sqlite"))

    /// Returns the files of a job; empty if it is not installed.
    func installed(_ name: String) async throws -> [ScheduleFile] {
        if kind == .cron {
            guard SystemProgram.path(of: "crontab") != nil,
                let block = try await crontab().block(named: name)
            else { return [] }
            return [ScheduleFile(path: ScheduleFile.crontab, text: block)]
        }
        return try ScheduleFile.paths(of: name, kind).compactMap { path in
            try contents(of: path).map {
                ScheduleFile(path: path, text: String(decoding: $0, as: UTF8.self))
            }
        }
    }

    /// Installs a job, and replaces one with its name.
    ///
    /// A failure leaves everything unchanged.
    ///
    /// - Returns: a warning if a first run that never comes will not be noticed, since the log cannot be written.
    func install(_ job: ScheduledJob) async throws -> String? {
        try await write(job)
        do {
            try log.recordInstallation(job.name, job.schedule.description, at: Date())
            return nil
        } catch {
            return "nobody will notice if '\(job.name)' never runs: \(explain(error))"
        }
    }

    private func write(_ job: ScheduledJob) async throws {
        let files = try ScheduleFile.files(job, kind)
        if kind == .cron {
            return try await changeCrontab { try $0.add(files[0].text, named: job.name) }
        }
        // A continuous service has no timer.
        let stale = ScheduleFile.paths(of: job.name, kind).filter { path in
            !files.contains { $0.path == path }
        }
        let before = try (files.map(\.path) + stale).map { ($0, try contents(of: $0)) }
        do {
            if before.contains(where: { stale.contains($0.0) && $0.1 != nil }) {
                try await disable(job.name)
            }
            for path in stale { try LocalFileSystem().remove(FilePath(path)) }
            for file in files { try write(Array(file.text.utf8), to: file.path) }
            try await enable(job)
        } catch {
            for (path, bytes) in before {
                // A second failure must not hide the first one.
                if let bytes {
                    try? write(bytes, to: path)
                } else {
                    try? LocalFileSystem().remove(FilePath(path))
                }
            }
            if enables { try? await systemctl("daemon-reload") }
            throw error
        }
    }

    /// Removes a job, and returns the paths of its files.
    func uninstall(_ name: String) async throws -> [String] {
        let paths = try await installed(name).map(\.path)
        guard !paths.isEmpty else { return [] }
        try log.forgetInstallation(name)
        if kind == .cron {
            try await changeCrontab { try $0.remove(name) }
            return paths
        }
        try await whereManaged { try await disable(name) }
        for path in paths { try LocalFileSystem().remove(FilePath(path)) }
        if enables { try await whereManaged { try await systemctl("daemon-reload") } }
        return paths
    }

    /// Removes the jobs of a profile, which the configuration may have no more.
    ///
    /// - Parameters:
    ///   - profile: the profile's name; `nil` for jobs without a profile.
    ///   - kinds: the schedulers.
    ///   - disables: whether to notify the schedulers.
    ///   - isDryRun: whether to only find the files.
    /// - Returns: the paths of the files, with the job's name for the crontab.
    /// - Throws: `ScheduleError`, `FileError`, `ProcessError`.
    static func remove(
        _ profile: String?,
        _ kinds: [ScheduleKind] = ScheduleKind.allCases,
        disabling disables: Bool,
        isDryRun: Bool
    ) async throws -> [String] {
        var removed: [String] = []
        for kind in kinds {
            let installation = ScheduleInstallation(kind: kind, enables: disables)
            for command in Run.Command.scheduled {
                let name = ScheduledJob.name(command, of: profile)
                let paths =
                    try await isDryRun
                    ? installation.installed(name).map(\.path) : installation.uninstall(name)
                removed += paths.map { $0 == ScheduleFile.crontab ? "\($0): \(name)" : $0 }
            }
        }
        return removed
    }

    /// Returns the profiles with installed jobs; `nil` stands for jobs without a profile.
    func profiles() async throws -> Set<String?> {
        let names: [String]
        switch kind {
        case .cron:
            names = SystemProgram.path(of: "crontab") == nil ? [] : try await crontab().names
        case .systemdUser, .systemdSystem:
            let directory = FilePath(ScheduleFile.paths(of: "", kind)[0]).removingLastComponent()
            let files = (try? Directory.open(directory).names().map(\.description)) ?? []
            names = files.filter { $0.hasSuffix(".service") }.map { String($0.dropLast(8)) }
        }
        return Set(names.filter { !$0.hasSuffix("@failed") }.compactMap(ScheduledJob.profile))
    }

    /// Whether systemd starts a job's timer or service with the machine or the session; `true` for cron.
    func isEnabled(_ name: String, isService: Bool) -> Bool {
        guard kind != .cron, let path = ScheduleFile.paths(of: name, kind).first else {
            return true
        }
        let wants = isService ? "default.target.wants" : "timers.target.wants"
        let unit = SystemdUnits.starting(name, isService: isService)
        let link = FilePath(path).removingLastComponent().appending(wants).appending(unit)
        return (try? FileInfo.ifPresent(link)) ?? nil != nil
    }

    /// Does what only a running manager needs: without one, nothing runs.
    private func whereManaged(_ body: () async throws -> Void) async throws {
        do { try await body() } catch ScheduleError.noManager {} catch ScheduleError.noProgram {}
    }

    private func enable(_ job: ScheduledJob) async throws {
        guard enables, kind != .cron else { return }
        try await systemctl("daemon-reload")
        if job.schedule.pace == nil {
            try await systemctl("enable", "--now", "\(job.name).timer")
        } else {
            try await systemctl("enable", "\(job.name).service")
            // A running service may be an older version.
            try await systemctl("restart", "\(job.name).service")
        }
    }

    private func disable(_ name: String) async throws {
        guard enables, kind != .cron else { return }
        let paths = try await installed(name).map(\.path)
        let hasTimer = paths.contains { $0.hasSuffix(".timer") }
        let unit = SystemdUnits.starting(name, isService: !hasTimer)
        try await systemctl("disable", "--now", unit)
    }

    private func systemctl(_ arguments: String...) async throws {
        do {
            try await SystemProgram.check(
                "systemctl",
                (kind == .systemdUser ? ["--user"] : []) + arguments
            )
        } catch ScheduleError.program(_, let reason) where reason.contains("connect to bus") {
            throw ScheduleError.noManager(isOfUser: kind == .systemdUser)
        }
    }

    // The functions for files.

    private func contents(of path: String) throws -> [UInt8]? {
        let path = FilePath(path)
        guard try FileInfo.ifPresent(path) != nil else { return nil }
        return try File.contents(of: path, limit: 1 << 20)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        try FileManager.default.createDirectory(
            atPath: FilePath(path).removingLastComponent().string,
            withIntermediateDirectories: true
        )
        try LocalFileSystem().write(bytes, to: FilePath(path))
        // Everybody can see them through systemctl anyway, and systemd warns about unreadable ones.
        try File.open(FilePath(path)).setMode(0o644)
    }

    // The functions for the crontab.

    private func crontab() async throws -> Crontab {
        let result = try await SystemProgram.run("crontab", ["-l"])
        if result.ending == .exited(0) { return Crontab(result.output) }
        // For a user without a crontab, the exit code is 1, with this message.
        guard result.errors.contains("no crontab for") else {
            throw ScheduleError.program("crontab -l", reason: result.errors)
        }
        return Crontab([])
    }

    private func changeCrontab(_ change: (inout Crontab) throws -> Void) async throws {
        let before = try await crontab()
        var after = before
        try change(&after)
        guard after != before else { return }
        // The file of an empty crontab would stay.
        if after.bytes.isEmpty {
            try await SystemProgram.check("crontab", ["-r"])
        } else {
            try await SystemProgram.check("crontab", ["-"], input: after.bytes)
        }
    }
}
