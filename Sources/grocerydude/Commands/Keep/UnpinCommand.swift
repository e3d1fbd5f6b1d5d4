internal import ArgumentParser
internal import Operations

struct UnpinCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Let policies remove a backup again.",
        discussion: """
            EXAMPLE
              grocerydude unpin '[2026-Nov-21] 09.01 AM'
            """
    )

    @OptionGroup var arguments: PinArguments

    var stores: StoresOptions { arguments.stores }
    var output: OutputOptions { arguments.output }
    var flags: [FlagValue] { arguments.remote.flags }
    var recovery: Recovery { .attempted }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        try await arguments.run(isPinned: false, invocation)
    }
}
