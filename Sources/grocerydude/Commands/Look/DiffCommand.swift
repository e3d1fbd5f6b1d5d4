internal import ArgumentParser
internal import Backups
internal import Files
internal import Operations

struct DiffCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "diff",
        "Show what changed between two backups, or since one: files, tables and rows.",
        discussion: """
            Name each of the two by its file name, its display name, any unique part of it, or 'latest'; \
            'live' is the stores directory as it is now. Rows are compared byte for byte, and known by their \
            primary key, else by their rowid.

            With '--sql' the answer is the statements that turn the old store into the new one: \
            grocerydude diff NAME live --sql | sqlite3 -bail COPY-OF-THE-OLD-STORE
            """,
        example: "grocerydude diff",
        "grocerydude diff 'Nov-21' latest --table item --rows",
        "grocerydude diff latest live --store Grocery-Dude.sqlite --sql"
    )

    @Argument(
        help: "The state before: a backup's name, or 'live'.",
        completion: NameCompletion.backups(or: "live")
    )
    var old = "latest"

    @Argument(
        help: "The state after: a backup's name, or 'live'.",
        completion: NameCompletion.backups(or: "live")
    )
    var new = "live"

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    @Option(help: "Compare only this store.".value("path"))
    var store: String?

    @Option(help: "Compare only this table, or this entity's.".value("name"))
    var table: String?

    @Flag(help: "Show each differing row; for a changed row, the changed values.")
    var rows = false

    @Option(
        // With this strategy a negative number is refused as such.
        parsing: .unconditional,
        help: "With '--rows': the most rows of each table.".value("n")
    )
    var limit: Int?

    @Flag(help: "Write the statements that turn the old store into the new one.")
    var sql = false

    @Flag(help: "Exit with 1 if anything differs, and with 0 if nothing does.")
    var exitCode = false

    func validate() throws {
        guard limit == nil || rows else { throw ValidationError("'--limit' goes with '--rows'") }
        guard limit.map({ $0 >= 0 }) ?? true else {
            throw ValidationError("'--limit' takes 0 or more")
        }
        guard !sql || table == nil && !rows else {
            throw ValidationError("'--sql' goes with neither '--table' nor '--rows'")
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        MemoryArenas.limit()
        let folder = try invocation.folder()
        let (before, after) = (
            try await state(old, in: folder, invocation),
            try await state(new, in: folder, invocation)
        )
        var options = CompareStates.Options()
        options.store = try store.map(invocation.inStores)
        options.table = table
        options.reportsRows = rows
        options.rowLimit = limit
        options.reportsStatements = sql
        let outcome = try await CompareStates(
            in: folder,
            with: invocation.stores,
            options: options,
            context: invocation.context
        ).run(from: before.state, to: after.state) { difference in
            if case .unread(let store) = difference {
                invocation.context.warn(store.warning)
            }
            try invocation.console.answer(difference)
        }
        try invocation.console.answer(
            DifferenceSummary(old: before.name, new: after.name, differs: outcome.differs)
        )
        if let store = outcome.unread.first(where: \.isDamaged) ?? outcome.unread.first {
            let status = store.isDamaged ? ExitStatus.damaged : .partial
            return CommandResult(status, message: store.warning)
        }
        return CommandResult(exitCode && outcome.differs ? .failed : .done)
    }

    private func state(
        _ text: String,
        in folder: BackupFolder,
        _ invocation: Invocation
    ) async throws -> (state: CompareStates.State, name: String) {
        guard text != "live" else { return (.live, text) }
        let backup = try await BackupChoice(in: folder, invocation).find(text)
        return (.backup(backup), backup.name)
    }
}
