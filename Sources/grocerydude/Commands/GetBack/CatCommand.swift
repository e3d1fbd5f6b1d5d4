internal import ArgumentParser
internal import Files
internal import Operations

struct CatCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "cat",
        "Write a file of a backup to standard output.",
        discussion: """
            Each MiB of it is verified before it is written. If one is damaged the command ends there, with \
            exit code 20.
            """,
        example: "grocerydude cat latest settings.json | jq ."
    )

    @Argument(help: "The backup's name, or 'latest'.")
    var name: String
    @Argument(help: "The file's path, as 'grocerydude show' prints it.")
    var path: String

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let (console, path) = (invocation.console, path)
        try await invocation.opened(name).look { backup in
            try backup.read(path) { bytes in
                console.answer(bytes: bytes, isText: true)
                return !console.isAnswerLost
            }
        }
        return CommandResult(.done)
    }
}
