internal import Backups
internal import Files
internal import Operations

/// The answer about uploaded backups, with the number of those that still wait.
struct UploadAnswer: Answer, JSONConvertible {
    let outcome: UploadBackups.Outcome
    let invocation: Invocation

    var json: JSONObject {
        let sent = outcome.items.map { item -> JSONObject in
            ["name": item.backup.name, "size": item.backup.size, "unchanged": item.wasThere]
        }
        return [
            "messageType": "summary", "to": invocation.address, "sent": sent,
            "waiting": outcome.left, "problems": outcome.problems,
        ]
    }

    func write(to console: Console) {
        let sent = outcome.items.map(\.backup)
        for backup in sent { console.done(backup.name) }
        console.message(
            sent.isEmpty && outcome.left == 0
                ? "nothing waits for upload"
                : "\(counted(sent.count, "backup", "backups")) sent to '\(invocation.address)', \(byteCount(sent.size))"
                    + (outcome.left == 0 ? "" : "; \(outcome.left) still waiting")
        )
    }
}
