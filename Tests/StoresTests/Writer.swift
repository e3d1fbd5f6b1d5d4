import TestSupport

/// A running `StoreWriter`: another process that has stores open.
final class Writer {
    private let process: RunningTool

    /// Starts it, and waits until it writes.
    init(_ arguments: String...) throws {
        process = try RunningTool(Tool.product("StoreWriter"), arguments)
        try expect("ready")
    }

    var processIdentifier: Int32 { process.processIdentifier }

    /// Has it run SQL, in `sql` mode.
    func run(_ statements: String...) throws {
        for statement in statements {
            try process.writeLine(statement.split(separator: "\n").joined(separator: " "))
            try expect("ok")
        }
    }

    /// Lets it end as an application does that is closed.
    func end() throws {
        try process.closeInput()
        process.wait()
    }

    /// Ends it as a crash does.
    func kill() {
        process.kill()
    }

    private struct Unexpected: Error {
        var text: String?
    }

    private func expect(_ word: String) throws {
        let text = try process.readLine()
        guard text == word else { throw Unexpected(text: text) }
    }
}
