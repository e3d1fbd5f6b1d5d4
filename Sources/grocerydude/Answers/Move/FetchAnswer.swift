internal import Backups
internal import Files
internal import Operations

/// The answer about a backup fetched to a file.
struct FetchAnswer: Answer {
    var messageType = "summary"
    var name: String
    var path: String
    var size: Int64
    /// The files of the backups that it is built on, if requested, including existing ones.
    var needs: [Needed]?
    /// Whether its data was verified, which may have found damage and is impossible without a key.
    var verified: Bool
    /// The damage in the fetched backup, if damage was allowed.
    var damage: String?
    var problems: [Problem]

    struct Needed: Encodable {
        var path: String
        var size: Int64
        /// Whether the file existed already.
        var unchanged: Bool
    }

    init(_ outcome: FetchBackup.Outcome) {
        name = outcome.backup.name
        path = printable(outcome.path)
        size = outcome.size
        let files = outcome.needs.map {
            Needed(path: printable($0.path), size: $0.size, unchanged: $0.wasThere)
        }
        needs = files.isEmpty ? nil : files
        damage = outcome.damage
        verified = outcome.isVerified
        problems = outcome.problems
    }

    func write(to console: Console) {
        for file in needs ?? [] { console.done(file.path) }
        console.done(path)
        let finding = damage != nil ? "DAMAGED" : verified ? "verified" : "not verified"
        console.message("\(byteCount(size)), \(finding)")
    }
}
