internal import Foundation
internal import Operations
internal import Remotes
internal import SystemPackage

/// A command that a scheduler runs, and all that it needs for that.
struct ScheduledJob {
    /// One of `Run.Command.scheduled`.
    let command: Run.Command
    let profile: Profile
    let schedule: Schedule
    /// The program's absolute path.
    let program: String

    /// - Returns: `nil` if the profile has no schedule for the command.
    init?(_ command: Run.Command, of profile: Profile, program: String) {
        let schedule =
            switch command {
            case .sync: profile.sync.schedule
            case .check: profile.check.schedule
            default: profile.schedule
            }
        guard let schedule else { return nil }
        self.command = command
        self.profile = profile
        self.schedule = schedule
        self.program = program
    }

    /// The name of its unit, or of its block of the crontab.
    var name: String { Self.name(command, of: profile) }

    static func name(_ command: Run.Command, of profile: Profile) -> String {
        (["grocerydude", command.rawValue] + [profile.name].compactMap(\.self))
            .joined(separator: "-")
    }

    /// The purpose of the job, for people.
    var title: String {
        let what =
            switch command {
            case .sync: "Sync of the stores"
            case .check: "Check of the backups"
            default: "Backup"
            }
        return profile.name.map { "\(what) of the profile \($0)" } ?? what
    }

    /// The command, without the program.
    var arguments: [String] {
        var arguments = [command.rawValue]
        if let pace = schedule.pace { arguments += ["--every", pace] }
        if let name = profile.name { arguments += ["--profile", name] }
        arguments.append("--quiet")
        if let file = profile.file,
            file != ProcessEnvironment.home + "/.config/grocerydude/config.yaml"
        {
            arguments += ["--config", file]
        }
        return arguments
    }

    /// The variables that the run must find in its environment, as they were when it was scheduled.
    var environment: [(name: String, value: String)] {
        var variables: [(String, String)] = []
        for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            if let value = ProcessEnvironment.value(name) { variables.append((name, value)) }
        }
        for setting in Setting.all where !setting.key.hasSuffix("schedule") {
            guard case .environment(let name) = profile.origin(of: setting.key),
                let value = ProcessEnvironment.value(name)
            else { continue }
            let isPath = ["stores", "remote", "metrics_file", "sync.container"].contains(
                setting.key
            )
            variables.append((name, isPath ? Self.absolute(value) : value))
        }
        // Schedulers look for programs in fewer directories than a shell.
        if isRemoteOfRclone, let rclone = SystemProgram.path(of: "rclone") {
            let directory = FilePath(rclone).removingLastComponent().string
            if !["/usr/bin", "/bin"].contains(directory) {
                variables.append(("PATH", "\(directory):/usr/bin:/bin"))
            }
        }
        return variables
    }

    var isRemoteOfRclone: Bool { folder?.hasPrefix(RcloneFolder.scheme) == true }

    /// The folder that it writes to; `nil` if only the stores' sidecars know it.
    private var folder: String? { command == .sync ? profile.sync.container : profile.remote }

    /// Why it may need anything; `nil` if all that it needs is known.
    var needsAnything: String? {
        let lines = profile[hooksFor: command].commands.values.joined()
        let imports = profile.sync.commands.willImport + profile.sync.commands.didImport
        if !lines.isEmpty || command == .sync && !imports.isEmpty {
            return "the profile's hooks may need anything"
        }
        return folder == nil ? "the configuration names no 'sync.container'" : nil
    }

    /// Directories in which it writes; some may not be there.
    var writtenPaths: [String] {
        let stores = Self.absolute(profile.stores.string)
        // A restore that was interrupted is finished or undone, beside the stores directory.
        var paths = [FilePath(stores).removingLastComponent().string] + keptPaths
        if isRemoteOfRclone {
            paths.append(ProcessEnvironment.configuration + "/rclone")
        } else if let folder {
            paths.append(Self.absolute(folder))
        }
        if command == .sync {
            // It writes into the stores themselves.
            paths.append(stores)
        }
        if let metrics = profile.metricsFile {
            paths.append(FilePath(Self.absolute(metrics.string)).removingLastComponent().string)
        }
        return paths.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The program's own directories.
    var keptPaths: [String] {
        [ProcessEnvironment.cache + "/grocerydude", ProcessEnvironment.state + "/grocerydude"]
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix(RcloneFolder.scheme)
            ? path
            : FilePath(FileManager.default.currentDirectoryPath).pushing(FilePath(path))
                .lexicallyNormalized().string
    }

    /// The path by which the program was started: a link to it stays right when it is updated.
    static var runningProgram: String {
        let name = CommandLine.arguments.first ?? ""
        if name.contains("/") { return absolute(name) }
        return SystemProgram.path(of: name) ?? Bundle.main.executablePath ?? name
    }
}
