internal import ArgumentParser

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
