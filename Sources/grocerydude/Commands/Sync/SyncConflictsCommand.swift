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
        subcommands: [List.self, Take.self, Clear.self],
        defaultSubcommand: List.self
    )

    struct List: SyncingCommand {
        static let configuration = CommandConfiguration(
            "list",
            "Show what lost, to what, and whose it was; and rows that are not shown, with the reason.",
            discussion: """
                A row that others have and this store cannot show is kept, and appears once it can: \
                if its schema allows it, or what it belongs to is there. '--since' leaves those rows out.
                """,
            example: "grocerydude sync conflicts"
        )

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp(
                "Only those found since: 2d, or 2026-11-01.",
                valueName: "date"
            ),
            transform: Moment.init
        )
        var since: Moment?

        @OptionGroup var store: SyncedStoreOption
        @OptionGroup(title: HelpSection.common) var sync: SyncOptions

        var recovery: Recovery { .none }

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let places = try SyncInputs(invocation).places()
            let start = since?.date(now: invocation.now, in: invocation.timeZone)
            var rows: [ConflictRow] = []
            for store in try store.stores(in: places) {
                let settling = SettleConflicts(in: places, context: invocation.context)
                let list = try settling.list(store)
                rows += list.conflicts
                    .filter { conflict in start.map { conflict.found >= $0 } ?? true }
                    .map { ConflictRow($0, of: store, list.overview, invocation) }
                // The time since when a row is not shown is unknown.
                if start == nil { rows += list.unshown.map { ConflictRow($0, of: store) } }
            }
            return try invocation.answer(rows)
        }
    }

    struct Take: ExchangingCommand {
        static let configuration = CommandConfiguration(
            "take",
            "Make a value that lost a new edit, which wins on all devices.",
            discussion: "The store is exchanged at once.",
            example: "grocerydude sync conflicts take 3"
        )

        @Argument(help: "The conflict's number in the list.")
        var number: Int64

        @OptionGroup var store: SyncedStoreOption
        @OptionGroup(title: HelpSection.common) var sync: SyncOptions

        func exchange(_ invocation: Invocation) async throws -> CommandResult {
            let places = try SyncInputs(invocation).places()
            let store = try store.only(in: places)
            try await SettleConflicts(in: places, context: invocation.context)
                .take(number, of: store, at: invocation.now, program: invocation.tool)
            let synced = try await RunSync(
                in: places,
                folder: SyncInputs(invocation).folder,
                options: SyncInputs(invocation).options,
                context: invocation.context
            ).run([store])
            try invocation.console.answer(SyncRunAnswer(synced, invocation))
            return SyncInputs(invocation).result(of: synced)
        }
    }

    struct Clear: SyncingCommand {
        static let configuration = CommandConfiguration(
            "clear",
            "Take all conflicts off the list: what won stays.",
            example: "grocerydude sync conflicts clear"
        )

        @OptionGroup var store: SyncedStoreOption
        @OptionGroup(title: HelpSection.common) var sync: SyncOptions

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let places = try SyncInputs(invocation).places()
            var count: Int64 = 0
            for store in try store.stores(in: places) {
                count += try await SettleConflicts(in: places, context: invocation.context)
                    .clear(store)
            }
            return try invocation.answer(
                DoneAnswer(
                    facts: ["cleared": count],
                    line: "took \(count) off the list"
                )
            )
        }
    }
}
