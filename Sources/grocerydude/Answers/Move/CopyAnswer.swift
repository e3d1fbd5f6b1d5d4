internal import Backups
internal import Files
internal import Operations

/// The answer about backups copied to another folder.
struct CopyAnswer: Answer, JSONConvertible {
    let outcome: CopyBackups.Outcome
    let from: String
    let to: String

    /// The backups that the target folder already had.
    private var skipped: [CopyBackups.Item] { outcome.items.filter(\.wasThere) }
    private var failed: [CopyBackups.Item] { outcome.items.filter { $0.copy == nil } }

    var json: JSONObject {
        func json(_ item: CopyBackups.Item) -> JSONObject {
            [
                "name": item.backup.name, "copy": item.copy?.name, "size": item.backup.size,
                "replaced": item.replaced?.name,
            ]
        }
        return [
            "messageType": "summary", "from": from, "to": to, "copied": outcome.copied.map(json),
            "skipped": skipped.map(json), "failed": failed.map(json), "problems": outcome.problems,
        ]
    }

    func write(to console: Console) {
        for item in outcome.copied {
            let name = BackupName.display(item.backup.name)
            let copy = item.copy.map { BackupName.display($0.name) } ?? name
            console.done("copied '\(name)'" + (copy == name ? "" : " as '\(copy)'"))
            console.message(replacing: item.replaced)
        }
        for item in skipped {
            let name = BackupName.display(item.backup.name)
            console.done("passed over '\(name)': it is there already")
        }
        let copied = outcome.copied.map(\.backup)
        console.message(
            "\(counted(copied.count, "backup", "backups")) copied to '\(to)', \(byteCount(copied.size))"
                + (failed.isEmpty ? "" : "; \(failed.count) not copied")
        )
    }
}

extension [Backup] {
    /// The size of all archives in bytes.
    var size: Int64 { reduce(Int64(0)) { $0.addingSaturated($1.size) } }
}
