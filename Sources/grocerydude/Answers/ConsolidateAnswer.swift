internal import Backups
internal import Files
internal import Operations

/// The answer about the full backup that replaced an increment.
struct ConsolidateAnswer: Answer, JSONConvertible {
    let outcome: ConsolidateBackup.Outcome

    var json: JSONObject {
        let backup = outcome.backup
        return [
            "messageType": "summary", "name": backup.name, "displayName": backup.displayName,
            "size": backup.size, "unchanged": outcome.wasWhole, "replaced": outcome.replaced?.name,
            "problems": outcome.problems,
        ]
    }

    func write(to console: Console) {
        console.done(outcome.backup.name)
        let end = outcome.replaced == nil ? "" : "; the increment is in the trash now"
        console.message(
            outcome.wasWhole
                ? "it needs no other: nothing was done"
                : "\(byteCount(outcome.backup.size)), verified\(end)"
        )
    }
}
