internal import ArgumentParser

struct ConfigExampleCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "example",
        abstract: "Print a configuration to begin with.",
        discussion: """
            EXAMPLE
              grocerydude config example > ~/.config/grocerydude/config.yaml
            """
    )

    @OptionGroup var output: OutputOptions

    func run(on console: Console) async throws -> ExitStatus {
        try console.answer(ConfigExampleAnswer())
        return .done
    }
}
