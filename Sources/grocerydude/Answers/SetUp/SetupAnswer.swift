internal import Files

/// The plan of a setup, or the result of its steps.
struct SetupAnswer: Answer, JSONConvertible {
    let plan: SetupPlan
    /// The steps that were done, as commands.
    let done: [String]
    /// The steps that were not, or would be, done.
    let left: [String]
    var isDryRun = false
    /// The text of the settings' file; `nil` if there is none.
    var settings: String?

    var json: JSONObject {
        let (site, answers) = (plan.site, plan.answers)
        return [
            "profile": site.place.profile, "stores": printable(answers.stores),
            "remote": site.invocation.address(answers.folder.address),
            "encrypted": answers.encrypts, "schedule": answers.schedule.description,
            "file": plan.file, "done": done, "left": left, "changes": plan.changeLines,
            "dryRun": isDryRun, "settings": settings,
        ]
    }

    func write(to console: Console) {
        write("done", done, to: console)
        write(isDryRun ? "would do" : "not done", left, to: console, isDryRun: isDryRun)
        if isDryRun, !plan.changeLines.isEmpty {
            write("the settings would be", plan.changeLines, to: console, isDryRun: true)
        }
        guard let settings else { return }
        console.done("'\(plan.file)' is now:")
        for line in settings.split(separator: "\n") { console.done("  \(line)") }
    }

    private func write(
        _ title: String,
        _ steps: [String],
        to console: Console,
        isDryRun: Bool = false
    ) {
        guard !steps.isEmpty else { return }
        console.done("\(title):", isDryRun: isDryRun)
        for step in steps { console.done("  \(step)", isDryRun: isDryRun) }
    }
}
