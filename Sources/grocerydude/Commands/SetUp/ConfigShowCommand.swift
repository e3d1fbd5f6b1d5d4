internal import ArgumentParser

struct ConfigShowCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "show",
        "Show the settings in force, and where each was said.",
        discussion: """
            A flag wins over the environment, the environment over the configuration's profile, the \
            profile over the configuration's settings for all profiles, and those over the default.
            """,
        example: "grocerydude config show --profile photos"
    )

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Show settings that are not set, too.")
    var all = false

    var output: OutputOptions { folder.output }

    func run(on console: Console) async throws -> ExitStatus {
        let configuration = try Configuration(folder.stores.configuration)
        let profile = try configuration.profile(folder.stores.flags + folder.remote.flags)
        try console.answer(
            ConfigShowAnswer(
                profile: profile.name,
                file: profile.file,
                profiles: configuration.names,
                settings: Setting.all.map { ConfigShowAnswer.Row($0, of: profile) }
                    .filter { all || $0.isSet }
            )
        )
        return .done
    }
}
