internal import ArgumentParser
internal import Files
internal import Operations
internal import Stores
internal import Sync

struct SyncDisableCommand: SyncingCommand {
    static let configuration = CommandConfiguration(
        "disable",
        "Take a store out of its group; its data stays as it is.",
        discussion: """
            Nothing in the container is removed. With '--as-before' the store gets back the content \
            that it had before it took part, and a copy of what it had is kept; close the application first.
            """,
        example: "grocerydude sync disable",
        "grocerydude sync disable --store Notes.sqlite --as-before"
    )

    @OptionGroup var store: SyncedStoreOption

    @Flag(help: "Give the store the content that it had before it took part.")
    var asBefore = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup(title: HelpSection.common) var sync: SyncOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let places = try SyncInputs(invocation).places()
        let only = try store.only(in: places)
        let outcome = try await places.leave(only, asBefore: asBefore) { overview in
            let what =
                asBefore
                ? "It loses all that was edited or arrived since it took part."
                : "It stays as it is."
            let unsent = Self.unsent(overview.unsentChanges)
            let waiting = unsent.isEmpty ? "" : " \(unsent)."
            return try invocation.confirm(
                "Let '\(only.path)' leave '\(overview.group ?? "its group")'? \(what)\(waiting)",
                yes: yes
            )
        }
        guard let outcome else { return .declined }
        let before = outcome.before.map { printable($0) }
        let yielded = outcome.yielded.map { printable($0) }
        let unsent = Self.unsent(outcome.unsent)
        let group = outcome.group.map { " '\($0)'" } ?? ""
        let result = try invocation.done(
            "'\(outcome.store)' left\(group)"
                + (outcome.isAsBefore ? ", and is as it was before" : "")
                + (unsent.isEmpty ? "" : "; \(unsent)"),
            [
                "store": outcome.store, "group": outcome.group, "unsent": outcome.unsent,
                "asBefore": outcome.isAsBefore, "before": before, "yielded": yielded,
            ]
        )
        for case (let time, let copy?) in [("until now", yielded), ("before", before)] {
            invocation.context.note("the store as it was \(time) is kept in '\(copy)'")
        }
        return result
    }

    private static func unsent(_ count: Int64) -> String {
        count == 0 ? "" : "\(counted(Int(count), "change was", "changes were")) not sent"
    }
}
