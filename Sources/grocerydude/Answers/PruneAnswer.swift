internal import Files
internal import Backups
internal import Operations

/// The answer about backups that were or would be kept and removed.
struct PruneAnswer: Answer, JSONConvertible {
    let plan: PruneBackups.Plan
    /// The result; `nil` in a dry run.
    let outcome: PruneBackups.Outcome?
    /// The deleted backups that were due for removal from the trash.
    let trash: TrashPlan
    let invocation: Invocation

    private var isDryRun: Bool { outcome == nil }

    /// The backups that were or would be removed; those that could not be are among the problems.
    private var removed: [PruneBackups.Plan.Item] {
        guard let outcome else { return plan.remove }
        let removed = Set(outcome.removed.map(\.name.exact))
        return plan.remove.filter { removed.contains($0.backup.name.exact) }
    }

    var json: JSONObject {
        func json(_ item: PruneBackups.Plan.Item) -> JSONObject {
            [
                "name": item.backup.name, "time": item.backup.time.map(invocation.local),
                "reasons": item.reasons,
            ]
        }
        let kept = trash.keep.map { ["name": $0.backup.name, "reason": $0.reason] as JSONObject }
        return [
            "messageType": "prune", "profile": invocation.profile.name, "dryRun": isDryRun,
            "keep": plan.keep.map(json), "remove": removed.map(json), "refusal": plan.refusal,
            "trash": ["removed": trash.remove.map(\.name), "kept": kept] as JSONObject,
            "problems": outcome?.problems ?? [],
        ]
    }

    func write(to console: Console) {
        func cells(_ verb: String, _ items: [PruneBackups.Plan.Item]) -> [[String]] {
            items.map { [verb, $0.backup.displayName, $0.reasons.joined(separator: ", ")] }
        }
        let removed = removed
        let rows = cells("keep", plan.keep) + cells(isDryRun ? "would remove" : "remove", removed)
        for line in Columns(rows: rows).lines { console.done(line, isDryRun: isDryRun) }
        if isDryRun {
            let calendar = PruneCalendar(
                keep: plan.keep.compactMap { $0.backup.time.map(invocation.local) },
                remove: removed.compactMap { $0.backup.time.map(invocation.local) }
            )
            console.answer(lines: calendar.lines)
        }
        writeTrash(to: console)
        guard !plan.isOfTrashAlone else {
            return console.message("no policy says what to keep: only the trash is emptied")
        }
        let left = plan.remove.count - removed.count
        console.message(
            "\(counted(plan.keep.count, "backup", "backups")) kept, \(removed.count) \(isDryRun ? "would be " : "")removed\(left > 0 ? ", \(left) not removed" : "")"
        )
    }

    /// Prints the backups that were removed from the trash permanently, and those that stay in spite of their age.
    private func writeTrash(to console: Console) {
        if !trash.remove.isEmpty {
            let verb = isDryRun ? "would be " : ""
            console.message(
                "\(counted(trash.remove.count, "deleted backup", "deleted backups")) \(verb)removed from the trash for good"
            )
        }
        for kept in trash.keep.prefix(Self.keptLimit) {
            console.message(
                "'\(BackupName.display(kept.backup.name))' stays in the trash: \(kept.reason)"
            )
        }
        let rest = trash.keep.count - Self.keptLimit
        if rest > 0 { console.message("\(rest) more stay in the trash") }
    }

    /// The maximum number of kept backups that are printed one by one.
    private static let keptLimit = 5
}
