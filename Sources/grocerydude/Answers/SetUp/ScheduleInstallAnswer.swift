/// The files of a schedule that was or would be installed.
struct ScheduleInstallAnswer: Answer, JSONConvertible {
    let profile: String?
    let kind: ScheduleKind
    let jobs: [ScheduledJob]
    let files: [ScheduleFile]
    let isEnabled: Bool
    let isDryRun: Bool

    var json: JSONObject {
        ["profile": profile, "kind": kind.rawValue, "files": files, "dryRun": isDryRun]
    }

    func write(to console: Console) {
        guard !isDryRun else {
            for file in files {
                console.answer("# \(file.path)")
                console.answer(text: file.text + "\n")
            }
            return
        }
        for job in jobs {
            console.done("installed '\(job.name)' for \(kind.rawValue): \(job.schedule)")
        }
        if kind == .systemdUser, isEnabled {
            console.message(
                "it runs while you are logged in; 'loginctl enable-linger' has it run always"
            )
        }
    }
}
