internal import ArgumentParser
internal import Operations

struct ShowCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what is inside a backup, without extracting it.",
        discussion: """
            A backup is named by its file name, its display name, any unique part of it, or 'latest'.

            EXAMPLE
              grocerydude show latest
            """
    )

    @Argument(help: "The backup's name, or 'latest'.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    var recovery: Recovery { .attempted }
    var flags: [FlagValue] { remote.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let outcome = try await ShowBackup(
            in: invocation.folder(),
            context: invocation.context
        ).run(name, now: invocation.now)
        try invocation.console.answer(ShowAnswer(outcome, invocation))
        return CommandResult(.done)
    }
}
