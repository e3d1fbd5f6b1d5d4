internal import Foundation

/// The variables of the process's environment, as they were when the program began.
enum ProcessEnvironment {
    private static let variables = ProcessInfo.processInfo.environment

    static func value(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Keeps a variable from the programs that this one starts; to be called before there are other threads.
    static func withhold(_ name: String) {
        _ = variables
        unsetenv(name)
    }

    // https://specifications.freedesktop.org/basedir-spec/latest/
    static var data: String { directory("XDG_DATA_HOME", else: ".local/share") }
    static var cache: String { directory("XDG_CACHE_HOME", else: ".cache") }
    static var state: String { directory("XDG_STATE_HOME", else: ".local/state") }
    static var configuration: String { directory("XDG_CONFIG_HOME", else: ".config") }
    /// The home directory: as HOME says, else as the system's list of users does.
    static var home: String { value("HOME") ?? NSHomeDirectory() }

    private static func directory(_ name: String, else path: String) -> String {
        // A relative path in such a variable is to be ignored.
        if let value = value(name), value.hasPrefix("/") { return value }
        return home + "/" + path
    }
}
