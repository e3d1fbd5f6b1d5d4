internal import ArgumentParser

struct ConfigShowCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "show",
        "Show the settings in force, and where each was set.",
        discussion: """
            A flag wins over the environment, the environment over the configuration's profile, the \
            profile over the configuration's settings for all profiles, and those over the default.
            """,
        example: "grocerydude config show --profile photos"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

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

struct ConfigExampleCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "example",
        "Print a configuration to begin with.",
        example: "grocerydude config example > ~/.config/grocerydude/config.yaml"
    )

    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    func run(on console: Console) async throws -> ExitStatus {
        try console.answer(ConfigExampleAnswer())
        return .done
    }
}

/// An example of a configuration.
struct ConfigExampleAnswer: Answer {
    var example = configurationExample

    func write(to console: Console) { console.answer(text: example) }
}

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "config",
        "Show the settings and their origins, check the configuration, or print an example.",
        example: "grocerydude config example > ~/.config/grocerydude/config.yaml",
        "grocerydude config validate",
        "grocerydude config show --profile photos",
        subcommands: [
            ConfigShowCommand.self, ConfigValidateCommand.self, ConfigExampleCommand.self,
        ]
    )
}
