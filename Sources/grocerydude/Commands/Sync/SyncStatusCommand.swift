internal import ArgumentParser
internal import Foundation
internal import Operations
internal import Sync

struct SyncStatusCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        "status",
        "Show how stores that take part are: in step, behind, or in need of a decision.",
        discussion: """
            It is told from what this machine knows since the last exchange; nothing is changed, and the \
            container is not asked.
            """,
        example: "grocerydude sync status",
        "grocerydude sync status --max-age 1h || echo 'not in step for an hour'"
    )

    @OptionGroup var stores: SyncedStoresOption

    @Option(
        help: ArgumentHelp(
            "Exit with 25 if the last exchange is older: 1h, 2d.",
            valueName: "time"
        )
    )
    var maxAge: WaitTime?

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    var recovery: Recovery { .none }
    var ownFlags: [FlagValue?] { [FlagValue("--max-age", "sync.max_age", maxAge?.text)] }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let places = try SyncInputs(invocation).places()
        let stores = try ShowSync(in: places, context: invocation.context)
            .run(places.enabled(named: stores.store))
        try invocation.console.answer(SyncStatusAnswer(stores, invocation))
        guard let limit = invocation.profile.sync.maxAge else { return CommandResult(.done) }
        let isFresh = stores.allSatisfy { store in
            guard let last = store.overview.lastExchange else { return false }
            return invocation.now.timeIntervalSince(last) <= Double(limit.components.seconds)
        }
        return CommandResult(isFresh ? .done : .tooOld)
    }
}
