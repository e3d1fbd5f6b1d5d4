/// The times of a profile's commands, and the schedulers that run them.
struct ScheduleShowAnswer: Answer {
    struct Row: Encodable {
        var operation: String
        var schedule: String?
        var next: LocalTime?
        var installed: [Place]
    }

    struct Place: Encodable {
        var kind: String
        var paths: [String]
        /// Whether an installation now would write the same.
        var current: Bool
    }

    var profile: String?
    var jobs: [Row]

    func write(to console: Console) {
        for row in jobs { write(row, to: console) }
        if jobs.isEmpty { console.message("there is no schedule, and none is installed") }
    }

    private func write(_ row: Row, to console: Console) {
        let next = row.next.map { ", next \($0)" } ?? ""
        console.answer("\(row.operation)  \(row.schedule ?? "no schedule")\(next)")
        for place in row.installed {
            console.answer("  \(place.kind): \(place.paths.joined(separator: ", "))")
            if !place.current {
                console.message(
                    "warning: the schedule installed for \(place.kind) is not the one that is set: "
                        + "run 'grocerydude schedule \(row.schedule == nil ? "remove" : "install")'"
                )
            }
        }
        if row.installed.isEmpty {
            console.answer("  not installed: 'grocerydude schedule install' does that")
        }
    }
}
