internal import ArgumentParser
internal import Operations

struct ShowCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "show",
        "Show what is inside a backup, without extracting it.",
        discussion: """
            A backup is named by its file name, its display name, any unique part of it, or 'latest'.
            """,
        example: "grocerydude show latest"
    )

    @Argument(help: "The backup's name, or 'latest'.")
    var name: String

    @OptionGroup var folder: FolderOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let outcome = try await ShowBackup(
            in: invocation.folder(),
            context: invocation.context
        ).run(name, now: invocation.now)
        return try invocation.answer(ShowAnswer(outcome, invocation))
    }
}
