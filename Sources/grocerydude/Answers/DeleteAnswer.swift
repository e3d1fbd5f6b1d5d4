internal import Backups
internal import Operations

/// The backup that was deleted, or would be.
struct DeleteAnswer: Answer {
    var name: String
    var dryRun: Bool
    private let displayName: String

    private enum CodingKeys: CodingKey { case name, dryRun }

    init(_ backup: Backup, isDryRun: Bool) {
        name = backup.name
        displayName = backup.displayName
        dryRun = isDryRun
    }

    func write(to console: Console) {
        console.done(
            "\(dryRun ? "would delete" : "deleted") '\(displayName)'",
            isDryRun: dryRun
        )
    }
}
