internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations
internal import Stores

struct FindCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "find",
        "Find rows in all backups, and show the history of each.",
        discussion: """
            A row is found if it matches in any backup, or in the stores directory as it is now ('live'). Its \
            history says when it was there first, when its values changed, when it was there last, and \
            whether it came back.

            TEXT is looked for in all texts of all tables, ignoring case; '%' and '_' are plain characters. \
            With '--exact' the whole value must be TEXT. Blobs, and the tables behind virtual ones, are skipped. \
            With '--where' one table is searched by a condition in SQL. A row is known by its primary key, else \
            by its rowid, and its values are compared byte for byte.

            Below a row that was lost or changed is the command that brings it back as it was.

            A backup that cannot be read is named, and its rows are reported as not known; the exit code is 3.
            """,
        example: "grocerydude find 'soya milk'",
        "grocerydude find milk --deleted",
        "grocerydude find --where item \"name = 'Milk'\" --since 30d",
        "grocerydude find --where ZITEM 'Z_PK = 12' --store Grocery-Dude.sqlite --json"
    )

    @Argument(help: "The text; or leave it out and give '--where'.")
    var text: String?

    @Option(
        name: .customLong("where"),
        parsing: .upToNextOption,
        help:
            "Find the rows of this table or entity that meet a condition in SQL: item \"name = 'Milk'\"."
            .value("table sql")
    )
    var condition: [String] = []

    @Flag(help: "With TEXT: find only values that are the text itself.")
    var exact = false

    @Option(help: "Search only this store.".value("path"))
    var store: String?

    @Option(help: "With TEXT: search only this table or entity.".value("name"))
    var table: String?

    @Option(
        parsing: .unconditional,
        help:
            "Only in backups made since: 7d or 2y5m7d3h ago, yesterday, or a date such as 2026-11-21."
            .value("time"),
        transform: Moment.init
    )
    var since: Moment?

    @Flag(help: "Only rows that are gone.")
    var deleted = false

    @Option(help: "The most rows to show.".value("number"))
    var limit = 100

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func validate() throws {
        guard (text == nil) != condition.isEmpty else {
            throw ValidationError("give a text, or '--where' with a table and a condition")
        }
        guard text != "" else {
            throw ValidationError("the text is empty, and would be found everywhere")
        }
        guard condition.isEmpty || condition.count == 2 else {
            throw ValidationError(
                "'--where' takes a table and a condition in SQL, each as one word: item \"name = 'Milk'\""
            )
        }
        guard table == nil || text != nil else {
            throw ValidationError("'--table' goes with a text; '--where' names its table")
        }
        guard !exact || text != nil else { throw ValidationError("'--exact' goes with a text") }
        guard limit > 0 else { throw ValidationError("'--limit' must be 1 or more") }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let (listing, unreachable) = try await folder.listWithWaiting()
        if let unreachable { invocation.context.warnOfUnknown(unreachable) }
        guard !listing.backups.isEmpty else { throw BackupFolderError.noBackups(folder.address) }
        var selection = BackupSelection()
        selection.since = since?.date(now: invocation.now, in: invocation.timeZone)
        let all = selection(listing.backups.withoutReplaced)
        let backups = folder.origin?.series(among: all) ?? all
        if backups.count < all.count {
            let others = counted(all.count - backups.count, "backup", "backups")
            invocation.context.note(
                "\(others) of another machine or another stores directory: not searched"
            )
        }
        let unknown = invocation.knowsNobody ? 0 : backups.count { $0.distrust != nil }
        if unknown > 0 {
            let what = counted(unknown, "backup is", "backups are")
            invocation.context.warn("\(what) \(Backup.Distrust.unsigned), and searched too")
        }
        if backups.isEmpty {
            let reason = "no backup is as new as that: only the stores are searched"
            invocation.context.note(reason)
        }
        var outcome = try await FindRows(
            in: folder,
            with: invocation.absolute(invocation.stores),
            options: try options(invocation),
            context: invocation.context
        ).run(among: backups)
        if deleted { outcome.rows.removeAll { $0.end != .gone } }
        for row in outcome.rows {
            try invocation.console.answer(HistoryAnswer(history: row, invocation: invocation))
        }
        try invocation.console.answer(HistorySummary(outcome: outcome))
        for problem in outcome.problems { invocation.context.report(.problem(problem)) }
        if let unreachable { throw unreachable }
        return CommandResult(problems: outcome.problems)
    }

    private func options(_ invocation: Invocation) throws -> FindRows.Options {
        var options: FindRows.Options
        if let pattern = text.flatMap({ TextPattern($0, isWhole: exact) }) {
            options = FindRows.Options(.text(pattern))
            options.table = table
        } else {
            options = FindRows.Options(.condition(condition.last ?? ""))
            options.table = condition.first
        }
        options.store = try store.map(invocation.inStores)
        options.rowLimit = limit
        return options
    }
}
