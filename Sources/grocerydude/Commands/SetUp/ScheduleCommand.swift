internal import ArgumentParser

struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Have backups made by the clock: systemd, cron or launchd.",
        discussion: """
            EXAMPLE
              grocerydude schedule install --profile photos
              grocerydude schedule show --profile photos
            """,
        subcommands: [
            ScheduleInstallCommand.self, ScheduleRemoveCommand.self, ScheduleShowCommand.self,
        ]
    )
}
