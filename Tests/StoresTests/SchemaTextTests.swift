import CSQLite
import Files
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// What a store's schema says is data, which anybody may have written there.
@Suite("The text of a schema")
struct SchemaTextTests {
    private let sandbox: Sandbox
    private let directory: FilePath

    init() throws {
        sandbox = try Sandbox.inMemory()
        directory = try sandbox.directory("Stores")
        try sandbox.directory("Scratch")
    }

    private func snapshot(_ name: String) throws -> StoreSnapshot {
        try Store(name, in: directory).snapshot(scratch: sandbox.path.appending("Scratch"))
    }

    private static let good: [(SchemaText.Kind, String)] = [
        (.table, "CREATE TABLE t (x)"),
        (.table, "create\ttable t (x) ;; -- the end; of it\n/* ; */"),
        (.table, "CREATE /* ; */ TABLE \"a;\n.shell b\" (x CHECK (x <> ';'), [y;], `z;`)"),
        (.table, "CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'unicode61')"),
        (.index, "CREATE UNIQUE INDEX i ON t (x) WHERE x > ';'"),
        (.index, "CREATE INDEX i ON t (x)"),
        (.view, "CREATE VIEW v AS SELECT 1 -- ;"),
        (.trigger, "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; DELETE FROM t; END"),
        (
            .trigger,
            "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END;"
        ),
    ]

    @Test("is one statement that makes what its row says", arguments: Self.good)
    func isOne(_ kind: SchemaText.Kind, _ sql: String) {
        #expect(SchemaText.fault(in: sql, of: kind) == nil)
    }

    private static let bad: [(SchemaText.Kind, String)] = [
        (.table, ""), (.table, "ATTACH 'x' AS y"), (.table, "CREATE INDEX i ON t (x)"),
        (.table, "CREATE TEMP TABLE t (x)"), (.table, "DROP TABLE t"),
        (.table, "CREATE TABLE t (x); ATTACH 'x' AS y"),
        (.table, "CREATE TABLE t (x);\n.shell touch RAN"),
        (.table, "CREATE TABLE t (x) /* */ ; -- \n ATTACH 'x' AS y"),
        (.table, "CREATE VIRTUAL TABLE t USING fts5 (x, $a(')); ATTACH 'x' AS y; --'"),
        (.index, "CREATE INDEX i ON t (x); DELETE FROM t"), (.index, "CREATE TABLE i (x)"),
        (.view, "CREATE VIEW v AS SELECT 1; SELECT 2"), (.view, "CREATE TABLE v (x)"),
        (.trigger, "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END; ATTACH 'x' AS y"),
        (.trigger, "CREATE TRIGGER r AFTER INSERT ON t; ATTACH 'x' AS y; BEGIN; END"),
        (.trigger, "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1;"),
        (.trigger, "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END"),
    ]

    @Test("is refused if there is more in it, or another statement", arguments: Self.bad)
    func isMore(_ kind: SchemaText.Kind, _ sql: String) throws {
        #expect(SchemaText.fault(in: sql, of: kind) != nil)
        let scratch = try ScratchDatabase(name: "a")
        try scratch.run("CREATE TABLE t (x)")
        #expect(throws: StoreError.self) {
            try SchemaText.run(sql, of: kind, on: scratch.handle, name: "a")
        }
        let count = try scratch.prepare("SELECT count(*) FROM sqlite_schema")
        #expect(try count.step() && count.integer(0) == 1)
    }

    @Test(
        "makes nothing elsewhere, and calls nothing that reaches beyond the store",
        arguments: [
            (SchemaText.Kind.table, "CREATE TABLE temp.u (x)"),
            (.view, "CREATE VIEW temp.u AS SELECT 1"),
            (.index, "CREATE INDEX i ON t (load_extension(x))"),
            (.index, "CREATE INDEX i ON t (fts3_tokenizer(x))"),
        ]
    )
    func guarded(_ kind: SchemaText.Kind, _ sql: String) throws {
        let scratch = try ScratchDatabase(name: "a")
        try scratch.run("CREATE TABLE t (x)")
        #expect(throws: StoreError.self) {
            try SchemaText.run(sql, of: kind, on: scratch.handle, name: "a")
        }
    }

    @Test("makes a table, an index, a view, a trigger, a virtual table, and a trigger of its own")
    func runs() throws {
        let scratch = try ScratchDatabase(name: "a")
        for (kind, sql) in [
            (SchemaText.Kind.table, "CREATE TABLE t (x INTEGER PRIMARY KEY AUTOINCREMENT, y)"),
            (.index, "CREATE UNIQUE INDEX i ON t (lower(y)) WHERE y > 1"),
            (.view, "CREATE VIEW v AS WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a"),
            (.trigger, "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE y = 7; END"),
            (.table, "CREATE VIRTUAL TABLE f USING fts5 (x)"),
        ] { try SchemaText.run(sql, of: kind, on: scratch.handle, name: "a") }
        try SchemaText.run(
            "create  /* a */ trigger \"s;\" AFTER INSERT ON t BEGIN DELETE FROM t WHERE y = 8; END",
            of: .trigger,
            isTemporary: true,
            on: scratch.handle,
            name: "a"
        )
        try scratch.run("INSERT INTO t (y) VALUES (7), (8), (9)")
        let rows = try scratch.prepare("SELECT count(*) FROM t")
        #expect(try rows.step() && rows.integer(0) == 1)
        let own = try scratch.prepare("SELECT count(*) FROM sqlite_temp_schema")
        #expect(try own.step() && own.integer(0) == 1)
    }

    @Test(
        "with more in it has the store refused and the row named",
        arguments: [
            ("t", "CREATE TABLE t (x)"), ("v", "CREATE VIEW v AS SELECT 1"),
            ("i", "CREATE INDEX i ON t (x)"),
            ("r", "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END"),
        ]
    )
    func named(_ name: String, _ sql: String) throws {
        try DatabaseContent.run(
            [
                """
                CREATE TABLE t (x); CREATE VIEW v AS SELECT 1; CREATE INDEX i ON t (x);
                CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END;
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = '\(sql); ATTACH ''made.sqlite'' AS y' WHERE name = '\(name)';
                """
            ],
            on: directory.appending("a.sqlite")
        )
        let snapshot = try snapshot("a.sqlite")
        let error = #expect(throws: StoreError.self) { try snapshot.schema() }
        let text = try #require(error?.description)
        #expect(text.contains("'a.sqlite'") && text.contains("'\(name)'") && text.contains("more"))
    }

    @Test("has no line in a script that ends a statement in SQLite's shell")
    func terminators() throws {
        for (sql, script) in [
            ("CREATE TABLE t (x)", "CREATE TABLE t (x);"),
            ("CREATE TABLE t (x) -- end", "CREATE TABLE t (x) -- end\n;"),
            ("CREATE VIEW v AS SELECT\ngo\n.shell a\nFROM go", nil),
            ("CREATE VIEW v AS SELECT 1\n /  -- half\n2", nil),
            ("CREATE VIEW v AS SELECT 1 -- a\n GO /* b */\n.shell a\n", nil),
            ("CREATE TABLE t (\ngo TEXT,\ngoing INT, \"\ngo\n\")", ""),
        ] as [(String, String?)] {
            let made = SchemaText.inScript(sql)
            let expected = script == "" ? "\(sql);" : script
            if let expected { #expect(made == expected) }
            if script == nil {
                #expect(made.contains("/**/") && made.replacing("/**/", with: "").hasPrefix(sql))
            }
        }
        try #require(Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
        let store = directory.appending("a.sqlite")
        let script =
            "CREATE TABLE go (shell);\n"
            + SchemaText.inScript("CREATE VIEW v AS SELECT\ngo\n.shell touch\nFROM go") + "\n"
        let file = try sandbox.write(script, to: "script.sql")
        try Tool.check("sqlite3", ["-bail", store.string, ".read \(file.string)"])
    }

    @Test("is not trusted by any connection to a store")
    func distrusted() throws {
        try DatabaseContent.run(["CREATE TABLE t (x)"], on: directory.appending("a.sqlite"))
        let snapshot = try snapshot("a.sqlite")
        let own = try Connection(
            directory.appending("a.sqlite"),
            name: "a.sqlite",
            access: .own
        )
        for handle in [try snapshot.connection.handle(), try own.handle()] {
            let trust = try Statement(handle, name: "a", "PRAGMA trusted_schema")
            // Before 3.41 SQLite takes its JSON functions for unsafe.
            let isOwn = try handle == own.handle()
            let isTrusted = sqlite3_libversion_number() < 3_041_000 || isOwn
            #expect(try trust.step() && trust.integer(0) == (isTrusted ? 1 : 0))
            let check = try Statement(handle, name: "a", "PRAGMA cell_size_check")
            #expect(try check.step() && check.integer(0) == 1)
            #expect(sqlite3_exec(handle, "ATTACH ':memory:' AS y", nil, nil, nil) != SQLITE_OK)
            let edit = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x'"
            #expect(sqlite3_exec(handle, edit, nil, nil, nil) != SQLITE_OK)
        }
    }
}
