internal import ArgumentParser
internal import Foundation

/// Which configuration, and which profile of it.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The configuration; else GROCERYDUDE_CONFIG, else $XDG_CONFIG_HOME/grocerydude/config.yaml.",
            valueName: "file"
        ),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var configuration: String?

    @Option(
        help: ArgumentHelp(
            "The profile in the configuration; else GROCERYDUDE_PROFILE.",
            valueName: "name"
        )
    )
    var profile: String?

    /// The profile that somebody named.
    var chosenProfile: String? { profile ?? Surroundings.value("GROCERYDUDE_PROFILE") }
}

/// Which stores directory: named, or of a profile.
struct StoresOptions: ParsableArguments {
    @OptionGroup var configuration: ConfigurationOptions

    @Option(
        name: .customLong("stores"),
        help: ArgumentHelp(
            "The directory with the application's data; else GROCERYDUDE_STORES, else the profile's.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var path: String?

    var flags: [FlagValue] { [FlagValue("--stores", "stores", path)].compactMap(\.self) }
}

/// Which remote folder.
struct RemoteOptions: ParsableArguments {
    @Option(
        name: .customLong("remote"),
        help: ArgumentHelp(
            "The folder that backups are in: a directory, or 'rclone:REMOTE:PATH'; else GROCERYDUDE_REMOTE, else the profile's.",
            valueName: "folder"
        ),
        completion: .directory
    )
    var address: String?

    @Option(help: ArgumentHelp("How long to wait for another run: 60s, 5m, 1h.", valueName: "time"))
    var lockWait: WaitTime?

    var flags: [FlagValue] {
        [
            FlagValue("--remote", "remote", address),
            FlagValue("--lock-wait", "lock_wait", lockWait?.text),
        ].compactMap(\.self)
    }
}

/// Who else wants to know how a run went.
struct MetricsOptions: ParsableArguments {
    @Option(
        name: .customLong("metrics-file"),
        help: ArgumentHelp(
            "Write a text file for Prometheus' node exporter, whatever became of the run.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    var flags: [FlagValue] {
        [FlagValue("--metrics-file", "metrics_file", file)].compactMap(\.self)
    }
}

/// How to speak.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Answer in JSON.")
    var json = false

    @Flag(
        name: .shortAndLong,
        help: "Say nothing where all went well but what was asked for, and an error in one line."
    )
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say more.")
    var verbose = false

    @Flag(help: "Show no progress bar.")
    var noProgress = false

    @Flag(help: .hidden)
    var timings = false
}

/// A length of time as people type it.
struct WaitTime: ExpressibleByArgument, Equatable {
    let duration: Duration
    /// As it was typed.
    let text: String

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let seconds: [String: Int] = ["": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let number = Int(digits),
            let unit = seconds[String(argument.dropFirst(digits.count))],
            number <= 1_000_000
        else { return nil }
        duration = .seconds(number * unit)
        text = argument
    }
}

/// What the environment says.
enum Surroundings {
    static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    // https://specifications.freedesktop.org/basedir-spec/latest/
    static var data: String { directory("XDG_DATA_HOME", else: ".local/share") }
    static var cache: String { directory("XDG_CACHE_HOME", else: ".cache") }
    static var state: String { directory("XDG_STATE_HOME", else: ".local/state") }
    static var configuration: String { directory("XDG_CONFIG_HOME", else: ".config") }
    /// cron says where it is; where nobody does, the system's list of users does.
    static var home: String { value("HOME") ?? NSHomeDirectory() }

    private static func directory(_ name: String, else path: String) -> String {
        // A relative path in such a variable is to be ignored.
        if let value = value(name), value.hasPrefix("/") { return value }
        return home + "/" + path
    }
}
