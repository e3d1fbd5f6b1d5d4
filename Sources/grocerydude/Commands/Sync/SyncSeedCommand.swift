internal import ArgumentParser
internal import Operations

struct SyncSeedCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        "seed",
        "Fill the container with all that this machine knows.",
        discussion: """
            For a container that was emptied, or is new. Others that know more add it with their next run.
            """,
        example: "grocerydude sync seed"
    )

    @OptionGroup var stores: SyncedStoresOption

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var sync: SyncOptions

    var logged: Run.Command? { .sync }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let question = "Fill the container with all rows that this machine knows?"
        guard try invocation.confirm(question, yes: yes) else { return .declined }
        return try await invocation.exchange(stores.store, acceptsChanges: false, refills: true)
    }
}
