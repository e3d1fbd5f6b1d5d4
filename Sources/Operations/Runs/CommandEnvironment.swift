internal import Files
internal import SystemPackage

/// The environment variables that tell a command of the user's of the run that it belongs to.
struct CommandEnvironment {
    /// The command of the program that runs: `backup`.
    var command: String
    var profile: String?
    var stores: FilePath
    /// The remote folder's address, as `--remote` takes it.
    var remote: String
    /// The backup's file name, once it is known.
    var backup: String?
    /// The store that changes of others are written into, and the file that names its rows.
    var store: FilePath?
    var changes: FilePath?
    /// The end of the run, once it has ended.
    var exitCode: Int32?
    var error: String?

    /// An environment has little room, and no NUL.
    private static let errorLimit = 4000

    /// Returns the variables; `nil` for unknown ones, so that none is left from a run around this one.
    func variables(event: String) -> [String: String?] {
        [
            "GROCERYDUDE_EVENT": event,
            "GROCERYDUDE_COMMAND": command,
            "GROCERYDUDE_PROFILE": profile,
            "GROCERYDUDE_STORES": stores.string,
            "GROCERYDUDE_REMOTE": remote,
            "GROCERYDUDE_BACKUP": backup,
            "GROCERYDUDE_STORE": store?.string,
            "GROCERYDUDE_CHANGES": changes?.string,
            "GROCERYDUDE_EXIT_CODE": exitCode.map(String.init),
            "GROCERYDUDE_ERROR": error.map { printable(bytes: $0.prefix(Self.errorLimit).utf8) },
        ]
    }
}
