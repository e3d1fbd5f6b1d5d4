internal import Backups
internal import Files
internal import Operations

/// The answer about a backup fetched to a file.
struct FetchAnswer: Answer, JSONConvertible {
    let outcome: FetchBackup.Outcome

    var json: JSONObject {
        let needs = outcome.needs.map {
            ["path": printable($0.path), "size": $0.size, "unchanged": $0.wasThere] as JSONObject
        }
        return [
            "messageType": "summary", "name": outcome.backup.name,
            "path": printable(outcome.path), "size": outcome.size,
            "needs": needs.isEmpty ? nil : needs, "verified": outcome.isVerified,
            "damage": outcome.damage, "problems": outcome.problems,
        ]
    }

    func write(to console: Console) {
        for file in outcome.needs { console.done(printable(file.path)) }
        console.done(printable(outcome.path))
        let finding =
            outcome.damage != nil ? "DAMAGED" : outcome.isVerified ? "verified" : "not verified"
        console.message("\(byteCount(outcome.size)), \(finding)")
    }
}
