internal import ArgumentParser
internal import Foundation
internal import Operations
internal import Sync

struct SyncStatusCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        "status",
        "Show the state of stores that take part: in step, behind, or in need of a decision.",
        discussion: """
            It shows what this machine knows since the last exchange. A container on this machine is listed as \
            well; one elsewhere is not. Nothing is changed.
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
        let inputs = SyncInputs(invocation)
        let places = try inputs.places()
        let show = ShowSync(
            in: places,
            folder: inputs.folder,
            isOff: !invocation.profile.sync.isEnabled,
            context: invocation.context
        )
        let stores = try await show.run(places.enabled(named: stores.store), at: invocation.now)
        try invocation.console.answer(SyncStatusAnswer(stores: stores, invocation: invocation))
        guard let limit = invocation.profile.sync.maxAge else { return CommandResult(.done) }
        let isFresh = stores.allSatisfy { store in
            guard let last = store.overview.lastExchange else { return false }
            return invocation.now.timeIntervalSince(last) <= Double(limit.components.seconds)
        }
        return CommandResult(isFresh ? .done : .tooOld)
    }
}
