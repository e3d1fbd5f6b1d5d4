public import Files

/// An error about the backups of a folder; nothing was changed.
public enum BackupFolderError: ExplainedError, Equatable {
    /// No backup has the name.
    case noBackup(String, address: String, nearest: String? = nil)
    /// The folder has no backup.
    case noBackups(String)
    /// No backup was made at a moment or before it.
    case noneUntil(String, address: String)
    /// No backup is of this stores directory; the folder has those of others, by their names.
    case ofOthers(String, [String])
    /// The folder has safety backups only.
    case onlySafetyBackups(String)
    /// The folder has no safety backup of a restore that took effect.
    case nothingToUndo(String)
    /// All safety backups are of other stores directories.
    case undoneElsewhere(String, newest: String?)
    /// Several safety backups may be meant, since they name no stores directory.
    case unknownUndo(String, [String])
    /// Several backups have the text in their names.
    case ambiguous(String, matches: [String])
    /// A file with annotations cannot be read.
    case badAnnotations(String, file: String)
    /// The name belongs to another backup.
    case nameTaken(String, address: String)
    /// An arriving archive has the name of another backup.
    case taken(String, address: String)
    /// No backup of the name was deleted recently.
    case notInTrash(String, address: String)
    /// The deleted increment was made a full backup, which is in the folder.
    case consolidated(String, whole: String)
    /// An archive does not fit into the free space where it is to be fetched.
    case noSpace(String, needed: Int64, available: Int64)
    /// The backup is pinned, and can be removed only after it is unpinned.
    case pinned(String)
    /// The backup's archive has no end.
    case notReady(String)
    /// Other backups need this one, so that it cannot be removed alone.
    case needed(String, by: [String])
    /// Other backups, which cannot be read here, may need this one, so that it cannot be removed.
    case perhapsNeeded(String, by: [String])
    /// The increment cannot be restored, because a backup that it needs is missing.
    ///
    /// The `others` cannot be restored either. `whole` is the newest backup of the folder that can be restored.
    case missingNeed(
        String,
        need: String,
        address: String,
        others: [String] = [],
        whole: String? = nil
    )

    public var outcome: FailureOutcome {
        switch self {
        case .noBackup, .noBackups, .onlySafetyBackups, .nothingToUndo, .ambiguous, .notInTrash,
            .missingNeed, .noneUntil, .ofOthers, .undoneElsewhere, .unknownUndo:
            .notFound
        case .badAnnotations, .consolidated, .nameTaken, .taken, .pinned, .notReady, .needed,
            .perhapsNeeded:
            .failed
        case .noSpace: .noSpace
        }
    }

    public var description: String {
        switch self {
        case .noBackup(let name, let address, _):
            "there is no backup named '\(name)' in '\(address)'"
        case .noBackups(let address): "there is no backup in '\(address)'"
        case .noneUntil(let moment, let address):
            "there is no backup of \(moment) or before in '\(address)'"
        case .ofOthers(let address, let names):
            "no backup in '\(address)' is of this stores directory: there are those of \(names.prefix(5).map { "'\($0)'" }.joined(separator: ", "))"
        case .onlySafetyBackups(let address):
            "'\(address)' has only safety backups, which restores made"
        case .nothingToUndo(let address):
            "there is no restore to undo: '\(address)' has no safety backup of one that took effect"
        case .undoneElsewhere(let address, _):
            "there is no restore of this stores directory to undo: all safety backups in '\(address)' are of another machine or stores directory, or not signed by a known machine"
        case .unknownUndo(let address, let names):
            "it is not known which restore to undo: \(names.count) safety backups in '\(address)' do not name their stores directory: \(names.prefix(5).joined(separator: ", "))"
        case .ambiguous(let name, let matches):
            "'\(name)' matches \(matches.count) backups: \(matches.prefix(5).joined(separator: ", "))"
        case .badAnnotations(let address, let file):
            "the tags, notes and pins of '\(address)' cannot be read: '\(file)' is damaged"
        case .nameTaken(let name, let address):
            "'\(name)' cannot come back: there is another backup of that name in '\(address)'"
        case .taken(let name, let address):
            "there is another backup named '\(name)' in '\(address)'"
        case .consolidated(let name, let whole):
            "'\(name)' was not brought back: '\(whole)' is the same backup, as a whole one"
        case .notInTrash(let name, let address):
            "there is no deleted backup named '\(name)' in '\(address)'"
        case .noSpace(let path, let needed, let available):
            "no space to fetch the archive to '\(path)': \(byteCount(needed)) are needed and \(byteCount(available)) are free"
        case .pinned(let name): "'\(name)' is pinned, and was not removed"
        case .notReady(let name): "'\(name)' is not ready: \(Backup.notReady)"
        case .needed(let name, let others):
            "'\(name)' is needed by \(counted(others.count, "other backup", "other backups")), '\(others.first ?? "")' first, and was not removed"
        case .perhapsNeeded(let name, let others):
            "'\(name)' was not removed: it may be needed by \(counted(others.count, "other backup", "other backups")) whose bases cannot be read here: \(others.prefix(5).joined(separator: ", "))\(others.count > 5 ? ", …" : "")"
        case .missingNeed(let name, let need, let address, let others, _):
            "'\(name)' is built on '\(need)', which is not in '\(address)'" + Self.alike(others)
        }
    }

    /// Returns words on other backups that need the same one.
    private static func alike(_ others: [String]) -> String {
        if others.isEmpty { return "" }
        let names = "\(others.prefix(5).joined(separator: ", "))\(others.count > 5 ? ", …" : "")"
        return
            "; so \(others.count == 1 ? "is" : "are") \(counted(others.count, "other backup", "other backups")): \(names)"
    }

    public var hint: String? {
        switch self {
        case .ambiguous: "give more of the name"
        case .ofOthers: "see them with 'grocerydude list', and name the right one"
        case .badAnnotations(let address, let file):
            "restore it, or if no pin in it matters, remove it: see '\(address)/\(file)'"
        case .nameTaken: "rename that one first"
        case .taken: "add '--same-name number' for the next number, or '--same-name replace'"
        case .noSpace:
            "free some space there, or fetch to another disk with '--set staging=DIR'"
        case .pinned(let name): "run \(Advice.quoted(Advice.command("pin --off", name))) first"
        case .notReady: "wait for it with '--wait 10m', or choose another: \(Advice.list)"
        case .needed(_, let others):
            "add '--with-dependants' to delete those too, or first make the dependent backups full: "
                + Advice.command("consolidate", others.first ?? "NAME")
        case .perhapsNeeded(_, let others):
            "name the file of their secret key with '--identity'; if nobody needs them, delete them first: "
                + Advice.command("delete", others.first ?? "NAME")
        case .missingNeed(_, _, _, _, let whole?):
            "bring that one back, or restore the newest whole one: \(Advice.command("restore", whole))"
        case .missingNeed: "\(Advice.list) to choose another"
        case .onlySafetyBackups:
            "restore the newest of them with 'grocerydude restore --undo'"
        case .undoneElsewhere(_, let newest):
            "see them with 'grocerydude list', and name the right one: \(Advice.command("restore", newest ?? "NAME"))"
        case .unknownUndo(_, let names):
            "name the right one: \(Advice.command("restore", names.first ?? "NAME"))"
        case .noBackup(_, _, let nearest?):
            "did you mean '\(nearest)'? \(Advice.list) to see what there is"
        case .noBackup, .noneUntil, .nothingToUndo: "\(Advice.list) to see what there is"
        case .noBackups:
            "name another folder with '--remote'; deleted backups are in 'grocerydude list --trash'; to make one, run 'grocerydude backup'"
        case .consolidated(_, let whole):
            "nothing is missing; to see it, run \(Advice.quoted(Advice.command("show", whole)))"
        case .notInTrash: "run 'grocerydude list --trash' to see what there is"
        }
    }
}
