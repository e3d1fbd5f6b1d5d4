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
    /// The deleted backups that had been in the trash for long enough.
    var trash: Trash
    var problems: [Problem]
    private let isOfTrashAlone: Bool

    /// What became of deleted backups.
    struct Trash: Encodable {
        struct Kept: Encodable {
            var name: String
            var reason: String
        }

        var removed: [String]
        var kept: [Kept]
    }

    private enum CodingKeys: CodingKey {
        case messageType, profile, dryRun, keep, remove, refusal, trash, problems
    }

    /// In a dry run there is no outcome.
    init(
        _ plan: PruneBackups.Plan,
        _ outcome: PruneBackups.Outcome?,
        emptying trash: TrashPlan,
        _ invocation: Invocation
    ) {
        isOfTrashAlone = plan.isOfTrashAlone
        self.trash = Trash(
            removed: trash.remove.map(\.name),
            kept: trash.keep.map { .init(name: $0.backup.name, reason: $0.reason) }
        )
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
        writeTrash(to: console)
        guard !isOfTrashAlone else {
            return console.message("no policy says what to keep: only the trash is emptied")
        }
        console.message(
            "\(counted(keep.count, "backup", "backups")) kept, \(remove.count) \(dryRun ? "would be " : "")removed"
        )
    }

    /// Says what went from the trash for good, and what stays there though it may go by its time.
    private func writeTrash(to console: Console) {
        if !trash.removed.isEmpty {
            let verb = dryRun ? "would be " : ""
            console.message(
                "\(counted(trash.removed.count, "deleted backup", "deleted backups")) \(verb)removed from the trash for good"
            )
        }
        for kept in trash.kept.prefix(Self.keptLimit) {
            console.message("'\(BackupName.display(kept.name))' stays in the trash: \(kept.reason)")
        }
        let rest = trash.kept.count - Self.keptLimit
        if rest > 0 { console.message("\(rest) more stay in the trash") }
    }

    /// The most that are told one by one.
    private static let keptLimit = 5
}
