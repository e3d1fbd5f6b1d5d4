internal import ArgumentParser
internal import Foundation
internal import Operations

struct ScheduleInstallCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "install",
        "Have the profile's backups made by the clock.",
        discussion: """
            The schedule is the profile's 'schedule': \(Schedule.examples); 'check.schedule' is \
            for checks, 'sync.schedule' for sync. An earlier installation of the profile is replaced. \
            'continuous' makes it a service that looks every minute whether something has changed, and backs \
            up then.
            """,
        example: "grocerydude schedule install --profile photos --dry-run",
        "grocerydude schedule install --schedule 'daily 03:30' --kind cron",
        "grocerydude schedule install --schedule continuous"
    )

    @OptionGroup var options: ScheduleOptions

    @Option(
        help: ArgumentHelp("When to make backups; else as the profile says.", valueName: "when")
    )
    var schedule: String?

    @Flag(help: "Write the files, and start nothing.")
    var noEnable = false

    @Flag(name: [.customShort("n"), .long], help: "Only print the files that would be written.")
    var dryRun = false

    var output: OutputOptions { options.output }

    func validate() throws {
        if let schedule, Schedule(schedule) == nil {
            throw ValidationError(
                "'\(schedule)' is no schedule: it must be such as \(Schedule.examples)"
            )
        }
    }

    func run(on console: Console) async throws -> ExitStatus {
        let profile = try options.profile([FlagValue("--schedule", "schedule", schedule)])
        let kind = try options.kind ?? ScheduleKind.detected()
        let program = ScheduledJob.runningProgram
        let jobs = Run.Command.scheduled.compactMap {
            ScheduledJob($0, of: profile, program: program)
        }
        guard !jobs.isEmpty else {
            throw ScheduleError.noSchedule(profile: profile.name, file: profile.file)
        }
        for job in jobs {
            guard !job.schedule.isOver(at: Date()) else { throw ScheduleError.over(job.schedule) }
            try job.refuseSecrets()
            for text in job.missing { console.show(.warning(text)) }
        }
        let answer = try ScheduleInstallAnswer(
            jobs,
            of: profile,
            kind,
            isEnabled: !noEnable,
            isDryRun: dryRun
        )
        if !dryRun { try await install(jobs, of: profile, kind) }
        try console.answer(answer)
        return .done
    }

    private func install(
        _ jobs: [ScheduledJob],
        of profile: Profile,
        _ kind: ScheduleKind
    ) async throws {
        let installation = ScheduleInstallation(kind: kind, enables: !noEnable)
        for job in jobs { try await installation.install(job) }
        for command in Run.Command.scheduled
        where !jobs.contains(where: { $0.command == command }) {
            _ = try await installation.uninstall(ScheduledJob.name(command, of: profile))
        }
    }
}
