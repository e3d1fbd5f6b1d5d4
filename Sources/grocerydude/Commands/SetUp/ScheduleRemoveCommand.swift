internal import ArgumentParser
internal import Operations

struct ScheduleRemoveCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "remove",
        "Stop scheduling the profile's backups.",
        example: "grocerydude schedule remove --profile photos"
    )

    @OptionGroup var options: ScheduleOptions

    @Flag(help: "Remove the files, and stop nothing.")
    var noEnable = false

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    var output: OutputOptions { options.output }

    func run(on console: Console) async throws -> ExitStatus {
        let profile = try options.profile()
        var removed: [String] = []
        for kind in options.kinds {
            let installation = ScheduleInstallation(kind: kind, enables: !noEnable)
            for command in Run.Command.scheduled {
                let name = ScheduledJob.name(command, of: profile)
                let paths =
                    try await dryRun
                    ? installation.installed(name).map(\.path) : installation.uninstall(name)
                removed += paths.map { $0 == ScheduleFile.crontab ? "\($0): \(name)" : $0 }
            }
        }
        try console.answer(
            ScheduleRemoveAnswer(profile: profile.name, removed: removed, dryRun: dryRun)
        )
        return .done
    }
}

/// The paths of schedules that were or would be removed.
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

struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "schedule",
        "Schedule backups with systemd or cron.",
        example: "grocerydude schedule install --profile photos",
        "grocerydude schedule show --profile photos",
        subcommands: [
            ScheduleInstallCommand.self, ScheduleRemoveCommand.self, ScheduleShowCommand.self,
        ]
    )
}
