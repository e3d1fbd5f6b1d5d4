internal import Backups
internal import Files
internal import Operations

/// The answer about a backup that was made.
struct BackupAnswer: Answer, JSONConvertible {
    let outcome: CreateBackup.Outcome
    let invocation: Invocation

    var json: JSONObject {
        let backup = outcome.backup
        return [
            "messageType": "summary", "profile": invocation.profile.name,
            "origin": backup.originName, "name": backup.name, "displayName": backup.displayName,
            "unchanged": outcome.isUnchanged, "waiting": outcome.waitsFor != nil,
            "time": backup.time.map(invocation.local), "size": backup.size, "bytes": outcome.bytes,
            "entries": outcome.entries, "stores": outcome.stores, "leftOut": outcome.leftOut,
            "replaced": outcome.replaced?.name, "problems": outcome.problems,
        ]
    }

    func write(to console: Console) {
        console.done(outcome.backup.name)
        guard !outcome.isUnchanged else {
            let annotation = outcome.isAnnotated ? ", and that one got the tags and the note" : ""
            console.message("nothing has changed since then: no backup was made\(annotation)")
            return console.message(replacing: outcome.replaced)
        }
        let (stores, entries) = (
            counted(outcome.stores, "store", "stores"),
            counted(outcome.entries, "entry", "entries")
        )
        let rest =
            outcome.leftOut == 0
            ? "" : "; \(counted(outcome.leftOut, "path was", "paths were")) left out"
        let folder =
            outcome.waitsFor != nil
            ? "the queue of this machine"
            : "'\(invocation.address)' (\(counted(outcome.backups, "backup", "backups")))"
        console.message(
            "\(stores) and \(entries), \(byteCount(outcome.bytes)), saved as \(byteCount(outcome.backup.size)) in \(folder)\(rest)"
        )
        console.message(replacing: outcome.replaced)
    }
}

extension Console {
    /// Writes a message about a backup of the same name that was moved to the trash, if there was one.
    func message(replacing other: Backup?) {
        guard let other else { return }
        message("the other '\(BackupName.display(other.name))' is in the trash now")
    }
}
