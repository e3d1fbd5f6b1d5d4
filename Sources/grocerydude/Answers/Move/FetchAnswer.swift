internal import Backups
internal import Files
internal import Operations

/// The file that a backup was fetched to.
struct FetchAnswer: Answer {
    var messageType = "summary"
    var name: String
    var path: String
    var size: Int64
    /// The damage in it, if that was no reason to leave it.
    var damage: String?
    var problems: [Problem]

    init(_ outcome: FetchBackup.Outcome) {
        name = outcome.backup.name
        path = printable(outcome.path)
        size = outcome.size
        damage = outcome.damage
        problems = outcome.problems
    }

    func write(to console: Console) {
        console.done(path)
        console.message("\(byteCount(size)), \(damage == nil ? "verified" : "DAMAGED")")
    }
}
