internal import ArgumentParser
internal import Files
internal import Foundation
internal import Operations
internal import Stores

struct SQLCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "sql",
        "Query a store in a backup, or the live one, in SQL, without unpacking anything.",
        discussion: """
            SQLite reads the store in place: only as much of the archive as the query needs is fetched, and \
            it is verified before it is used. Nothing is ever written: a statement that would write is \
            refused before it runs.

            Without a query, statements are read from standard input; on a terminal there is a prompt, with \
            '.help'. A page that is damaged ends the query with exit code 20; the rows before it are printed, \
            and marked as incomplete.

            Blobs, and text that is no UTF-8, are shown as X'...'; in JSON as {"blob": "..."} and {"text": "..."}, \
            in hexadecimal digits. In CSV NULL is empty, and empty text is "".
            """,
        example: "grocerydude sql latest 'SELECT ZNAME FROM ZITEM ORDER BY 1'",
        "grocerydude sql live --store notes.sqlite --csv 'SELECT * FROM note' > notes.csv"
    )

    @Argument(
        help: "The backup's name, 'latest', or 'live' for the stores directory.",
        completion: NameCompletion.backups(or: "live")
    )
    var name: String
    @Argument(help: "The statements; read from standard input if they are left out.")
    var query: String?

    @Option(help: "The store, if there is more than one.".value("path"))
    var store: String?

    @Flag(help: "Answer in comma-separated values (RFC 4180), with a header.")
    var csv = false
    @Flag(help: "Answer in a table, as without any of these.")
    var table = false

    @Option(help: "The most rows of each statement.".value("number"))
    var limit: Int?
    @Option(help: "End a query that takes longer: 30s, 5m.".value("time"))
    var timeout: WaitTime?

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func validate() throws {
        guard [csv, table, output.json].count(where: \.self) <= 1 else {
            throw ValidationError("only one of '--json', '--csv' and '--table' can be given")
        }
        guard limit ?? 1 > 0 else { throw ValidationError("'--limit' must be 1 or more") }
    }

    private var form: QueryForm { output.json ? .json : csv ? .csv : .table }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let limits = QueryStore.Limits(rows: limit, time: timeout?.duration)
        var prompt = QueryPrompt(
            QueryStore(limits: limits, context: invocation.context),
            form: form,
            console: invocation.console
        )
        let (store, query) = (try store.map(invocation.inStores), query)
        try await invocation.look(into: name) { place in
            if let query {
                try prompt.answer(query, place.store(store))
            } else if isatty(0) == 1 {
                try prompt.run { try place.store(store) }
            } else {
                let text = FileHandle.standardInput.readDataToEndOfFile()
                try prompt.answer(String(decoding: text, as: UTF8.self), place.store(store))
            }
        }
        return CommandResult(.done)
    }
}
