internal import Files
internal import SystemPackage

/// The environment variables that describe the run to one of the user's commands.
struct CommandEnvironment {
    /// The program's command, such as `backup`.
    var command: String
    var profile: String?
    var stores: FilePath
    /// The remote folder's address, as `--remote` takes it.
    var remote: String
    /// The backup's file name, once it is known.
    var backup: String?
    /// The store that others' changes are written to, and the file that lists its rows.
    var store: FilePath?
    var changes: FilePath?
    /// The result of the run, once it has ended.
    var exitCode: Int32?
    var error: String?

    /// The greatest length of an error in bytes: an environment has little room, and no NUL.
    private static let errorLimit = 4000

    /// Returns the variables; `nil` for unknown ones, so that an enclosing run's values are removed.
    func variables(event: String) -> [String: String?] {
        [
            "GROCERYDUDE_EVENT": event,
            "GROCERYDUDE_COMMAND": command,
            "GROCERYDUDE_PROFILE": profile,
            "GROCERYDUDE_STORES": stores.string,
            "GROCERYDUDE_REMOTE": remote.isEmpty ? nil : remote,
            "GROCERYDUDE_BACKUP": backup,
            "GROCERYDUDE_STORE": store?.string,
            "GROCERYDUDE_CHANGES": changes?.string,
            "GROCERYDUDE_EXIT_CODE": exitCode.map(String.init),
            "GROCERYDUDE_ERROR": error.map { printable(bytes: $0.prefix(Self.errorLimit).utf8) },
        ]
    }
}
