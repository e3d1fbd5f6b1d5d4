internal import Files
internal import Foundation
internal import SystemPackage

/// Puts jobs where a kind of schedule finds them, and takes them away.
struct ScheduleInstallation {
    let kind: ScheduleKind
    /// Whether what runs jobs is told of them, and not only files are written.
    var enables = true

    /// Whether anything runs a profile's operation by the clock.
    ///
    /// - Throws: `FileError`, `ScheduleError`.
    static func has(_ operation: ScheduledJob.Operation, of profile: Profile) throws -> Bool {
        let name = ScheduledJob.name(operation, of: profile)
        return try ScheduleKind.allCases.contains {
            try !ScheduleInstallation(kind: $0).installed(name).isEmpty
        }
    }

    /// What is there for a job; empty where it is not installed.
    ///
    /// - Throws: `FileError`, `ScheduleError`.
    func installed(_ name: String) throws -> [ScheduleFile] {
        if kind == .cron {
            guard SystemProgram.path(of: "crontab") != nil,
                let block = try crontab().block(named: name)
            else { return [] }
            return [ScheduleFile(path: ScheduleFile.crontab, text: block)]
        }
        return try ScheduleFile.paths(of: name, kind).compactMap { path in
            try contents(of: path).map {
                ScheduleFile(path: path, text: String(decoding: $0, as: UTF8.self))
            }
        }
    }

    /// Installs a job, in the place of what has its name; where that fails, all is as it was.
    ///
    /// - Throws: `FileError`, `ScheduleError`.
    func install(_ job: ScheduledJob) throws {
        let files = try ScheduleFile.files(job, kind)
        if kind == .cron { return try changeCrontab { try $0.add(files[0].text, named: job.name) } }
        let before = try files.map { ($0.path, try contents(of: $0.path)) }
        do {
            for file in files { try write(Array(file.text.utf8), to: file.path) }
            try enable(job.name)
        } catch {
            for (path, bytes) in before {
                // The first failure is the one to tell of.
                if let bytes { try? write(bytes, to: path) } else { try? remove(path) }
            }
            if kind != .launchd, enables { _ = try? systemctl("daemon-reload") }
            throw error
        }
    }

    /// Removes a job.
    ///
    /// - Returns: the paths of what was there.
    /// - Throws: `FileError`, `ScheduleError`.
    func uninstall(_ name: String) throws -> [String] {
        let paths = try installed(name).map(\.path)
        guard !paths.isEmpty else { return [] }
        if kind == .cron {
            try changeCrontab { try $0.remove(name) }
            return paths
        }
        try disable(name)
        for path in paths { try remove(path) }
        if kind != .launchd, enables { try systemctl("daemon-reload") }
        return paths
    }

    private func enable(_ name: String) throws {
        guard enables else { return }
        switch kind {
        case .systemdUser, .systemdSystem:
            try systemctl("daemon-reload")
            try systemctl("enable", "--now", "\(name).timer")
        case .launchd:
            // It may be there already, in an older form.
            _ = try SystemProgram.run(
                "launchctl",
                ["bootout", "gui/\(getuid())/\(LaunchAgent.label(name))"]
            )
            try SystemProgram.check(
                "launchctl",
                ["bootstrap", "gui/\(getuid())"] + ScheduleFile.paths(of: name, kind)
            )
        case .cron: break
        }
    }

    private func disable(_ name: String) throws {
        guard enables else { return }
        switch kind {
        case .systemdUser, .systemdSystem: try systemctl("disable", "--now", "\(name).timer")
        case .launchd:
            _ = try SystemProgram.run(
                "launchctl",
                ["bootout", "gui/\(getuid())/\(LaunchAgent.label(name))"]
            )
        case .cron: break
        }
    }

    private func systemctl(_ arguments: String...) throws {
        try SystemProgram.check(
            "systemctl",
            (kind == .systemdUser ? ["--user"] : []) + arguments
        )
    }

    // Files.

    private func contents(of path: String) throws -> [UInt8]? {
        let path = FilePath(path)
        guard try FileInfo.ifPresent(path) != nil else { return nil }
        let file = try File.open(path)
        return try file.readExactly(count: Int(file.info().size), at: 0)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        try FileManager.default.createDirectory(
            atPath: FilePath(path).removingLastComponent().string,
            withIntermediateDirectories: true
        )
        try LocalFileSystem().write(bytes, to: FilePath(path))
        // Anybody may see them through systemctl anyway, and systemd grumbles where they cannot.
        try File.open(FilePath(path)).setMode(0o644)
    }

    private func remove(_ path: String) throws {
        try LocalFileSystem().remove(FilePath(path))
    }

    // The crontab.

    private func crontab() throws -> Crontab {
        let outcome = try SystemProgram.run("crontab", ["-l"])
        if outcome.status == 0 { return Crontab(outcome.output) }
        // Who has none yet is told so, with 1.
        guard outcome.errors.contains("no crontab for") else {
            throw ScheduleError.program("crontab -l", reason: outcome.errors)
        }
        return Crontab([])
    }

    private func changeCrontab(_ change: (inout Crontab) throws -> Void) throws {
        let before = try crontab()
        var after = before
        try change(&after)
        if after != before { try SystemProgram.check("crontab", ["-"], input: after.bytes) }
    }
}
