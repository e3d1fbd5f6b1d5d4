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

    @Option(help: "Exit with 25 if the last exchange is older: 1h, 2d.".value("time"))
    var maxAge: WaitTime?

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    var recovery: Recovery { .none }
    var ownFlags: [FlagValue?] { [FlagValue("--max-age", "sync.max_age", maxAge?.text)] }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let places = try SyncInputs(invocation).places()
        let stores = try await places.status(
            of: places.enabled(named: stores.store),
            isOff: !invocation.profile.sync.isEnabled,
            at: invocation.now
        )
        try invocation.console.answer(SyncStatusAnswer(stores: stores, invocation: invocation))
        guard let limit = invocation.profile.sync.maxAge else { return CommandResult(.done) }
        let isFresh = stores.allSatisfy { store in
            guard let last = store.overview.lastExchange else { return false }
            return invocation.now.timeIntervalSince(last) <= Double(limit.components.seconds)
        }
        return CommandResult(isFresh ? .done : .tooOld)
    }
}
