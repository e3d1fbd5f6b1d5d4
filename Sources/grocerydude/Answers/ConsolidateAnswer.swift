internal import Backups
internal import Files
internal import Operations

/// The answer about the full backup that replaced an increment.
struct ConsolidateAnswer: Answer {
    var messageType = "summary"
    var name: String
    var displayName: String
    var size: Int64
    /// Whether it was full before, so that there was nothing to do.
    var unchanged: Bool
    /// The increment, which is in the trash.
    var replaced: String?
    var problems: [Problem]

    init(_ outcome: ConsolidateBackup.Outcome) {
        name = outcome.backup.name
        displayName = outcome.backup.displayName
        size = outcome.backup.size
        unchanged = outcome.wasWhole
        replaced = outcome.replaced?.name
        problems = outcome.problems
    }

    func write(to console: Console) {
        console.done(name)
        let end = replaced == nil ? "" : "; the increment is in the trash now"
        console.message(
            unchanged ? "it needs no other: nothing was done" : "\(byteCount(size)), verified\(end)"
        )
    }
}
