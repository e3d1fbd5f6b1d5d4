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
        console.hint(in: HintedPlaces(options.configuration))
        let profile = try profile()
        let removed = try await ScheduleInstallation.remove(
            profile,
            options.kinds,
            disabling: !noEnable,
            isDryRun: dryRun
        )
        try console.answer(ScheduleRemoveAnswer(profile: profile, removed: removed, dryRun: dryRun))
        return .done
    }

    /// Returns the profile's name; a schedule may outlive its profile.
    private func profile() throws -> String? {
        do {
            return try options.profile().name
        } catch let error as ConfigurationError {
            switch error {
            case .noProfile(let name, _, _), .noConfiguration(.some(let name), _): return name
            default: throw error
            }
        }
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
