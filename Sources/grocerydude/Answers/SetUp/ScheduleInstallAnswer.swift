/// The files of a schedule that was or would be installed.
struct ScheduleInstallAnswer: Answer {
    struct File: Encodable {
        var path: String
        var text: String
    }

    var profile: String?
    var kind: String
    var files: [File]
    var dryRun: Bool
    private let jobs: [ScheduledJob]
    private let endsAtLogout: Bool

    private enum CodingKeys: CodingKey { case profile, kind, files, dryRun }

    init(
        _ jobs: [ScheduledJob],
        of profile: Profile,
        _ kind: ScheduleKind,
        isEnabled: Bool,
        isDryRun: Bool
    ) throws {
        self.profile = profile.name
        self.kind = kind.rawValue
        self.jobs = jobs
        files = try jobs.flatMap { try ScheduleFile.files($0, kind) }
            .map { File(path: $0.path, text: $0.text) }
        dryRun = isDryRun
        endsAtLogout = kind == .systemdUser && isEnabled
    }

    func write(to console: Console) {
        guard !dryRun else {
            for file in files {
                console.answer("# \(file.path)")
                console.answer(text: file.text + "\n")
            }
            return
        }
        for job in jobs { console.done("installed '\(job.name)' for \(kind): \(job.schedule)") }
        if endsAtLogout {
            console.message(
                "it runs while you are logged in; 'loginctl enable-linger' has it run always"
            )
        }
    }
}
