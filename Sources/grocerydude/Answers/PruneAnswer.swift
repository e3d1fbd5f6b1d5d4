internal import Files
internal import Backups
internal import Operations

/// The backups that were kept and removed, or would be.
struct PruneAnswer: Answer {
    struct Item: Encodable {
        var name: String
        var time: LocalTime?
        var reasons: [String]
        private let displayName: String

        private enum CodingKeys: CodingKey { case name, time, reasons }

        init(_ item: PruneBackups.Plan.Item, _ invocation: Invocation) {
            name = item.backup.name
            time = item.backup.time.map(invocation.local)
            reasons = item.reasons
            displayName = item.backup.displayName
        }

        func cells(_ verb: String) -> [String] {
            [verb, displayName, reasons.joined(separator: ", ")]
        }
    }

    var messageType = "prune"
    var profile: String?
    var dryRun: Bool
    var keep: [Item]
    var remove: [Item]
    /// Why nothing was removed.
    var refusal: String?
    var problems: [Problem]

    /// In a dry run there is no outcome.
    init(_ plan: PruneBackups.Plan, _ outcome: PruneBackups.Outcome?, _ invocation: Invocation) {
        let removed = outcome.map { Set($0.removed.map(\.name)) }
        profile = invocation.profile.name
        dryRun = outcome == nil
        keep = plan.keep.map { Item($0, invocation) }
        // A backup that could not be removed is among the problems.
        remove = plan.remove.filter { removed?.contains($0.backup.name) ?? true }
            .map { Item($0, invocation) }
        refusal = plan.refusal
        problems = outcome?.problems ?? []
    }

    func write(to console: Console) {
        let rows =
            keep.map { $0.cells("keep") }
            + remove.map { $0.cells(dryRun ? "would remove" : "remove") }
        for line in Columns(rows: rows).lines { console.done(line, isDryRun: dryRun) }
        console.message(
            "\(counted(keep.count, "backup", "backups")) kept, \(remove.count) \(dryRun ? "would be " : "")removed"
        )
    }
}
