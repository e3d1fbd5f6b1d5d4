internal import ArgumentParser

struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "schedule",
        "Have backups made by the clock: systemd, cron or launchd.",
        example: "grocerydude schedule install --profile photos",
        "grocerydude schedule show --profile photos",
        subcommands: [
            ScheduleInstallCommand.self, ScheduleRemoveCommand.self, ScheduleShowCommand.self,
        ]
    )
}
