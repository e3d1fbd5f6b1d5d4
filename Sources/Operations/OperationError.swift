public import Files
public import SystemPackage

/// Why an operation failed, and the state in which it left things.
public enum OperationError: ExplainedError {
    /// There is no stores directory.
    case noStores(FilePath)
    /// The stores directory is empty.
    case nothingToBackUp(FilePath)
    /// No backup has that name.
    case noBackup(String, address: String)
    /// There is no backup at all.
    case noBackups(String)
    /// Several backups have that in their names.
    case ambiguous(String, matches: [String])
    /// A backup failed; nothing was added to the remote folder.
    case backupFailed(any Error)
    /// An archive says things that cannot be true of it.
    case badManifest(String, reason: String)
    /// An archive without a manifest would unpack to more than a limit.
    case beyondLimit(String, reason: String, RestoreLimits.Kind)
    /// An archive's format is newer than this program.
    case newerFormat(String, format: Int)
    /// The remote folder is the stores directory, or in it.
    case remoteInsideStores(String, FilePath)
    /// A file with tags, notes and pins cannot be read.
    case badAnnotations(String, file: String)
    /// The policy would keep nothing.
    case keepsNothing(String)
    /// A name is taken by another backup.
    case nameTaken(String, address: String)
    /// No backup of that name was deleted lately.
    case notInTrash(String, address: String)
    /// A backup that is pinned is removed only once it is not.
    case pinned(String)
    /// A command of the user's failed that has to succeed.
    case commandFailed(event: String, command: String, CommandFailure)
    /// A command of the user's says that this is not the time for it.
    case skipped(command: String)
    /// A monitor could not be told.
    case pingFailed(host: String, reason: String)

    public var description: String {
        switch self {
        case .noStores(let path): "there is no stores directory '\(printable(path))'"
        case .nothingToBackUp(let path):
            "there is nothing to back up: '\(printable(path))' is empty"
        case .noBackup(let name, let address): "there is no backup named '\(name)' in '\(address)'"
        case .noBackups(let address): "there is no backup in '\(address)'"
        case .ambiguous(let name, let matches):
            "'\(name)' is in the names of \(matches.count) backups: \(matches.prefix(5).joined(separator: ", "))"
        case .backupFailed(let error): "backup failed, nothing was changed: \(explain(error))"
        case .badManifest(let name, let reason): "the manifest of '\(name)' is damaged: \(reason)"
        case .beyondLimit(let name, let reason, _): "'\(name)' is refused: \(reason)"
        case .newerFormat(let name, let format):
            "'\(name)' has archive format \(format), which is newer than this program"
        case .remoteInsideStores(let address, let stores):
            "the remote folder '\(address)' is inside the stores directory '\(printable(stores))'"
        case .badAnnotations(let address, let file):
            "the tags, notes and pins of '\(address)' cannot be read: '\(file)' is damaged"
        case .keepsNothing(let reason): "nothing was removed: \(reason)"
        case .nameTaken(let name, let address):
            "'\(name)' cannot come back: there is another backup of that name in '\(address)'"
        case .notInTrash(let name, let address):
            "there is no deleted backup named '\(name)' in '\(address)'"
        case .pinned(let name): "'\(name)' is pinned, and was not removed"
        case .commandFailed(let event, let command, let reason):
            "the '\(event)' command '\(Self.shortened(command))' \(reason)"
        case .skipped(let command):
            "skipped: the 'before' command '\(Self.shortened(command))' says so"
        case .pingFailed(let host, let reason): "cannot tell the monitor '\(host)': \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .noStores: "run 'grocerydude init' to make one, or name yours with '--stores DIR'"
        case .nothingToBackUp: "is it the right directory? name another with '--stores DIR'"
        case .noBackup: "run 'grocerydude list' to see what there is"
        case .noBackups: "run 'grocerydude backup' to make one"
        case .ambiguous: "give more of the name, or 'latest'"
        case .backupFailed(let error): (error as? any ExplainedError)?.hint
        case .badManifest:
            "restore another backup; 'unzip' may still get single files out of this one"
        case .beyondLimit(_, _, let limit):
            "this archive may be hostile; if you know where it is from, raise the limit with '--max-\(limit)'"
        case .newerFormat: "install a newer grocerydude"
        case .remoteInsideStores:
            "backups there would be lost with what they save: name another folder with '--remote'"
        case .badAnnotations(let address, _):
            "restore it, or if no pin in it matters, remove it: see '\(address)/\(Annotations.subfolder)'"
        case .keepsNothing:
            "say what to keep, for example '--keep-daily 7 --keep-weekly 5', or '--unsafe-allow-remove-all'"
        case .nameTaken: "rename that one first"
        case .notInTrash: "run 'grocerydude list --trash' to see what there is"
        case .pinned(let name): "run 'grocerydude unpin '\(name)'' first"
        case .commandFailed(_, let command, _):
            "run it by hand to see what it says: \(printable(bytes: command.utf8))"
        case .skipped, .pingFailed: nil
        }
    }

    /// A command line as far as a message has room for it.
    private static func shortened(_ command: String) -> String {
        let text = printable(bytes: command.utf8)
        return text.count > 60 ? text.prefix(57) + "..." : text
    }
}

/// An error of any module as one line.
public func explain(_ error: any Error) -> String {
    switch error {
    case let error as any ExplainedError: error.description
    case is CancellationError: "interrupted"
    default: "\(error)"
    }
}

/// Bytes as people read them: decimal units, `12.34 MB`.
public func byteCount(_ count: Int64) -> String {
    var value = Double(count)
    guard value >= 1000 else { return "\(count) bytes" }
    var unit = ""
    // What would be rounded up to 1000 belongs to the next unit.
    for next in ["kB", "MB", "GB", "TB", "PB"] where unit.isEmpty || value >= 999.995 {
        value /= 1000
        unit = next
    }
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(Timestamp.pad(hundredths % 100, 2)) \(unit)"
}

/// A number of things, in English.
public func counted(_ number: Int, _ singular: String, _ plural: String) -> String {
    "\(number) \(number == 1 ? singular : plural)"
}
