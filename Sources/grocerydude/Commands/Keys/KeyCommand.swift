internal import ArgumentParser

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "key",
        "Make, show and try the keys of encrypted backups.",
        example: "grocerydude key generate",
        "grocerydude key check --all",
        subcommands: [
            KeyGenerateCommand.self, KeyShowCommand.self, KeyPrintCommand.self,
            KeyCheckCommand.self, KeyRotateCommand.self,
        ]
    )
}
