internal import ArgumentParser
internal import Files
internal import Operations
internal import Stores
internal import Sync

struct SyncConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "conflicts",
        "Show the edits that lost and the rows that are not shown, take an edit back, or forget them.",
        example: "grocerydude sync conflicts --since 2d",
        "grocerydude sync conflicts take 3",
        subcommands: [List.self, Show.self, Take.self, Clear.self],
        defaultSubcommand: List.self
    )

    struct List: SyncingCommand {
        static let configuration = CommandConfiguration(
            "list",
            "Show each edit that lost, to what, and whose they were; and each row that is not shown, and why.",
            discussion: """
                A row that other devices have and this store cannot show is kept. It appears once the schema \
                allows it, or the row that it belongs to is there. '--since' leaves those rows out. \
                '--all' adds each row and value of the last 30 days that a delete or an edit of another \
                device took out of this store.
                """,
            example: "grocerydude sync conflicts"
        )

        @Option(
            parsing: .unconditional,
            help: "Only those found since: 2d, or 2026-11-01.".value("date"),
            transform: Moment.init
        )
        var since: Moment?

        @Flag(help: "Everything that was taken out of this store.")
        var all = false

        @OptionGroup var store: SyncedStoreOption
        @OptionGroup(title: HelpSection.common) var sync: SyncOptions

        var recovery: Recovery { .none }

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let places = try SyncInputs(invocation).places()
            let start = since?.date(now: invocation.now, in: invocation.timeZone)
            var rows: [ConflictRow] = []
            for store in try store.stores(in: places) {
                let list = try places.conflicts(of: store, all: all)
                rows += list.conflicts
                    .filter { conflict in start.map { conflict.found >= $0 } ?? true }
                    .map { ConflictRow($0, of: store, list.overview, invocation) }
                // The time since when a row is not shown is unknown.
                if start == nil { rows += list.unshown.map { ConflictRow($0, of: store) } }
            }
            return try invocation.answer(rows)
        }
    }

    struct Show: SyncingCommand {
        static let configuration = CommandConfiguration(
            "show",
            "Show all values of a row or an edit that is listed.",
            example: "grocerydude sync conflicts show 3"
        )

        @Argument(help: "The number in the list.")
        var number: Int64

        @OptionGroup var store: SyncedStoreOption
        @OptionGroup(title: HelpSection.common) var sync: SyncOptions

        var recovery: Recovery { .none }

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let places = try SyncInputs(invocation).places()
            let store = try store.only(in: places)
            let values = try places.values(ofConflict: number, of: store)
            return try invocation.answer(values.map { LostValueRow(column: $0, value: $1) })
        }
    }

    struct Take: ExchangingCommand {
        static let configuration = CommandConfiguration(
            "take",
            "Turn a lost edit, or a row taken out of the store, into a new edit, which wins on all devices.",
            discussion: """
                A deleted row comes back with the deleted rows that it belongs to, as far as this device had \
                them. The store is exchanged at once.
                """,
            example: "grocerydude sync conflicts take 3",
            "grocerydude sync conflicts take 4 position=7",
            "grocerydude sync conflicts take 5 --all"
        )

        @Argument(help: "The conflict's number in the list.")
        var number: Int64

        @Argument(
            help:
                "New values, as for a row that waits for a key that another one has."
                .value("column=value"),
            transform: NewValue.init
        )
        var values: [NewValue] = []

        @Flag(help: "Also what only 'list --all' shows.")
        var all = false

        @OptionGroup var store: SyncedStoreOption
        @OptionGroup(title: HelpSection.common) var sync: SyncOptions

        func exchange(_ invocation: Invocation) async throws -> CommandResult {
            let places = try SyncInputs(invocation).places()
            let store = try store.only(in: places)
            let rows = try await places.takeConflict(
                number,
                setting: Dictionary(values.map { ($0.column, $0.value) }) { $1 },
                all: all,
                of: store,
                at: invocation.now,
                program: invocation.tool
            )
            let inputs = SyncInputs(invocation)
            let synced = try await RunSync(in: places, options: inputs.options).run([store])
            let isSent = synced.allSatisfy { $0.error == nil && $0.overview.unsentFiles == 0 }
            let place = isSent ? "on all devices" : "and on the others after the next exchange"
            let unshown = try places.conflicts(of: store).unshown
            for row in rows {
                let held = unshown.first { $0.row == row.row && $0.column == nil }
                invocation.context.note(
                    held.map { "\(row.name) is not shown: \($0.reason)" }
                        ?? "\(row.description), \(place)"
                )
            }
            try invocation.console.answer(SyncRunAnswer(synced, invocation))
            return inputs.result(of: synced)
        }
    }

    struct Clear: SyncingCommand {
        static let configuration = CommandConfiguration(
            "clear",
            "Clear all conflicts off the list, or one; what won stays.",
            example: "grocerydude sync conflicts clear",
            "grocerydude sync conflicts clear 3"
        )

        @Argument(help: "The number in the list, to take off only this one.")
        var number: Int64?

        @OptionGroup var store: SyncedStoreOption
        @OptionGroup(title: HelpSection.common) var sync: SyncOptions

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let places = try SyncInputs(invocation).places()
            var count: Int64 = 0
            if let number {
                count = try await places.clearConflicts(of: store.only(in: places), number)
            } else {
                for store in try store.stores(in: places) {
                    count += try await places.clearConflicts(of: store)
                }
            }
            return try invocation.done("took \(count) off the list", ["cleared": count])
        }
    }
}

/// A value that a person gives to a column.
struct NewValue: Sendable {
    let column: String
    let value: String

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw ValidationError("'\(text)' is not COLUMN=VALUE")
        }
        (column, value) = (String(parts[0]), String(parts[1]))
    }
}
