import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Stores that somebody else made: what their schemas and rows say is data.
@Suite(
    "Stores with a hostile schema",
    .enabled(if: Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
)
struct HostileSchemaTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        try sandbox.directory("Stores")
        try sandbox.directory("Remote")
        try sandbox.directory("Container")
        try program.configure(
            "stores: \(sandbox.path("Stores").string)\nremote: \(sandbox.path("Remote").string)\n"
        )
        try sql(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'a');
            CREATE TABLE go (shell);
            """
        )
        try program.expect("backup", "--quiet")
    }

    private func sql(_ text: String, on store: String = "Stores/a.sqlite") throws {
        try Tool.check("sqlite3", [sandbox.path(store).string, text])
    }

    private static let rows = [
        ("z", "CREATE TABLE z (x)"), ("v", "CREATE VIEW v AS SELECT 1"),
        ("i", "CREATE UNIQUE INDEX i ON t (name) WHERE name > ''"),
        ("r", "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO go VALUES (1); END"),
    ]

    /// Has a statement of the schema say more.
    private func add(_ tail: String, to row: (name: String, sql: String)) throws {
        let text = "\(row.sql)\(tail)".replacing("'", with: "''")
        try sql(
            """
            \(row.sql); PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = '\(text)' WHERE name = '\(row.name)';
            """
        )
    }

    private func runScript(_ script: [UInt8], safely: Bool) throws {
        let copy = sandbox.path("copy.sqlite")
        try LocalFileSystem().remove(copy)
        try sql(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE go (shell)",
            on: "copy.sqlite"
        )
        _ = try Tool.run(
            "sqlite3",
            (safely ? ["-safe", "-bail"] : []) + [copy.string],
            directory: sandbox.path,
            input: script
        )
    }

    @Test("A hostile store adds no command to the script of a diff, and is named", arguments: rows)
    func script(_ row: (name: String, sql: String)) throws {
        try add(";\n.shell touch RAN\n", to: row)
        let outcome = try program.run("diff", "latest", "live", "--sql")
        #expect(outcome.status != 0 && !outcome.text.contains("RAN"))
        #expect(outcome.errors.contains("'\(row.name)'"), "\(outcome.errors)")
        for safely in [true, false] { try runScript(outcome.output, safely: safely) }
        #expect(!sandbox.exists("RAN"))
        // What is saved and checked as pages needs no schema.
        try program.expect("backup", "--check", "--accept-changes")
        try program.expect("check", "--restore")
    }

    @Test("A hostile store cannot end a statement with a line of its own")
    func terminator() throws {
        try sql("CREATE VIEW v AS SELECT\ngo\n.shell touch -- RAN\nFROM go")
        let script = try program.expect("diff", "latest", "live", "--sql").output
        for safely in [true, false] {
            try runScript(script, safely: safely)
            #expect(!sandbox.exists("RAN"))
            try sql("SELECT * FROM v", on: "copy.sqlite")
        }
    }

    @Test(
        "A sync runs nothing from a hostile store, and names it",
        arguments: rows.filter { $0.0 != "v" }
    )
    func sync(_ row: (name: String, sql: String)) throws {
        try sql("CREATE TABLE victim (x); INSERT INTO victim VALUES (1)", on: "victim.sqlite")
        let victim = sandbox.path("victim.sqlite").string
        let made = sandbox.path("made.sqlite").string
        let attack = """
            ; ATTACH '\(victim)' AS y; DELETE FROM y.victim; DETACH y;
            ATTACH '\(made)' AS z; CREATE TABLE z.a (b); --
            """
        try add(attack, to: row)
        let enabled = try program.run(
            "sync",
            "enable",
            "--container",
            sandbox.path("Container").string,
            "--device",
            "a",
            "--yes"
        )
        #expect(enabled.status != 0)
        #expect(enabled.errors.contains("'\(row.name)'"), "\(enabled.errors)")
        #expect(!sandbox.exists("made.sqlite"))
        let count = try Tool.check("sqlite3", [victim, "SELECT count(*) FROM victim"])
        #expect(count == "1\n")
    }

    @Test("No function in a schema computes a value that is longer than eight times the store")
    func length() throws {
        try sql(
            """
            CREATE TABLE z (x, g TEXT GENERATED ALWAYS AS (hex(zeroblob(length(x) * 200000000))) VIRTUAL);
            INSERT INTO z (x) VALUES ('a');
            CREATE VIEW v AS SELECT instr(hex(zeroblob(50000000)), hex(zeroblob(100000)) || '1');
            """
        )
        try program.expect("backup", "--quiet")
        let check = try program.run("check", "--restore")
        #expect(check.status == 1 && check.text.contains("too big"), "\(check.text)")
        let query = try program.run("sql", "latest", "SELECT * FROM v")
        #expect(query.status == 1 && query.errors.contains("too big"), "\(query.errors)")
    }

    @Test("A hostile store's names in JSON do not control a terminal")
    func json() throws {
        let name = "a\u{202E}b\u{9B}c\u{2028}d\u{61C}e\u{200F}\u{7F}ü"
        try sql("INSERT INTO t VALUES (2, '\(name)')")
        let outcome = try program.expect("diff", "--rows", "--json")
        let scalars = outcome.text.unicodeScalars.filter { !$0.isPrintable }
        #expect(scalars.allSatisfy { $0 == "\n" } && outcome.text.contains("\\u202e"))
        let row = try #require(outcome.jsonLines.first { $0["message_type"] as? String == "row" })
        let cells = try #require(row["cells"] as? [[String: Any]])
        let texts = cells.compactMap { ($0["new"] as? [String: Any])?["text"] as? String }
        #expect(texts.contains { $0.utf8.elementsEqual(name.utf8) })
    }
}
