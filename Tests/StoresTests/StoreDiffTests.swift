import CSQLite
import Files
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite("A difference of stores")
struct StoreDiffTests {
    private let stores: RowsSandbox

    init() throws { stores = try RowsSandbox() }

    private func diff() throws -> StoreDiff {
        try StoreDiff(
            from: ReadableStore(stores.snapshot("old.sqlite")),
            to: ReadableStore(stores.snapshot("new.sqlite"))
        )
    }

    private func counts(_ diff: StoreDiff, _ table: String) throws -> [Int64] {
        let pair = try #require(diff.tables.first { $0.name == table })
        let counts = try diff.counts(of: pair)
        return [counts.added, counts.removed, counts.changed]
    }

    @Test("reports tables, columns, indexes, triggers and views")
    func schema() throws {
        try stores.run(
            "old.sqlite",
            "CREATE TABLE kept (a INTEGER, b TEXT NOT NULL DEFAULT 'x', c)",
            "CREATE INDEX i ON kept (a)",
            "CREATE TABLE gone (x)",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TABLE same (x)"
        )
        try stores.run(
            "new.sqlite",
            "CREATE TABLE Kept (A REAL, b TEXT DEFAULT 'x' COLLATE NOCASE, d)",
            "CREATE INDEX i ON kept (b)",
            "CREATE TRIGGER r AFTER INSERT ON kept BEGIN SELECT 1; END",
            "CREATE TABLE come (x)",
            "CREATE VIEW v AS SELECT 2",
            "CREATE TABLE same (x)"
        )
        let tables = try diff().schema.tables
        #expect(tables.map(\.name) == ["come", "gone", "Kept", "v"])
        #expect(tables.map(\.change) == [.added, .removed, .changed, .changed])
        #expect(
            tables[2].columns == [
                .init(name: "A", change: .changed, old: "INTEGER", new: "REAL"),
                .init(
                    name: "b",
                    change: .changed,
                    old: "TEXT NOT NULL DEFAULT 'x'",
                    new: "TEXT DEFAULT 'x' COLLATE NOCASE"
                ),
                .init(name: "d", change: .added, old: nil, new: ""),
                .init(name: "c", change: .removed, old: "", new: nil),
            ]
        )
        #expect(
            tables[2].parts == [
                .init(kind: "index", name: "i", change: .changed),
                .init(kind: "trigger", name: "r", change: .added),
            ]
        )
    }

    @Test("knows rows by what both sides have: rowids, keys, or all values")
    func identities() throws {
        try stores.run(
            "old.sqlite",
            "CREATE TABLE numbered (x)",
            "INSERT INTO numbered VALUES ('a'), ('b')",
            "CREATE TABLE keyed (k TEXT PRIMARY KEY, x)",
            "INSERT INTO keyed VALUES ('a', 1), ('b', 2)",
            "CREATE TABLE rekeyed (k TEXT PRIMARY KEY, x) WITHOUT ROWID",
            "INSERT INTO rekeyed VALUES ('a', 1), ('b', 2)",
            "CREATE TABLE hidden (rowid, _rowid_, oid)",
            "INSERT INTO hidden VALUES (1, 2, 3), (1, 2, 3), (4, 5, 6)"
        )
        try stores.run(
            "new.sqlite",
            "CREATE TABLE numbered (x)",
            "INSERT INTO numbered VALUES ('A'), ('b'), ('c')",
            // The rows have other rowids.
            "CREATE TABLE keyed (k TEXT PRIMARY KEY, x)",
            "INSERT INTO keyed VALUES ('b', 2), ('a', 7), ('c', 1)",
            "CREATE TABLE rekeyed (k TEXT, x PRIMARY KEY) WITHOUT ROWID",
            "INSERT INTO rekeyed VALUES ('a', 1), ('c', 2)",
            "CREATE TABLE hidden (rowid, _rowid_, oid)",
            "INSERT INTO hidden VALUES (4, 5, 6), (1, 2, 3), (7, 8, 9)"
        )
        let diff = try diff()
        #expect(try counts(diff, "numbered") == [1, 0, 1])
        #expect(try counts(diff, "keyed") == [1, 0, 1])
        #expect(try counts(diff, "rekeyed") == [1, 1, 0])
        #expect(try counts(diff, "hidden") == [1, 1, 0])
        let pair = try #require(diff.tables.first { $0.name == "hidden" })
        var kinds: [SchemaDiff.Change] = []
        try diff.forEachChange(of: pair) { change in
            #expect(change.key.isEmpty)
            kinds.append(change.kind)
            return true
        }
        #expect(kinds == [.removed, .added])
    }

    @Test("reports only the size of large values, and all rows of a table that one side has")
    func shown() throws {
        try stores.run("old.sqlite", "CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
        try stores.run(
            "new.sqlite",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, x)",
            "INSERT INTO t VALUES (5, zeroblob(70000))",
            "CREATE TABLE u (y)",
            "INSERT INTO u VALUES ('a'), ('b')"
        )
        let diff = try diff()
        #expect(try counts(diff, "u") == [2, 0, 0])
        let pair = try #require(diff.tables.first { $0.name == "t" })
        try diff.forEachChange(of: pair) { change in
            #expect(
                change.cells.map(\.new) == [.stored(.integer(5)), .large(.blob, bytes: 70_000)]
            )
            return true
        }
    }

    @Test("reads of rows that lack an added column the default, beside large values")
    func addedColumn() throws {
        for name in ["old.sqlite", "new.sqlite"] {
            try stores.run(
                name,
                "CREATE TABLE t (id INTEGER PRIMARY KEY, x)",
                "INSERT INTO t VALUES (1, zeroblob(70000))",
                "ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'none'"
            )
        }
        try stores.run("new.sqlite", "UPDATE t SET more = 'some'")
        let diff = try diff()
        let pair = try #require(diff.tables.first)
        try diff.forEachChange(of: pair) { change in
            let cell = RowChange.Cell(
                column: "more",
                old: .stored(.text("none")),
                new: .stored(.text("some"))
            )
            #expect(change.cells == [cell])
            return true
        }
    }

    @Test("reads tables that need a collation of the application")
    func absentCollation() throws {
        for name in ["old.sqlite", "new.sqlite"] {
            try DatabaseContent.with(stores.directory.appending(name)) { handle in
                let compare:
                    @convention(c) (
                        UnsafeMutableRawPointer?, CInt, UnsafeRawPointer?, CInt, UnsafeRawPointer?
                    ) -> CInt = { _, _, left, _, right in
                        // By the second letter.
                        CInt(left!.load(fromByteOffset: 1, as: UInt8.self))
                            - CInt(right!.load(fromByteOffset: 1, as: UInt8.self))
                    }
                sqlite3_create_collation_v2(handle, "own", SQLITE_UTF8, nil, compare, nil)
                for sql in [
                    "CREATE TABLE t (k TEXT COLLATE own PRIMARY KEY, x) WITHOUT ROWID",
                    "INSERT INTO t VALUES ('zb', 1), ('ac', 2), ('md', 3)",
                    name == "new.sqlite" ? "UPDATE t SET x = 4 WHERE k = 'ac'" : "SELECT 1",
                ] { #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK) }
            }
        }
        #expect(try counts(diff(), "t") == [0, 0, 1])
    }

    @Test("stops in the middle of a long query")
    func stopped() throws {
        for name in ["old.sqlite", "new.sqlite"] {
            try stores.run(
                name,
                "CREATE TABLE t (k TEXT PRIMARY KEY)",
                "INSERT INTO t SELECT 'k' || value || '\(name)' FROM generate_series(1, 200000)"
                    .replacing("generate_series(1, 200000)", with: Self.series)
            )
        }
        let diff = try StoreDiff(
            from: ReadableStore(stores.snapshot("old.sqlite")),
            to: ReadableStore(stores.snapshot("new.sqlite")),
            check: { throw CancellationError() }
        )
        let pair = try #require(diff.tables.first)
        #expect(throws: CancellationError.self) { try diff.counts(of: pair) }
    }

    private static let series =
        "(WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM s LIMIT 200000) SELECT value FROM s)"
}
