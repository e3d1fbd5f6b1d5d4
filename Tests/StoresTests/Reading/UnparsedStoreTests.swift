import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// Stores of applications that have more than the SQLite here: newer words, functions, collations, modules.
@Suite("A store that this SQLite does not understand in full")
struct UnparsedStoreTests {
    let sandbox: Sandbox
    let directory: FilePath
    let scratch: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
        scratch = try sandbox.directory("Scratch")
    }

    /// Makes a store with a thousand rows, of which the schema is then changed.
    private func store(_ journal: String = "delete", after change: String...) throws -> Store {
        let application = try StoreApplication(
            on: directory.appending("a.sqlite"),
            "PRAGMA journal_mode = \(journal)",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a, v)",
            "CREATE TABLE u (x); INSERT INTO u VALUES (1)",
            "CREATE INDEX i ON t (a)",
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT i, nullif(i % 7, 0), randomblob(100) FROM n",
            "PRAGMA writable_schema = ON"
        )
        for statement in change { try application.run(statement) }
        if journal == "wal" { application.kill() } else { try application.end() }
        return try Store("a.sqlite", in: directory)
    }

    private static let newer: [(String, String, rows: Int64?)] = [
        (
            "INSERT INTO sqlite_master VALUES ('view', 'x', 'x', 0, 'CREATE VIEW x AS SELECT v FROM t IN NEW WORDS')",
            "cannot parse 'x' of its schema", 1000
        ),
        (
            "INSERT INTO sqlite_master VALUES ('trigger', 'x', 't', 0, 'CREATE TRIGGER x AFTER INSERT ON t WHEN NEW WORDS BEGIN SELECT 1; END')",
            "cannot parse 'x' of its schema", 1000
        ),
        // It is parsed up to there, and looks as if it had an entry for almost every row.
        (
            "UPDATE sqlite_master SET sql = 'CREATE INDEX i ON t (a) WHERE a NEWER 3' WHERE name = 'i'",
            "cannot parse 'i' of its schema", 1000
        ),
        (
            "UPDATE sqlite_master SET sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY, a, v, NEW (x y))' WHERE name = 't'",
            "cannot parse 't' of its schema", nil
        ),
    ]

    @Test("has no damage in its schema's newer words", arguments: newer)
    func newerWords(change: String, reason: String, rows: Int64?) throws {
        let store = try store(after: change)
        let snapshot = try store.snapshot(scratch: scratch)
        let file = try sandbox.read("Stores/a.sqlite")
        #expect(try snapshot.bytes() == file)
        var report = try snapshot.report(hasSupportDirectory: false)
        #expect(report.damage == [])
        let counts = Dictionary(report.facts.tables.map { ($0.name, $0.rows) }) { $1 }
        #expect(counts == ["t": rows, "u": 1])
        #expect(report.remarks.isEmpty == (rows != nil))
        for level in [CheckLevel.quick, .full] {
            let remarks = try store.check(level, isStrict: true, scratchParent: scratch)
            #expect(
                remarks.contains { "\($0)".hasPrefix("not checked: ") && "\($0)".contains(reason) }
            )
            report.add(try snapshot.findings(level), isStrict: true)
            #expect(report.damage == [] && !report.remarks.isEmpty)
        }
        try store.open(scratchParent: scratch, busyTimeout: .zero)
    }

    @Test("gives no answer that might be wrong", arguments: newer)
    func noAnswers(change: String, reason: String, _: Int64?) throws {
        let snapshot = try store(after: change).snapshot(scratch: scratch)
        func refuses(_ body: () throws -> Void) {
            let error = #expect(throws: StoreError.self, performing: body)
            #expect(error?.description.contains(reason) == true)
        }
        refuses { _ = try snapshot.schema() }
        refuses { try snapshot.query("SELECT 1", checking: {}) { _ in true } }
        refuses { try ReadableStore(snapshot).readSchema() }
        refuses { _ = try ReadableStore(snapshot).schema() }
    }

    @Test("with a log that nobody indexes is recovered like any other")
    func recovered() throws {
        let store = try store("wal", after: Self.newer[0].0, "INSERT INTO u VALUES (2)")
        try LocalFileSystem().remove(directory.appending("a.sqlite-shm"))
        let snapshot = try store.snapshot(scratch: scratch)
        #expect(snapshot.wasRecovered)
        let report = try snapshot.report(hasSupportDirectory: false)
        #expect(report.facts.tables.map(\.rows) == [1000, 2])
        #expect(try snapshot.findings(.full).allSatisfy { !$0.isDamage(isStrict: true) })
    }

    @Test("is damaged all the same if its pages are", arguments: newer)
    func damagedPages(change: String, _: String, rows: Int64?) throws {
        let store = try store(after: change)
        var bytes = try sandbox.read("Stores/a.sqlite")
        // The root of the table that all of them can parse.
        for offset in 2 * 4096..<2 * 4096 + 8 { bytes[offset] = 0x77 }
        try sandbox.write(bytes, to: "Stores/a.sqlite")
        #expect(throws: StoreError.self) { try store.check(.full, scratchParent: scratch) }
        #expect(
            try store.snapshot(scratch: scratch).findings(.full).contains {
                $0.isDamage(isStrict: false)
            }
        )
    }

    private static let absent: [(String, String)] = [
        (
            "CREATE INDEX k ON t (printf(v))",
            "UPDATE sqlite_master SET sql = replace(sql, 'printf', 'ours')"
        ),
        (
            "CREATE TABLE g (x CHECK (length(x) > 0))",
            "UPDATE sqlite_master SET sql = replace(sql, 'length', 'ours')"
        ),
        (
            "CREATE TABLE g (x, y AS (length(x)) NOT NULL)",
            "UPDATE sqlite_master SET sql = replace(sql, 'length', 'ours')"
        ),
        (
            "CREATE INDEX k ON t (v COLLATE NOCASE)",
            "UPDATE sqlite_master SET sql = replace(sql, 'NOCASE', 'OURS')"
        ),
        (
            "CREATE INDEX k ON t (v) WHERE length(v) > 3",
            "UPDATE sqlite_master SET sql = replace(sql, 'length', 'ours')"
        ),
        (
            "INSERT INTO sqlite_master VALUES ('table', 'w', 'w', 0, 'CREATE VIRTUAL TABLE w USING ours(a)')",
            "SELECT 1"
        ),
    ]

    @Test("has no damage in functions, collations and modules that are not here", arguments: absent)
    func applicationsOwn(make: String, change: String) throws {
        let store = try store(after: make, "INSERT INTO u VALUES (2)", change)
        let snapshot = try store.snapshot(scratch: scratch)
        let report = try snapshot.report(hasSupportDirectory: false)
        #expect(report.damage == [])
        #expect(report.facts.tables.filter { $0.name == "t" }.map(\.rows) == [1000])
        for level in [CheckLevel.quick, .full] {
            let remarks = try store.check(level, isStrict: true, scratchParent: scratch)
            #expect(remarks.allSatisfy { "\($0)".hasPrefix("not checked: parts of ") })
        }
        // Damage of another table is found nevertheless.
        var bytes = try sandbox.read("Stores/a.sqlite")
        for offset in 2 * 4096..<2 * 4096 + 8 { bytes[offset] = 0x77 }
        try sandbox.write(bytes, to: "Stores/a.sqlite")
        #expect(throws: StoreError.self) { try store.check(.quick, scratchParent: scratch) }
    }

    @Test("is distinguished from one whose schema no SQLite would write")
    func damagedSchema() throws {
        for change in [
            "UPDATE sqlite_master SET rootpage = 5000 WHERE name = 't'",
            "UPDATE sqlite_master SET sql = NULL WHERE name = 't'",
        ] {
            let store = try store(after: change)
            #expect { try store.check(.full, scratchParent: scratch) } throws: { error in
                if case StoreError.damaged = error { true } else { false }
            }
            try LocalFileSystem().remove(directory.appending("a.sqlite"))
        }
    }

    @Test(
        "whose file has the format of a newer version is sound and not checked",
        arguments: [(19, 3, true), (47, 5, true), (19, 200, false)]
    )
    func newerFormat(offset: Int, value: UInt8, isNewer: Bool) throws {
        let store = try store(after: "INSERT INTO u VALUES (3)")
        var bytes = try sandbox.read("Stores/a.sqlite")
        bytes[offset] = value
        try sandbox.write(bytes, to: "Stores/a.sqlite")
        func check() throws -> [String] {
            try store.check(.full, isStrict: true, scratchParent: scratch).map(\.description)
        }
        guard isNewer else {
            #expect(throws: StoreError.self) { try check() }
            return
        }
        #expect(try check().allSatisfy { $0.hasPrefix("not checked: SQLite ") })
        #expect(try check().count == 1)
        try store.open(scratchParent: scratch, busyTimeout: .zero)
    }
}
