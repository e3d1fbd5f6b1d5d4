internal import ArgumentParser
internal import Files
internal import Foundation
internal import Operations
internal import SystemPackage

struct ScheduleInstallCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "install",
        "Schedule the profile's backups.",
        discussion: """
            The schedule is the profile's 'schedule': \(Schedule.examples); 'check.schedule' is \
            for checks, 'sync.schedule' for sync. An earlier installation of the profile is replaced. \
            'continuous' makes it a service that looks every minute whether something has changed, and backs \
            up then.

            Without a configuration, '--stores', '--remote' and what to keep ('--keep-daily 7') are written into \
            the installed commands, and so is '--set'.
            """,
        example: "grocerydude schedule install --profile photos --dry-run",
        "grocerydude schedule install --schedule 'daily 03:30' --kind cron",
        "grocerydude schedule install --stores ~/app --remote /mnt/nas --schedule daily --keep-daily 7"
    )

    @OptionGroup(title: HelpSection.common) var stores: StoresOptions
    @OptionGroup(title: HelpSection.common) var remote: RemoteOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions
    @OptionGroup var scheduler: SchedulerOption

    @Option(help: "When to make backups; else as the profile says.".value("when"))
    var schedule: String?

    @OptionGroup var retention: RetentionOptions

    @Flag(help: "Write the files, and start nothing.")
    var noEnable = false

    @Flag(name: [.customShort("n"), .long], help: "Only print the files that would be written.")
    var dryRun = false

    /// The settings that the installed commands are given.
    private var flags: [FlagValue] {
        let kept = retention.flags.compactMap(\.self)
        let prune = FlagValue("--keep", "prune", kept.isEmpty ? nil : "true")
        return (stores.flags + remote.flags + kept + [prune]).compactMap(\.self)
    }

    func validate() throws {
        if let schedule, Schedule(schedule) == nil {
            throw ValidationError(
                "'\(schedule)' is not a schedule: use one such as \(Schedule.examples)"
            )
        }
        guard retention.keepTag.isEmpty, !retention.unsafeAllowRemoveAll else {
            throw ValidationError(
                "'--keep-tag' and '--unsafe-allow-remove-all' are for one run: set 'retention.keep_tags' in the configuration"
            )
        }
    }

    func run(on console: Console) async throws -> ExitStatus {
        console.hint(in: stores.configuration.hinted)
        let profile = try Configuration(stores.configuration)
            .profile(flags + [FlagValue("--schedule", "schedule", schedule)])
        try refuseOtherPlaces(profile, Invocation(profile, console))
        let kind = try scheduler.kind ?? ScheduleKind.detected()
        let program = ScheduledJob.runningProgram
        let jobs = Run.Command.scheduled.compactMap {
            ScheduledJob($0, of: profile, flags: flags, program: program)
        }
        guard !jobs.isEmpty else {
            throw ScheduleError.noSchedule(profile: profile.name, file: profile.file)
        }
        for job in jobs {
            guard !job.schedule.isOver(at: Date()) else { throw ScheduleError.over(job.schedule) }
            try job.refuseSecrets()
            for text in job.missing { console.warn(text) }
        }
        try profile.requirePolicy(profile.retention)
        try await refuseOtherJobs(jobs, of: profile, kind, Invocation(profile, console))
        let answer = try ScheduleInstallAnswer(
            profile: profile.name,
            kind: kind,
            jobs: jobs,
            files: jobs.flatMap { try ScheduleFile.files($0, kind) },
            isEnabled: !noEnable,
            isDryRun: dryRun
        )
        if !dryRun { try await install(jobs, of: profile, kind, console) }
        try console.answer(answer)
        if !dryRun { showAdvice(on: profile, kind, on: console) }
        return .done
    }

    /// Refuses options for other places than the profile's, since its schedule would be replaced.
    private func refuseOtherPlaces(_ profile: Profile, _ invocation: Invocation) throws {
        for (key, path) in [
            ("stores", profile.configuredStores.map { printable(invocation.absolute($0)) }),
            ("remote", profile.configuredRemote.map(invocation.address)),
        ] {
            guard case .flag = profile.origin(of: key), let path else { continue }
            let present =
                key == "stores"
                ? printable(invocation.absolute(profile.stores)) : invocation.address
            if path != present {
                throw ScheduleError.ofOtherPlace(profile: profile.name, key: key, place: path)
            }
        }
    }

    /// Refuses to replace the schedule of another stores directory, or of another configuration.
    private func refuseOtherJobs(
        _ jobs: [ScheduledJob],
        of profile: Profile,
        _ kind: ScheduleKind,
        _ invocation: Invocation
    ) async throws {
        let installation = ScheduleInstallation(kind: kind, enables: !noEnable)
        for job in jobs {
            let present = try await ScheduleFile.places(in: installation.installed(job.name))
            let new = try ScheduleFile.places(in: ScheduleFile.files(job, kind))
            let stores = printable(invocation.absolute(profile.stores))
            if let path = present.stores, printable(FilePath(path)) != stores {
                throw ScheduleError.ofOtherJob(job.name, path)
            }
            if let path = present.configuration, path != new.configuration {
                throw ScheduleError.ofOtherJob(job.name, path)
            }
        }
    }

    /// Reports what else has to happen: something has to remove old backups, and to start new ones.
    private func showAdvice(on profile: Profile, _ kind: ScheduleKind, on console: Console) {
        if profile.schedule != nil, !profile.prunes {
            console.note(
                "nothing is pruned, so that every backup stays: '--keep-daily 7 --keep-weekly 5' keeps some"
            )
        }
        if !noEnable, kind == .cron, !Crontab.isListenedTo {
            console.warn("no cron daemon runs here, and nothing else starts these commands")
        }
    }

    private func install(
        _ jobs: [ScheduledJob],
        of profile: Profile,
        _ kind: ScheduleKind,
        _ console: Console
    ) async throws {
        let installation = ScheduleInstallation(kind: kind, enables: !noEnable)
        for job in jobs {
            if let warning = try await installation.install(job) { console.warn(warning) }
        }
        for command in Run.Command.scheduled
        where !jobs.contains(where: { $0.command == command }) {
            _ = try await installation.uninstall(ScheduledJob.name(command, of: profile.name))
        }
    }
}
