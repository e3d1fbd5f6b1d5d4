internal import Files
internal import Foundation
internal import Operations
internal import Remotes
internal import SystemPackage

/// A command that a scheduler runs, with everything that it needs.
struct ScheduledJob {
    /// The command, one of `Run.Command.scheduled`.
    let command: Run.Command
    let profile: Profile
    let schedule: Schedule
    /// The settings that the installation was given, by key; paths are absolute.
    let settings: [String: String]
    /// The program's absolute path.
    let program: String

    /// Creates a command's job; `nil` if the profile has no schedule for the command.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - profile: the settings in force, with those of the options.
    ///   - flags: the options of the installation, without its schedule.
    ///   - program: the program's path.
    init?(
        _ command: Run.Command,
        of profile: Profile,
        flags: [FlagValue] = [],
        program: String
    ) {
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
        settings = Dictionary(flags.map { ($0.key, Setting.portable($0.value, of: $0.key)) }) { $1 }
    }

    /// The name of its unit, or of its block in the crontab.
    var name: String { Self.name(command, of: profile.name) }

    static func name(_ command: Run.Command, of profile: String?) -> String {
        (["grocerydude", command.rawValue] + [profile].compactMap(\.self)).joined(separator: "-")
    }

    /// Returns the profile of a job's name, which may be none; `nil` if no job has such a name.
    static func profile(of name: String) -> String?? {
        for command in Run.Command.scheduled {
            let own = Self.name(command, of: nil)
            if name == own { return .some(nil) }
            if name.hasPrefix(own + "-") { return String(name.dropFirst(own.count + 1)) }
        }
        return nil
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

    /// The command and its options, without the program.
    var arguments: [String] {
        var arguments = [command.rawValue]
        if let pace = schedule.pace { arguments += ["--every", pace] }
        return arguments + commonArguments
    }

    /// The command that notifies of a run that failed and could not report it.
    var failureArguments: [String] { ["notify", "failed", command.rawValue] + commonArguments }

    /// The command that notifies of missed runs; `nil` if it would notify nobody.
    var missedArguments: [String]? {
        guard command == .backup, !profile.notify.isEmpty, profile.notifyOn.contains(.missed)
        else { return nil }
        return ["notify", "missed"] + commonArguments
    }

    private var commonArguments: [String] {
        var arguments: [String] = []
        if let name = profile.name { arguments += ["--profile", name] }
        arguments.append("--quiet")
        if let file = profile.file,
            file != ProcessEnvironment.home + "/.config/grocerydude/config.yaml"
        {
            arguments += ["--config", file]
        }
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) {
            arguments += ["--set", "\(key)=\(value)"]
        }
        return arguments
    }

    /// The variables that the run needs in its environment, with their values at the installation.
    var environment: [(name: String, value: String)] {
        var variables: [(String, String)] = []
        for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            if let value = ProcessEnvironment.value(name) { variables.append((name, value)) }
        }
        for (key, name, value) in variablesInForce {
            variables.append((name, Setting.portable(value, of: key)))
        }
        if isRemoteOfRclone, let path = ProcessEnvironment.value("RCLONE_CONFIG") {
            variables.append(("RCLONE_CONFIG", Setting.absolute(path)))
        }
        // Schedulers search for programs in fewer directories than a shell.
        if isRemoteOfRclone, let rclone = SystemProgram.path(of: "rclone") {
            let directory = FilePath(rclone).removingLastComponent().string
            if !["/usr/bin", "/bin"].contains(directory) {
                variables.append(("PATH", "\(directory):/usr/bin:/bin"))
            }
        }
        return variables
    }

    /// The settings from the environment, with their variables.
    private var variablesInForce: [(key: String, variable: String, value: String)] {
        Setting.all.filter { !$0.key.hasSuffix("schedule") }.compactMap { setting in
            guard case .environment(let name) = profile.origin(of: setting.key),
                let value = ProcessEnvironment.value(name)
            else { return nil }
            return (setting.key, name, value)
        }
    }

    /// Throws `ScheduleError.secret` if a variable that the run needs may contain a secret.
    ///
    /// Everybody may read units, and the arguments of the shell that cron starts.
    func refuseSecrets() throws {
        let given = settings.map { (key: $0.key, variable: "'--set \($0.key)'", value: $0.value) }
        for (key, name, value) in variablesInForce + given {
            let isSecret =
                ["ping_url", "password_command", "notify"].contains(key)
                || RemoteAddress(value).mayHaveSecret
            if isSecret { throw ScheduleError.secret(variable: name, key: key) }
        }
    }

    /// The facts that only the installation's environment has, with ways to provide them to the run.
    var missing: [String] {
        var missing: [String] = []
        let keys = profile.keys
        let isSaid = ProcessEnvironment.value(KeyRing.passwordVariable) != nil
        if keys.passwordFile == nil, keys.passwordCommand == nil,
            isSaid || keys.recipients.contains(KeySettings.passwordWord)
        {
            missing.append(
                "'\(name)' will not have the password\(isSaid ? " of \(KeyRing.passwordVariable)" : ""): set 'password_command' or 'password_file' in the configuration"
            )
        }
        let variables = ProcessEnvironment.names.filter {
            $0.hasPrefix("RCLONE_") && $0 != "RCLONE_CONFIG"
        }
        if isRemoteOfRclone, !variables.isEmpty {
            missing.append(
                "'\(name)' will not have \(variables.joined(separator: ", ")): write it into rclone's configuration with 'rclone config'"
            )
        }
        return missing
    }

    var isRemoteOfRclone: Bool { folder.map { RemoteAddress($0).isOfRclone } ?? false }

    /// The folder that it writes to; `nil` if only the stores' sidecars know it.
    private var folder: String? { command == .sync ? profile.sync.container : profile.remote }

    /// The reason why its needs are unknown; `nil` if they are known.
    var needsAnything: String? {
        let lines = profile[hooksFor: command].commands.values.joined()
        let imports = profile.sync.commands.willImport + profile.sync.commands.didImport
        if !lines.isEmpty || command == .sync && !imports.isEmpty {
            return "the profile's hooks may need anything"
        }
        if profile.notify.contains(where: \.needsProgram) {
            return "the programs that notify may need anything"
        }
        return folder == nil ? "the configuration names no 'sync.container'" : nil
    }

    /// The directories in which it writes; some may not exist.
    var writtenPaths: [String] {
        let stores = Setting.absolute(profile.stores.string)
        // An interrupted restore is finished or undone beside the stores directory.
        var paths = [FilePath(stores).removingLastComponent().string] + keptPaths
        if isRemoteOfRclone {
            // rclone keeps its new tokens in its configuration.
            let file = ProcessEnvironment.value("RCLONE_CONFIG").map(Setting.absolute)
            paths.append(
                file.map { FilePath($0).removingLastComponent().string }
                    ?? ProcessEnvironment.configuration + "/rclone"
            )
        } else if let folder {
            paths.append(Setting.absolute(folder))
        }
        if command == .sync {
            // Sync writes into the stores themselves.
            paths.append(stores)
        }
        if let metrics = profile.metricsFile {
            paths.append(FilePath(Setting.absolute(metrics.string)).removingLastComponent().string)
        }
        return paths.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The places on this machine that must be mounted for a run.
    var neededPaths: [String] {
        let folder = isRemoteOfRclone ? nil : folder.map(Setting.absolute)
        return [Setting.absolute(profile.stores.string)] + [folder].compactMap(\.self)
    }

    /// The program's own directories.
    var keptPaths: [String] {
        [ProcessEnvironment.cache + "/grocerydude", ProcessEnvironment.state + "/grocerydude"]
    }

    /// The path by which the program was started; a link to it stays valid after an update.
    static var runningProgram: String {
        let name = ProgramArguments.all.first ?? ""
        if name.contains("/") { return Setting.absolute(name) }
        return SystemProgram.path(of: name) ?? Bundle.main.executablePath ?? name
    }
}
