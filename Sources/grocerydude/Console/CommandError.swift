internal import Files

/// Why a command cannot go on, or cannot answer.
enum CommandError: ExplainedError {
    /// Something is to be replaced or deleted, without a terminal to ask on.
    case noTerminal
    /// The work is done, and its answer could not be written to standard output.
    case answerLost(FileError)
    /// The system gives fewer threads than Swift needs to run; nothing was begun.
    case tooFewThreads
    /// No backup is named, without a terminal to choose one on.
    case noBackupNamed
    /// A remote folder is linked, and another one is named.
    case alreadyLinked(profile: String?, to: String)
    /// All profiles have one remote folder, and one of them is to be unlinked.
    case linkedForAll(String, configuration: String)
    /// Unlinked, two profiles with different stores would have the built-in folder.
    case sharesDefault(String, with: String)
    /// Something is to be linked, and nothing is named.
    case nothingToLink
    /// A remote of rclone is named without the beginning that says so.
    case meansRclone(String)
    /// A file has the name that was taken for a store's and a table's.
    case meansFile(String)
    /// A file that a person named is no map.
    case badMap(String, reason: String)
    /// rclone asks questions, without a terminal to ask them on.
    case noTerminalForRclone(String)

    var description: String {
        switch self {
        case .noTerminal: "cannot ask for confirmation: no terminal"
        case .answerLost(let error): "the work is done, but the answer is lost: \(error)"
        case .tooFewThreads: "cannot begin: the system gives this user too few threads"
        case .noBackupNamed: "no backup is named, and there is no terminal to choose one on"
        case .alreadyLinked(let profile, let address):
            "\(profile.map { "'\($0)' is " } ?? "")already linked to '\(address)'"
        case .sharesDefault(let profile, let other):
            "'\(profile)' was not unlinked: it would share the built-in folder with '\(other)'"
        case .linkedForAll(let address, let configuration):
            "'\(address)' is linked for all profiles, at the top of '\(configuration)'"
        case .nothingToLink: "nothing is named to link to"
        case .meansRclone(let text): "there is no directory '\(text)'"
        case .meansFile(let name):
            "'\(name)' is no store with a table, but a file of that name is in the backup"
        case .badMap(let path, let reason): "'\(path)' is no map: \(reason)"
        case .noTerminalForRclone(let word):
            "cannot configure '\(word)': rclone asks questions, and there is no terminal"
        }
    }

    var hint: String? {
        switch self {
        case .noTerminal: "use '--yes' to go on without being asked"
        case .answerLost(let error): Hint.after(error)
        case .tooFewThreads: "raise the limit with 'ulimit -u', or that of the container or service"
        case .noBackupNamed: "name one, or 'latest': grocerydude restore latest"
        case .alreadyLinked: "use '--replace' to link another folder; the backups there stay"
        case .linkedForAll: "give each profile a 'remote' of its own, or remove it there"
        case .sharesDefault: "link it to another folder with 'grocerydude link DIR --replace'"
        case .nothingToLink:
            "name a directory, 'rclone:REMOTE:PATH', or one of rclone's providers such as dropbox"
        case .meansRclone(let text): "to mean a remote of rclone, write 'rclone:\(text)'"
        case .meansFile(let name): "to mean the file, write './\(name)'"
        case .badMap: #"a map is JSON, for example {"exclude": ["log"]}"#
        case .noTerminalForRclone:
            "run 'rclone config' on a terminal, then 'grocerydude link rclone:REMOTE:PATH'"
        }
    }
}
