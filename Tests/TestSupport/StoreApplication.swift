public import SystemPackage

/// A running `StoreWriter`: another process that has stores open.
public final class StoreApplication {
    private let process: RunningTool

    /// Starts it in one of its modes, and waits until it writes.
    ///
    /// - Parameters:
    ///   - arguments: a mode, and what that needs.
    ///   - launcher: a program, with its arguments, that starts it.
    /// - Throws: where it cannot be started, or writes something else.
    public init(_ arguments: String..., launcher: [String] = []) throws {
        let command = launcher + [Tool.product("StoreWriter")] + arguments
        process = try RunningTool(command[0], Array(command.dropFirst()))
        try expect("ready", of: "start")
    }

    /// Opens a store, and has it run SQL.
    public convenience init(on store: FilePath, _ statements: String...) throws {
        try self.init("sql", store.string)
        try run(statements)
    }

    public var processIdentifier: Int32 { process.processIdentifier }

    /// Has it run SQL, in `sql` mode.
    public func run(_ statements: String...) throws {
        try run(statements)
    }

    private func run(_ statements: [String]) throws {
        for statement in statements {
            try process.writeLine(statement.split(separator: "\n").joined(separator: " "))
            try expect("ok", of: statement)
        }
    }

    /// Lets it end as an application does that is closed.
    public func end() throws {
        try process.closeInput()
        process.wait()
    }

    /// Ends it as a crash does.
    public func kill() {
        process.kill()
    }

    private struct Unexpected: Error {
        var request: String
        var answer: String?
    }

    private func expect(_ word: String, of request: String) throws {
        let answer = try process.readLine()
        guard answer == word else { throw Unexpected(request: request, answer: answer) }
    }
}
