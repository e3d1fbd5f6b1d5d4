internal import Backups
internal import Files
internal import Operations

/// The answer about backups copied to another folder.
struct CopyAnswer: Answer {
    struct Item: Encodable {
        /// The backup's name in the source folder.
        var name: String
        /// The name of the copy in the target folder; `nil` if it was not copied.
        var copy: String?
        var size: Int64
        /// The backup that moved to the trash for it.
        var replaced: String?
    }

    var messageType = "summary"
    var from: String
    var to: String
    var copied: [Item]
    /// The backups that the target folder already had.
    var skipped: [Item]
    var failed: [Item]
    var problems: [Problem]

    init(_ outcome: CopyBackups.Outcome, from: String, to: String) {
        func items(_ items: [CopyBackups.Item]) -> [Item] {
            items.map {
                Item(
                    name: $0.backup.name,
                    copy: $0.copy?.name,
                    size: $0.backup.size,
                    replaced: $0.replaced?.name
                )
            }
        }
        self.from = from
        self.to = to
        copied = items(outcome.copied)
        skipped = items(outcome.items.filter(\.wasThere))
        failed = items(outcome.items.filter { $0.copy == nil })
        problems = outcome.problems
    }

    func write(to console: Console) {
        for item in copied {
            let name = BackupName.display(item.name)
            let copy = item.copy.map(BackupName.display) ?? name
            console.done("copied '\(name)'" + (copy == name ? "" : " as '\(copy)'"))
            if let replaced = item.replaced {
                console.message("the other '\(BackupName.display(replaced))' is in the trash now")
            }
        }
        for item in skipped {
            console.done("passed over '\(BackupName.display(item.name))': it is there already")
        }
        let bytes = copied.reduce(Int64(0)) { $0.addingSaturated($1.size) }
        console.message(
            "\(counted(copied.count, "backup", "backups")) copied to '\(to)', \(byteCount(bytes))"
                + (failed.isEmpty ? "" : "; \(failed.count) not copied")
        )
    }
}
