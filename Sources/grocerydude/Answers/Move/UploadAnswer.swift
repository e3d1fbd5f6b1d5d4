internal import Backups
internal import Files
internal import Operations

/// The answer about uploaded backups, with the number of those that still wait.
struct UploadAnswer: Answer {
    struct Item: Encodable {
        var name: String
        var size: Int64
        /// Whether an earlier run had uploaded it.
        var unchanged: Bool
    }

    var messageType = "summary"
    var to: String
    var sent: [Item]
    var waiting: Int
    var problems: [Problem]

    init(_ outcome: UploadBackups.Outcome, _ invocation: Invocation) {
        to = invocation.address
        sent = outcome.items.map {
            Item(name: $0.backup.name, size: $0.backup.size, unchanged: $0.wasThere)
        }
        waiting = outcome.left
        problems = outcome.problems
    }

    func write(to console: Console) {
        for item in sent { console.done(item.name) }
        let bytes = sent.reduce(Int64(0)) { $0.addingSaturated($1.size) }
        console.message(
            sent.isEmpty && waiting == 0
                ? "nothing waits for upload"
                : "\(counted(sent.count, "backup", "backups")) sent to '\(to)', \(byteCount(bytes))"
                    + (waiting == 0 ? "" : "; \(waiting) still waiting")
        )
    }
}
