internal import Files
internal import Foundation

/// An error that keeps a command from continuing or answering.
enum CommandError: ExplainedError {
    /// Data has to be replaced or deleted, but there is no terminal for the question.
    case noTerminal
    /// The work is done, but its answer could not be written to standard output.
    case answerLost(FileError)
    /// The process file system is not mounted; nothing was started.
    case noProcesses
    /// The system provides fewer threads than Swift needs; nothing was started.
    case tooFewThreads
    /// A limit leaves less memory than these bytes; nothing was started.
    case tooLittleMemory(Int64)
    /// No backup is named, and there is no terminal to choose one.
    case noBackupNamed
    /// The last restore made no safety backup; the newest one is of a restore before.
    case restoreWithoutSafety(of: String?, older: String)
    /// The last restore was from another folder, which has its safety backup.
    case undoElsewhere(String)
    /// The safety backup of the last restore was deleted.
    case undoDeleted(String)
    /// The safety backup of the last restore is neither in the folder nor waiting for it.
    case undoGone(String)
    /// The program that opens a page is not installed.
    case noBrowser(String, page: String)
    /// The last restore changed nothing of the named paths; a restore before may have.
    case notChangedByRestore([String], safety: String)
    /// Another remote folder is linked already.
    case alreadyLinked(profile: String?, to: String)
    /// The profile is of another stores directory.
    case ofOtherStores(profile: String?, String)
    /// The remote folder to unlink belongs to all profiles.
    case linkedForAll(String, at: String)
    /// Nothing to link is named.
    case nothingToLink
    /// The text was taken for a store and a table, but a file has that name.
    case meansFile(String)
    /// The file to write is there, and is no report.
    case notAReport(String)
    /// The named file is no map.
    case badMap(String, reason: String)
    /// No backup and no trusted key is of this machine.
    case noSigner(String)
    /// Several keys have signed backups of this machine.
    case severalSigners(String, [String])
    /// The newest backup has no trusted signature, and nobody can be asked.
    case notTrusted(String, reason: String, origin: String?)
    /// The newest backup lacks data, and nobody can be asked.
    case doubtful(String, reason: String, isDamaged: Bool, isRestore: Bool = true)
    /// Backups are encrypted, but the store is to take part in sync, which does not encrypt.
    case syncIsPlain
    /// No notification is configured that could be sent.
    case noNotifications
    /// rclone has to ask questions, but there is no terminal.
    case noTerminalForRclone(String)

    var outcome: FailureOutcome {
        switch self {
        case .answerLost: .partial
        case .noProcesses, .tooFewThreads, .alreadyLinked, .ofOtherStores, .badMap, .notAReport,
            .noBrowser:
            .failed
        case .noSigner, .restoreWithoutSafety, .undoElsewhere, .undoDeleted, .undoGone,
            .notChangedByRestore:
            .notFound
        case .doubtful(_, _, true, _), .doubtful(_, _, _, false): .damaged
        case .notTrusted, .doubtful: .restoreFailed
        default: .usage
        }
    }

    var description: String {
        switch self {
        case .noTerminal: "cannot ask for confirmation: no terminal"
        case .answerLost(let error): "the work is done, but the answer is lost: \(error)"
        case .noProcesses: "cannot begin: '/proc' is not mounted"
        case .tooFewThreads: "cannot begin: the system gives this user too few threads"
        case .tooLittleMemory(let bytes):
            "cannot begin: the limit on this program's memory leaves less than \(byteCount(bytes))"
        case .noBackupNamed: "no backup is named, and there is no terminal to choose one on"
        case .restoreWithoutSafety(let backup, _):
            "the last restore\(backup.map { ", from '\($0)'," } ?? "") made no safety backup: it cannot be undone"
        case .undoElsewhere(let address):
            "the last restore was from '\(address)', where its safety backup is"
        case .noBrowser(let name, _): "the program '\(name)' is not installed"
        case .undoDeleted(let name): "the safety backup '\(name)' was deleted"
        case .undoGone(let address): "the last restore's safety backup is gone from '\(address)'"
        case .notChangedByRestore(let paths, let safety):
            "the last restore, which made '\(safety)', changed nothing of '\(paths.joined(separator: "', '"))'"
        case .alreadyLinked(let profile, let address):
            "\(profile.map { "'\($0)' is " } ?? "")already linked to '\(address)'"
        case .ofOtherStores(let profile, let path):
            "\(profile.map { "'\($0)'" } ?? "the configuration") is of '\(path)', which would not be backed up any more"
        case .linkedForAll(let address, let place):
            "'\(address)' is linked for all profiles, in '\(place)'"
        case .nothingToLink: "no folder is named to link to"
        case .meansFile(let name):
            "'\(name)' is no store with a table, but the backup has a file or a directory of that name"
        case .notAReport(let path): "'\(path)' exists, and is not a report of this program"
        case .badMap(let path, let reason): "'\(path)' is not a map: \(reason)"
        case .noSigner(let name): "'\(name)' has neither a signed backup nor a trusted key"
        case .severalSigners(let name, let keys):
            "several keys signed backups of '\(name)': \(keys.joined(separator: ", "))"
        case .notTrusted(let backup, let reason, _): "'\(backup)' is the newest, but \(reason)"
        case .doubtful(let backup, let reason, _, _):
            "nothing was changed: '\(backup)', the newest, \(reason)"
        case .syncIsPlain:
            "backups are encrypted, but sync would write all rows unencrypted into its container, and keep an unencrypted copy of the store, 'before.sqlite', on this machine"
        case .noNotifications: "there is nobody to notify: 'notify' is not set"
        case .noTerminalForRclone(let word):
            "cannot configure '\(word)': rclone asks questions, and there is no terminal"
        }
    }

    private static func choice(besides backup: String, _ isRestore: Bool) -> String {
        let choice = "see the others with 'grocerydude list', and name one"
        guard isRestore else { return choice }
        return "\(choice); to restore this one, run: \(Advice.command("restore --yes", backup))"
    }

    var hint: String? {
        switch self {
        case .noTerminal: "use '--yes' to go on without being asked"
        case .answerLost(let error): error.hint
        case .noProcesses: "run 'mount -t proc proc /proc'"
        case .tooFewThreads: "raise the limit with 'ulimit -u', or that of the container or service"
        case .tooLittleMemory: "raise the limit with 'ulimit -v' or '-d', or that of the service"
        case .noBrowser(_, let page): "open '\(page)' yourself"
        case .noBackupNamed: "name one, or 'latest': grocerydude restore latest"
        case .restoreWithoutSafety(_, let older):
            "to go back to the data before an earlier restore, run \(Advice.quoted(Advice.command("restore", older)))"
        case .undoElsewhere(let address):
            "to undo it, run \(Advice.quoted("grocerydude restore --undo --remote \(shellWord(address))"))"
        case .undoDeleted(let name): "bring it back first: \(Advice.command("undelete", name))"
        case .undoGone: "\(Advice.list) to see what there is"
        case .notChangedByRestore(let paths, _):
            "run 'grocerydude list' for a backup made before an earlier restore, then \(Advice.quoted("grocerydude restore NAME \(paths.map { "--only \(shellWord($0))" }.joined(separator: " "))"))"
        case .alreadyLinked: "use '--replace' to link another folder; the backups there stay"
        case .ofOtherStores:
            "for another application, add '--profile NAME'; to replace this one, add '--replace'"
        case .linkedForAll:
            "give each profile a folder of its own: grocerydude link DIR --profile NAME"
        case .nothingToLink:
            "name a directory, 'rclone:REMOTE:PATH', or one of rclone's providers such as dropbox"
        case .meansFile(let name): "to mean the file, write './\(name)'"
        case .notAReport: "name another file: grocerydude report --html report.html"
        case .badMap: #"a map is JSON, for example {"exclude": ["log"]}"#
        case .noSigner: "'grocerydude list' and 'grocerydude trust list' show the known machines"
        case .severalSigners: "name one of the keys, after comparing it on that machine"
        case .notTrusted(let backup, _, let origin):
            origin.map {
                "to trust that machine, run \(Advice.quoted(Advice.command("trust add", $0)))"
            }
                ?? "to restore it anyway, name it: \(Advice.command("restore", backup))"
        case .doubtful(let backup, _, _, let isRestore): Self.choice(besides: backup, isRestore)
        case .syncIsPlain: "use '--plain' if everybody who can read the container may read the rows"
        case .noNotifications:
            "try one: grocerydude notify test --set notify=mail:\(shellWord(NSUserName()))"
        case .noTerminalForRclone:
            "run 'rclone config' on a terminal, then 'grocerydude link rclone:REMOTE:PATH'"
        }
    }
}
