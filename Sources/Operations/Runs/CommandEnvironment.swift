internal import Files
public import SystemPackage

/// The environment variables that tell a command of the user's of the run that it belongs to.
public struct CommandEnvironment: Sendable, Equatable {
    /// The command of the program that runs: `backup`.
    public var command: String
    public var profile: String?
    public var stores: FilePath
    /// The remote folder's address, as `--remote` takes it.
    public var remote: String
    /// The backup's file name, once it is known.
    public var backup: String?
    /// How the run ended, once it has.
    public var exitCode: Int32?
    public var error: String?

    public init(command: String, stores: FilePath, remote: String) {
        self.command = command
        self.stores = stores
        self.remote = remote
    }

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
            "GROCERYDUDE_EXIT_CODE": exitCode.map(String.init),
            "GROCERYDUDE_ERROR": error.map { printable(bytes: $0.prefix(Self.errorLimit).utf8) },
        ]
    }
}
