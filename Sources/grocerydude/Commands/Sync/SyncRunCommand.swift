internal import ArgumentParser
internal import Operations

struct SyncRunCommand: ExchangingCommand {
    static let configuration = CommandConfiguration(
        "run",
        "Send what was edited here, and take what was edited elsewhere.",
        discussion: """
            All stores that take part are exchanged, or only the named ones. If the container is away, edits \
            wait on this machine (exit code 10). If a decision of yours is needed, nothing is exchanged \
            (exit code 26).
            """,
        example: "grocerydude sync",
        "grocerydude sync --accept-changes"
    )

    @OptionGroup var stores: SyncedStoresOption

    @Flag(help: "Go on even if most rows of a table were deleted, here or elsewhere.")
    var acceptChanges = false

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    var logged: Run.Command? { dryRun ? nil : .sync }
    func exchange(_ invocation: Invocation) async throws -> CommandResult {
        try await SyncInputs(invocation).exchange(
            stores.store,
            acceptsChanges: acceptChanges,
            isDryRun: dryRun
        )
    }
}
