/// The paths of schedules that were removed, or would be.
struct ScheduleRemoveAnswer: Answer {
    var profile: String?
    var removed: [String]
    var dryRun: Bool

    func write(to console: Console) {
        for path in removed {
            console.done("\(dryRun ? "would remove" : "removed") '\(path)'", isDryRun: dryRun)
        }
        if removed.isEmpty { console.message("nothing is installed") }
    }
}
