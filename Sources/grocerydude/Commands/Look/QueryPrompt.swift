internal import Files
internal import Operations
internal import Stores

/// One or more SQL statements, and their results on the console.
struct QueryPrompt {
    private let queries: QueryStore
    private var form: QueryForm
    private let console: Console

    init(_ queries: QueryStore, form: QueryForm, console: Console) {
        self.queries = queries
        self.form = form
        self.console = console
    }

    /// Runs statements and prints their results.
    ///
    /// - Throws: see `QueryStore.run`; the output is then marked as incomplete.
    func answer(_ sql: String, _ store: StoreSnapshot) throws {
        var printer = QueryPrinter(form, to: console)
        do {
            try queries.run(sql, in: store) { part in
                printer.take(part)
                // The reader of the output is gone.
                if console.isAnswerLost { throw CancellationError() }
            }
            printer.end(isComplete: true)
        } catch {
            guard !console.isAnswerLost else { return }
            printer.end(isComplete: false)
            throw error
        }
    }

    // MARK: - On a terminal

    private static let help = """
        .tables           the tables and views
        .schema [NAME]    the statements that made them
        .mode FORM        table, csv or json
        .quit             end, as Ctrl-D does
        All else is SQL, which ends with a semicolon.

        """

    /// Reads and runs statements until the input ends.
    ///
    /// - Parameter open: opens the store in its present state, for each statement.
    /// - Throws: `CancellationError` after a signal; errors of the store go to the console.
    mutating func run(_ open: () throws -> StoreSnapshot) throws {
        // Any fault of the store is reported before the first prompt.
        _ = try open()
        let editor = LineEditor()
        var text = ""
        while let line = editor.line(text.isEmpty ? "sql> " : "...> ") {
            try Interruption.check()
            editor.keep(line)
            if text.isEmpty, line.hasPrefix(".") {
                guard try obey(line, open) else { return }
                continue
            }
            text += line + "\n"
            guard StoreSnapshot.isComplete(text) else { continue }
            try reportingErrors { try answer(text, open()) }
            text = ""
        }
        try Interruption.check()
        console.answer(text: "\n")
    }

    /// Executes a line that begins with a dot.
    ///
    /// - Returns: `false` to end.
    private mutating func obey(_ line: String, _ open: () throws -> StoreSnapshot) throws -> Bool {
        let words = line.split(separator: " ").map(String.init)
        switch words[0] {
        case ".quit", ".exit": return false
        case ".tables":
            try reportingErrors {
                try answer(
                    """
                    SELECT name, type FROM sqlite_master
                    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1
                    """,
                    open()
                )
            }
        case ".schema":
            try reportingErrors { try showSchema(words.dropFirst().first, open()) }
        case ".mode":
            guard let form = words.dropFirst().first.flatMap(QueryForm.init) else { fallthrough }
            self.form = form
        default: console.answer(text: Self.help)
        }
        return true
    }

    /// Prints the statements that made a table, or all of them.
    private func showSchema(_ wanted: String?, _ store: StoreSnapshot) throws {
        var names: [String] = []
        var hasFound = false
        try queries.run("SELECT tbl_name, sql FROM sqlite_master WHERE sql <> ''", in: store) {
            guard case .row(let values) = $0, case .text(let sql) = values[1] else { return }
            guard wanted == nil || values[0].shown.lowercased() == wanted?.lowercased() else {
                names.append(values[0].shown)
                return
            }
            hasFound = true
            console.answer(bytes: sql.array + Array(";\n".utf8), isText: false)
        }
        if let wanted, !hasFound {
            throw LookingError.noTable(wanted, in: "the store", tables: names)
        }
    }

    /// Reports an error of a statement, so that another one may follow.
    private func reportingErrors(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch  where !(error is CancellationError) {
            console.error(error)
        }
    }
}
