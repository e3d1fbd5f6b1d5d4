internal import History
internal import ArgumentParser
internal import Files
internal import Operations

struct LogCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        "log",
        "Show past runs, newest first.",
        discussion: """
            Every backup, restore, check and prune, and every sync that had something to do, is kept in \
            $XDG_STATE_HOME/grocerydude/log.sqlite, the last 1000 of each.
            """,
        example: "grocerydude log --limit 5"
    )

    @Option(help: "How many runs to show.".value("number"))
    var limit = 50

    @Option(help: "Only runs of one command, such as 'backup'.".value("name"))
    var command: String?

    @OptionGroup(title: HelpSection.common) var stores: StoresOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("'--limit' must be 1 or more") }
    }

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        var filter = RunLog.Filter()
        // A run with other places than its profile's is logged without a profile.
        filter.profile = stores.configuration.chosenProfile
        // The runs of all directories are shown unless one was named.
        if stores.path != nil { filter.stores = printable(invocation.absolute(invocation.stores)) }
        filter.command = command
        let entries = try invocation.log.entries(filter, limit: limit)
        if let warning = invocation.log.warning { invocation.context.warn(warning) }
        return try invocation.answer(entries.map { RunRow(entry: $0, invocation: invocation) })
    }
}
