internal import Files

/// The plan of a setup, or the result of its steps.
struct SetupAnswer: Answer {
    var profile: String?
    var stores: String
    var remote: String
    var encrypted: Bool
    var schedule: String
    /// The file of the settings.
    var file: String
    /// The steps that were done, as commands.
    var done: [String]
    /// The steps that were not, or would be, done.
    var left: [String]
    /// The settings that changed, or would.
    var changes: [String]
    var dryRun: Bool
    /// The text of the file; `nil` if there is none.
    var settings: String?

    init(_ plan: SetupPlan, done: [String], left: [String], dryRun: Bool, settings: String? = nil) {
        profile = plan.site.place.profile
        stores = printable(plan.answers.stores)
        remote = plan.site.invocation.address(plan.answers.folder.address)
        encrypted = plan.answers.encrypts
        schedule = plan.answers.schedule.description
        file = plan.file
        changes = plan.changeLines
        (self.done, self.left, self.dryRun) = (done, left, dryRun)
        self.settings = settings
    }

    func write(to console: Console) {
        write("done", done, to: console)
        write(dryRun ? "would do" : "not done", left, to: console, isDryRun: dryRun)
        if dryRun, !changes.isEmpty {
            write("the settings would be", changes, to: console, isDryRun: true)
        }
        guard let settings else { return }
        console.done("'\(file)' is now:")
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
