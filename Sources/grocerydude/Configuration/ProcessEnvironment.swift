internal import Foundation
internal import SystemPackage

/// The variables of the process's environment when the program started.
enum ProcessEnvironment {
    private static let variables = ProcessInfo.processInfo.environment

    static func value(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether the locale has Unicode's characters (setlocale(3)): if not, signs are ASCII.
    static let isUnicode: Bool = {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(ProcessEnvironment.value).first
        return locale?.uppercased().contains("UTF") == true
    }()

    /// The names of the variables that are set.
    static var names: [String] { variables.filter { !$0.value.isEmpty }.keys.sorted() }

    /// The name of a variable of this program whose value is not UTF-8; `nil` if there is none.
    static var unreadable: String? {
        let used = ["GROCERYDUDE_", "XDG_", "RCLONE_"]
        return variables.keys.sorted().first { name in
            guard name == "HOME" || name == "TMPDIR" || used.contains(where: name.hasPrefix),
                let value = getenv(name)
            else { return false }
            return !UsageError.isText(value)
        }
    }

    /// Returns whether a variable is set, and empty.
    static func isEmpty(_ name: String) -> Bool { variables[name]?.isEmpty == true }

    /// Hides a variable from child processes; must be called before there are other threads.
    static func withhold(_ name: String) {
        _ = variables
        unsetenv(name)
    }

    // https://specifications.freedesktop.org/basedir-spec/latest/
    static var data: String { directory("XDG_DATA_HOME", else: ".local/share") }
    /// The default stores directory.
    static var stores: String { data + "/grocerydude/Stores" }
    static var cache: String { directory("XDG_CACHE_HOME", else: ".cache") }
    static var state: String { directory("XDG_STATE_HOME", else: ".local/state") }
    static var configuration: String { directory("XDG_CONFIG_HOME", else: ".config") }
    /// The directories with the program's keys, log, caches and configuration.
    static var ownDirectories: [(variable: String, path: FilePath)] {
        let places = [
            ("XDG_STATE_HOME", state), ("XDG_CONFIG_HOME", configuration),
            ("XDG_CACHE_HOME", cache),
        ]
        return places.map { ($0, FilePath($1 + "/grocerydude")) }
    }
    /// The home directory from HOME, or else from the system's list of users.
    static var home: String { value("HOME") ?? NSHomeDirectory() }

    /// The directory for temporary files: the first that can be used, as SQLite chooses its own.
    ///
    /// https://www.sqlite.org/tempfiles.html, 5.
    static var scratch: FilePath {
        let places = [NSTemporaryDirectory(), "/tmp", "/var/tmp"]
        let usable = places.first { access($0 + "/.", W_OK | X_OK) == 0 }
        return FilePath(usable ?? places[0])
    }

    private static func directory(_ name: String, else path: String) -> String {
        // The specification requires that relative paths be ignored.
        if let value = value(name), value.hasPrefix("/") { return value }
        return home + "/" + path
    }
}
