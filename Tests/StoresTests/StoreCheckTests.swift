import Files
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite("A check of a store")
struct StoreCheckTests {
    let sandbox: Sandbox
    let directory: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
        try sandbox.directory("Scratch")
    }

    /// Makes a store; SQLite enforces no foreign keys unless asked to.
    private func store(after statements: String...) throws -> Store {
        let application = try StoreApplication(on: directory.appending("a.sqlite"))
        for statement in statements { try application.run(statement) }
        try application.end()
        return try Store("a.sqlite", in: directory)
    }

    private func check(
        _ store: Store,
        _ level: CheckLevel = .full,
        isStrict: Bool = false
    ) throws -> [String] {
        try store.check(level, isStrict: isStrict, scratchParent: sandbox.path("Scratch"))
            .map(\.description)
    }

    @Test("reports rows that refer to missing rows, a line for each pair of tables")
    func missingParents() throws {
        let store = try store(
            after:
                "CREATE TABLE chat (id INTEGER PRIMARY KEY); CREATE TABLE person (id INTEGER PRIMARY KEY)",
            "CREATE TABLE \"a 'message'\" (chat REFERENCES chat, sender REFERENCES person, receiver REFERENCES person)",
            "INSERT INTO chat VALUES (1); INSERT INTO person VALUES (1)",
            // Good; without a chat; without either person; nothing to refer to; good.
            "INSERT INTO \"a 'message'\" VALUES (1, 1, 1), (2, 1, 1), (3, 4, 5), (NULL, NULL, NULL), (1, 1, NULL)",
            "CREATE TABLE \"one\nline\" (id TEXT PRIMARY KEY, other REFERENCES gone) WITHOUT ROWID",
            "INSERT INTO \"one\nline\" VALUES ('a', 1), ('b', 1)"
        )
        let remarks = [
            "2 rows of 'a 'message'' refer to rows of 'chat' that are not there",
            "1 row of 'a 'message'' refers to rows of 'person' that are not there",
            "2 rows of 'one line' refer to rows of 'gone' that are not there",
        ]
        #expect(try check(store) == remarks)
        #expect(try check(store, .quick, isStrict: true) == [])
        #expect(try check(store, .none, isStrict: true) == [])
        #expect(throws: StoreError.damaged("a.sqlite", reason: remarks[0])) {
            try check(store, isStrict: true)
        }
        let snapshot = try store.snapshot(scratch: sandbox.path("Scratch"))
        let findings = try snapshot.findings(.full)
        #expect(findings.map(\.description) == remarks)
        var report = try snapshot.report(hasSupportDirectory: false)
        report.add(findings, isStrict: false)
        #expect(report.remarks == findings && report.damage == [])
        report.add(findings, isStrict: true)
        report.add(findings, isStrict: true)
        #expect(report.damage == remarks)
    }

    @Test(
        "finds nothing in a table whose primary key is not its first columns, though SQLite 3.40 does",
        arguments: [
            [
                "CREATE TABLE t (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID",
                "INSERT INTO t VALUES (1, 2)",
            ],
            [
                "CREATE TABLE t (v TEXT NOT NULL, k INTEGER PRIMARY KEY) WITHOUT ROWID",
                "INSERT INTO t VALUES ('x', 1), ('y', 2)",
            ],
            [
                "CREATE TABLE \"t.x\" (a INT, \"b.c\" INT, PRIMARY KEY (\"b.c\", a)) STRICT, WITHOUT ROWID",
                "INSERT INTO \"t.x\" VALUES (1, 2), (3, 4)",
            ],
        ]
    )
    func permutedKey(_ statements: [String]) throws {
        let store = try store(after: statements.joined(separator: ";"))
        for level in [CheckLevel.quick, .full] {
            #expect(try check(store, level, isStrict: true) == [])
        }
    }

    @Test("finds what is wrong behind false alarms")
    func behindFalseAlarms() throws {
        let store = try store(
            after: "CREATE TABLE a (v TEXT NOT NULL, k INTEGER PRIMARY KEY) WITHOUT ROWID",
            """
            INSERT INTO a WITH RECURSIVE s(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < 300)
                SELECT 'x', n FROM s
            """,
            "CREATE TABLE b (id INTEGER PRIMARY KEY, v); INSERT INTO b VALUES (1, NULL)",
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_schema SET sql = 'CREATE TABLE b (id INTEGER PRIMARY KEY, v NOT NULL)' WHERE name = 'b'"
        )
        #expect(throws: StoreError.damaged("a.sqlite", reason: "NULL value in b.v")) {
            try check(store)
        }
    }

    @Test("reports some of many, and counts the others")
    func manyPairs() throws {
        let tables = (10..<35).map {
            "CREATE TABLE t\($0) (x REFERENCES gone); INSERT INTO t\($0) VALUES (1)"
        }
        let remarks = try check(store(after: tables.joined(separator: ";")))
        #expect(remarks.count == 21)
        #expect(remarks.first == "1 row of 't10' refers to rows of 'gone' that are not there")
        #expect(remarks.last == "and 5 more of this kind")
    }

    @Test("reports foreign keys that the schema does not allow to be checked, and goes on")
    func mismatch() throws {
        let store = try store(
            after: "CREATE TABLE parent (name); CREATE TABLE child (x REFERENCES parent (name))",
            "INSERT INTO child VALUES (1)",
            "CREATE TABLE other (x REFERENCES gone); INSERT INTO other VALUES (1)"
        )
        let reason = "foreign key mismatch - \"child\" referencing \"parent\""
        #expect(
            try check(store) == [
                "the foreign keys of 'child' cannot be checked: \(reason)",
                "1 row of 'other' refers to rows of 'gone' that are not there",
            ]
        )
    }

    @Test("takes no such row for the damage that there is besides")
    func damage() throws {
        let store = try store(
            after: "CREATE TABLE t (x REFERENCES gone, y); CREATE INDEX i ON t (y)",
            "INSERT INTO t VALUES (1, 1)",
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = 'CREATE INDEX i ON t (x)' WHERE name = 'i'",
            "INSERT INTO t VALUES (7, 8)"
        )
        let findings = try store.snapshot(scratch: sandbox.path("Scratch")).findings(.full)
        #expect(findings.map { $0.isDamage(isStrict: false) } == [true, false])
        #expect(findings.allSatisfy { $0.isDamage(isStrict: true) })
        #expect(throws: StoreError.self) { try check(store) }
    }

    @Test("stops on request, in the middle of foreign keys too")
    func cancellation() throws {
        let store = try store(
            after: "CREATE TABLE t (x REFERENCES gone)",
            "WITH n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 300000) INSERT INTO t SELECT x FROM n"
        )
        let snapshot = try store.snapshot(scratch: sandbox.path("Scratch"))
        var calls = 0
        _ = try snapshot.findings(.full) { calls += 1 }
        var last = calls
        #expect(throws: CancellationError.self) {
            try snapshot.findings(.full) {
                last -= 1
                if last == 0 { throw CancellationError() }
            }
        }
    }
}
