internal import Files
internal import Backups
internal import Operations

/// The answer about backups that were or would be kept and removed.
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
    /// The reason why nothing was removed.
    var refusal: String?
    /// The deleted backups that were due for removal from the trash.
    var trash: Trash
    var problems: [Problem]
    private let isOfTrashAlone: Bool

    /// The deleted backups that were removed permanently or kept.
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

    /// Creates the answer; `outcome` is `nil` in a dry run.
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
        let removed = outcome.map { Set($0.removed.map(\.name.exact)) }
        profile = invocation.profile.name
        dryRun = outcome == nil
        keep = plan.keep.map { Item($0, invocation) }
        // Backups that could not be removed are among the problems.
        remove = plan.remove.filter { removed?.contains($0.backup.name.exact) ?? true }
            .map { Item($0, invocation) }
        refusal = plan.refusal
        problems = outcome?.problems ?? []
    }

    func write(to console: Console) {
        let rows =
            keep.map { $0.cells("keep") }
            + remove.map { $0.cells(dryRun ? "would remove" : "remove") }
        for line in Columns(rows: rows).lines { console.done(line, isDryRun: dryRun) }
        if dryRun {
            let calendar = PruneCalendar(
                keep: keep.compactMap(\.time),
                remove: remove.compactMap(\.time)
            )
            console.answer(lines: calendar.lines)
        }
        writeTrash(to: console)
        guard !isOfTrashAlone else {
            return console.message("no policy says what to keep: only the trash is emptied")
        }
        console.message(
            "\(counted(keep.count, "backup", "backups")) kept, \(remove.count) \(dryRun ? "would be " : "")removed"
        )
    }

    /// Prints the backups that were removed from the trash permanently, and those that stay in spite of their age.
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

    /// The maximum number of kept backups that are printed one by one.
    private static let keptLimit = 5
}
