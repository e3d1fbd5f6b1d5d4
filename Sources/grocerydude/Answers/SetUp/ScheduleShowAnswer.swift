internal import Files

/// The times of a profile's commands, and the schedulers that run them.
struct ScheduleShowAnswer: Answer {
    struct Row: Encodable {
        var operation: String
        var schedule: String?
        /// Whether the schedule is from the profile; if not, it was an option of the installation.
        var isSet: Bool
        var next: LocalTime?
        var installed: [Place]

        enum CodingKeys: String, CodingKey {
            case operation, schedule, isSet = "set", next, installed
        }

        /// The command that installs it again, in quotes.
        fileprivate var installation: String {
            let option = isSet ? nil : schedule.map { " --schedule \(shellWord($0))" }
            return Advice.quoted("grocerydude schedule install\(option ?? "")")
        }
    }

    struct Place: Encodable {
        var kind: String
        var paths: [String]
        /// Whether a new installation would write the same files.
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
            guard !place.current else { continue }
            console.message(
                row.schedule == nil
                    ? "warning: the schedule installed for \(place.kind) is not set: "
                        + "run 'grocerydude schedule remove'"
                    : "warning: the schedule installed for \(place.kind) is not as it would be now: "
                        + "run \(row.installation)"
            )
        }
        if row.schedule != nil, !row.isSet {
            console.message("no 'schedule' is set: this one was given with the installation")
        }
        if row.installed.isEmpty {
            console.answer(console.hinted("  not installed: \(row.installation) does that"))
        }
    }
}
