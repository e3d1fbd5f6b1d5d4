public import ArgumentParser
internal import Operations
public import Sync

struct SyncRejoinCommand: ExchangingCommand {
    static let configuration = CommandConfiguration(
        "rejoin",
        "Decide what the local data mean after an accident, and exchange.",
        discussion: """
            It resolves exit code 26. With 'edits', all local differences are new edits for everybody. With \
            'merge', rows that were deleted elsewhere come back, and nothing else changes. With 'container', \
            the other devices' data replaces the local data, of which a copy is kept.
            """,
        example: "grocerydude sync rejoin --take merge"
    )

    @Option(help: "Which data count: edits, merge or container.".value("data"))
    var take: Rejoining

    @OptionGroup var stores: SyncedStoresOption

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    var logged: Run.Command? { .sync }

    func exchange(_ invocation: Invocation) async throws -> CommandResult {
        let question =
            switch take {
            case .edits: "Send all local differences to the other devices as edits?"
            case .merge: "Bring rows back that were deleted elsewhere?"
            case .container: "Replace the data here by that of the other devices? A copy is kept."
            }
        guard try invocation.confirm(question, yes: yes) else { return .declined }
        // This accepts the meaning of the data, but no waiting map.
        return try await SyncInputs(invocation).exchange(
            stores.store,
            acceptsChanges: false,
            rejoining: take
        )
    }
}

extension Rejoining: ExpressibleByArgument {}
