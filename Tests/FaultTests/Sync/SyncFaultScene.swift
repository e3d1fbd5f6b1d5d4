import CSQLite
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A machine of a person's, with one store, that shares a container with another.
struct SyncMachine: Sendable {
    static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount INTEGER DEFAULT 1,
            list_id INTEGER REFERENCES list(id) ON DELETE CASCADE, photo BLOB);
        """

    let name: String
    /// Its home directory and its stores.
    let root: FilePath
    let trial: FilePath

    var store: FilePath { root.appending("Stores/notes.sqlite") }
    var container: FilePath { trial.appending("Container") }
    private var sidecars: FilePath { root.appending("home/.local/state/grocerydude/sync") }

    /// The directory that sync keeps for the store, once there is one.
    var sidecar: FilePath? {
        get throws {
            guard try FileInfo.ifPresent(sidecars) != nil else { return nil }
            return try Directory.open(sidecars).names().first.map {
                sidecars.appending($0.description)
            }
        }
    }

    init(_ name: String, in trial: FilePath) throws {
        self.name = name
        self.trial = trial
        root = trial.appending(name)
        for directory in ["", "Stores", "Remote", "home", "tmp"] {
            try LocalFileSystem().createDirectory(root.appending(directory))
        }
        try edit("PRAGMA journal_mode = WAL; \(Self.schema)")
    }

    // MARK: - The program

    private var environment: [String: String] {
        [
            "HOME": root.appending("home").string, "TMPDIR": root.appending("tmp").string,
            "TZ": "UTC", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "", "XDG_STATE_HOME": "",
            "XDG_CONFIG_HOME": "", "GROCERYDUDE_STORES": root.appending("Stores").string,
            "GROCERYDUDE_REMOTE": root.appending("Remote").string,
        ]
    }

    /// Runs a command to its end.
    func run(_ arguments: [String]) throws -> Tool.Outcome {
        try Tool.run(Trial.program, arguments, environment: environment)
    }

    /// Runs a command that has to succeed.
    @discardableResult
    func check(_ arguments: String...) throws -> Tool.Outcome {
        let outcome = try run(arguments)
        guard outcome.status == 0 else {
            throw Tool.Failure.failed("\(name): \(arguments)", outcome)
        }
        return outcome
    }

    /// Runs a command with faults.
    func run(_ arguments: [String], injecting injection: Injection) throws -> InjectedRun {
        try InjectedRun(
            Trial.program,
            arguments,
            environment: environment,
            below: trial,
            log: trial.removingLastComponent()
                .appending("\(trial.lastComponent?.string ?? "").log"),
            injecting: injection
        )
    }

    /// The arguments with which it takes part.
    var enabling: [String] {
        ["sync", "enable", "--container", container.string, "--device", name, "--yes"]
    }

    // MARK: - The application

    /// Runs SQL as an application does, that closes the store after.
    func edit(_ sql: String) throws { _ = try Self.rows(sql, in: store) }

    /// The items, whatever their numbers are here.
    func items() throws -> [String] { try Self.items(in: store) }

    /// The first column of what SQL gives.
    func rows(_ sql: String) throws -> [String] { try Self.rows(sql, in: store) }

    static func items(in store: FilePath) throws -> [String] {
        try rows(
            """
            SELECT i.name || ' ' || coalesce(i.amount, '-') || ' ' || coalesce(l.name, '-') || ' '
                || coalesce(length(i.photo), '-')
            FROM item i LEFT JOIN list l ON l.id = i.list_id ORDER BY 1
            """,
            in: store
        )
    }

    static func rows(_ sql: String, in store: FilePath) throws -> [String] {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        try #require(sqlite3_open(store.string, &database) == SQLITE_OK)
        sqlite3_busy_timeout(database, 5000)
        var rows: [String] = []
        var rest: String = sql
        while !rest.isEmpty {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            let (code, tail) = rest.withCString { text in
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v2(database, text, -1, &statement, &tail)
                return (code, tail.map { String(cString: $0) } ?? "")
            }
            rest = tail
            try #require(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(database)))")
            guard statement != nil else { continue }
            var step = sqlite3_step(statement)
            while step == SQLITE_ROW {
                rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
                step = sqlite3_step(statement)
            }
            try #require(
                step == SQLITE_DONE,
                "\(sql): \(String(cString: sqlite3_errmsg(database)))"
            )
        }
        return rows
    }
}

/// Two machines and their container, for one run of the program and what comes after it.
final class SyncTrial: Sendable {
    let root: FilePath
    let desk: SyncMachine
    let phone: SyncMachine
    private let sandbox: Sandbox

    init(in sandbox: Sandbox) throws {
        self.sandbox = sandbox
        root = try sandbox.directory("Trial-\(UUID().uuidString)")
        try LocalFileSystem().createDirectory(root.appending("Container"))
        desk = try SyncMachine("desk", in: root)
        phone = try SyncMachine("phone", in: root)
        try desk.edit(
            """
            INSERT INTO list VALUES (1, 'home'), (2, 'work');
            INSERT INTO item VALUES (1, 'milk', 2, 1, NULL), (2, 'tea', 1, 1, zeroblob(70000)),
                (3, 'pens', 5, 2, NULL)
            """
        )
        // Another order, one row alike, and one more.
        try phone.edit(
            """
            INSERT INTO list VALUES (7, 'home');
            INSERT INTO item VALUES (9, 'milk', 2, 7, NULL), (4, 'figs', 3, 7, NULL)
            """
        )
    }

    deinit { try? LocalFileSystem().remove(root) }

    var container: FilePath { root.appending("Container") }

    /// Has a machine take part.
    func enable(_ machine: SyncMachine) throws {
        let outcome = try machine.run(machine.enabling)
        guard outcome.status == 0 else { throw Tool.Failure.failed("sync enable", outcome) }
    }

    /// Has both take part, and know all of each other.
    func begin() throws {
        for machine in [desk, phone] { try enable(machine) }
        try desk.check("sync")
    }

    /// The files of the log, with all changes that were ever sent.
    func log() throws -> [String] {
        let path = container.appending("notes/log")
        guard try FileInfo.ifPresent(path) != nil else { return [] }
        return try Directory.open(path).names().map(\.description).sorted()
    }

    /// Removes all that is in the container.
    func empty() throws {
        for name in try Directory.open(container).names() {
            try LocalFileSystem().remove(container.appending(name.description))
        }
    }

    /// Makes what killed uploads left a day old.
    func age() throws {
        for name in try Directory.open(container).names().map(\.description)
        where name.hasSuffix(".partial") {
            try Tool.check("touch", ["-d", "2 days ago", container.appending(name).string])
        }
    }

    /// What a run that was killed must not leave for ever, once others ran: uploads under way, files that
    /// wait and that nobody knows of, scratch directories.
    func leftovers() throws -> [String] {
        var found: [String] = []
        try Directory.open(container).walk(failed: { throw $1 }) { walked in
            let name = walked.path.name.description
            if name.hasPrefix(".") || name.hasSuffix(".partial") { found.append(name) }
            return .descend
        }
        for machine in [desk, phone] {
            found += try Directory.open(machine.root.appending("tmp")).names().map(\.description)
            for name in ["outbox", "blobs"] {
                guard let path = try machine.sidecar?.appending(name),
                    try FileInfo.ifPresent(path) != nil
                else { continue }
                found += try Directory.open(path).names().map { "\(machine.name): \($0)" }
            }
        }
        return found
    }
}
