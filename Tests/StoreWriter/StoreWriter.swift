internal import CSQLite
internal import Foundation

/// A second process for tests: an application that writes to stores.
///
///     StoreWriter sql PATH              runs SQL from standard input, a line at a time, and says "ok"
///     StoreWriter bank PATH JOURNAL     moves money between accounts as fast as it can
///     StoreWriter pair PATH PATH        counts in the first store, then in the second, and so on
///     StoreWriter churn DIRECTORY       makes stores, files and directories, renames and removes them
///
/// It says "ready" once it writes, and ends when its standard input does.
@main
enum StoreWriter {
    static func main() {
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "sql": runSQL(Database(arguments[2]))
        case "bank": runBank(Database(arguments[2]), journal: arguments[3])
        case "pair": runPair(Database(arguments[2]), Database(arguments[3]))
        case "churn": runChurn(arguments[2])
        default: fatalError("usage: StoreWriter sql|bank|pair|churn PATH …")
        }
    }

    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private static func runSQL(_ database: Database) {
        say("ready")
        while let line = readLine() {
            say(database.run(line) ?? "ok")
        }
    }

    /// Every transaction keeps the sum of all balances, and grows and shrinks the database.
    private static func runBank(_ database: Database, journal: String) {
        database.mustRun("PRAGMA journal_mode = \(journal)")
        database.mustRun("PRAGMA synchronous = off")
        database.mustRun("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)")
        database.mustRun("CREATE TABLE note (id INTEGER PRIMARY KEY, body BLOB)")
        database.mustRun(
            """
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO account SELECT i, 1000 FROM n
            """
        )
        whileInputIsOpen { round in
            let from = Int.random(in: 1...200)
            let to = Int.random(in: 1...200)
            let amount = Int.random(in: 1...50)
            guard database.run("BEGIN IMMEDIATE") == nil else { return }
            database.mustRun("UPDATE account SET balance = balance - \(amount) WHERE id = \(from)")
            if round % 3 == 0 {
                database.mustRun("INSERT INTO note (body) VALUES (randomblob(\(amount * 200)))")
            }
            if round % 100 == 0 {
                database.mustRun("DELETE FROM note WHERE id % 7 <> \(round % 7)")
            }
            database.mustRun("UPDATE account SET balance = balance + \(amount) WHERE id = \(to)")
            // In a rollback mode, a reader makes the commit wait.
            while database.run("COMMIT") != nil {}
        }
    }

    private static func runPair(_ first: Database, _ second: Database) {
        for database in [first, second] {
            database.mustRun("PRAGMA journal_mode = wal")
            database.mustRun("PRAGMA synchronous = off")
            database.mustRun("CREATE TABLE counter (value INTEGER NOT NULL)")
            database.mustRun("INSERT INTO counter VALUES (0)")
        }
        whileInputIsOpen { _ in
            first.mustRun("UPDATE counter SET value = value + 1")
            second.mustRun("UPDATE counter SET value = value + 1")
        }
    }

    /// Of everything there are eight at a time.
    private static func runChurn(_ directory: String) {
        let files = FileManager.default
        whileInputIsOpen { round in
            let (new, old) = ("\(directory)/\(round)", "\(directory)/\(round - 8)")
            let store = Database("\(new).sqlite")
            store.mustRun("PRAGMA synchronous = off")
            store.mustRun("PRAGMA journal_mode = \(round % 2 == 0 ? "wal" : "delete")")
            store.mustRun("CREATE TABLE t AS SELECT \(round) AS value")
            try? files.createDirectory(atPath: new, withIntermediateDirectories: false)
            try? Data(count: round % 100 * 1000).write(to: URL(fileURLWithPath: "\(new)/draft"))
            try? files.moveItem(atPath: "\(new)/draft", toPath: "\(new)/file")
            for path in [old, "\(old).sqlite"] { try? files.removeItem(atPath: path) }
        }
    }

    private static func whileInputIsOpen(_ body: (Int) -> Void) {
        for round in 1... {
            body(round)
            if round == 20 { say("ready") }
            var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            if poll(&input, 1, 0) != 0 { return }
        }
    }
}

/// A connection, as an application has one.
final class Database {
    private var handle: OpaquePointer?

    init(_ path: String) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK else {
            fatalError("cannot open \(path)")
        }
        sqlite3_busy_timeout(handle, 20_000)
    }

    deinit {
        sqlite3_close(handle)
    }

    /// Runs SQL; returns what went wrong.
    func run(_ sql: String) -> String? {
        sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK
            ? nil : String(cString: sqlite3_errmsg(handle))
    }

    func mustRun(_ sql: String) {
        if let error = run(sql) { fatalError("\(sql): \(error)") }
    }
}
