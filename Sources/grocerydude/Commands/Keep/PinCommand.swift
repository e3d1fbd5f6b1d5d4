internal import ArgumentParser
internal import Operations

struct PinCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Keep a backup until it is unpinned, whatever a policy says.",
        discussion: """
            The archive is not changed: pins, tags and notes are files beside it in the remote folder.

            EXAMPLE
              grocerydude pin '[2026-Nov-21] 09.01 AM'
            """
    )

    @OptionGroup var arguments: PinArguments

    var stores: StoresOptions { arguments.stores }
    var output: OutputOptions { arguments.output }
    var flags: [FlagValue] { arguments.remote.flags }
    var recovery: Recovery { .attempted }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        try await arguments.run(isPinned: true, invocation)
    }
}
