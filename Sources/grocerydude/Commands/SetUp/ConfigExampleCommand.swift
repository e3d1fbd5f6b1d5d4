internal import ArgumentParser

struct ConfigExampleCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "example",
        "Print a configuration to begin with.",
        example: "grocerydude config example > ~/.config/grocerydude/config.yaml"
    )

    @OptionGroup var output: OutputOptions

    func run(on console: Console) async throws -> ExitStatus {
        try console.answer(ConfigExampleAnswer())
        return .done
    }
}
