internal import Foundation
internal import Remotes
internal import SystemPackage

extension Setting {
    /// The form of the paths in a setting's value.
    enum Paths {
        /// The value has no path.
        case noPath
        /// The value is a path, or the address of a remote folder.
        case whole
        /// Each line is a path.
        case lines
        /// Each line is a path, a public key, or the word for a password.
        case keys
        /// A path follows a word and a colon.
        case labelled
    }

    /// Returns a value from the command line or the environment in a form that does not depend on the working directory.
    ///
    /// - Parameters:
    ///   - value: the value; it is returned as it is if the setting has no path.
    ///   - key: the setting's key.
    /// - Returns: the value, with absolute paths.
    static func portable(_ value: String, of key: String) -> String {
        switch all.first(where: { $0.key == key })?.paths ?? .noPath {
        case .noPath: return value
        case .whole: return absolute(value)
        case .lines: return lines(of: value, absolute)
        case .keys: return lines(of: value) { KeySettings.isLiteral($0) ? $0 : absolute($0) }
        case .labelled:
            let parts = value.split(separator: ":", maxSplits: 1).map(String.init)
            return parts.count == 2 ? "\(parts[0]):\(absolute(parts[1]))" : value
        }
    }

    /// A path, which need not be set.
    static func path(
        _ key: String,
        environment: String? = nil,
        _ path: WritableKeyPath<Profile, FilePath?>
    ) -> Setting {
        Setting(
            key,
            environment: environment,
            path,
            paths: .whole,
            show: { $0.map { .text($0.string) } ?? .none },
            read: { FilePath(try $0.path()) }
        )
    }

    /// Returns a path or an address in a form that does not depend on the working directory.
    static func absolute(_ path: String) -> String {
        RemoteAddress(path).absolute {
            FilePath(FileManager.default.currentDirectoryPath).pushing($0).lexicallyNormalized()
        }.text
    }

    private static func lines(of value: String, _ change: (String) -> String) -> String {
        value.split(separator: "\n").map { change(String($0)) }.joined(separator: "\n")
    }
}
