import Files
import TestSupport
import Testing

@testable import Stores

/// SQLite compares names by their bytes, but for the case of ASCII letters: é as one scalar and as two are two names.
@Suite("Names that Unicode takes for equal")
struct CanonicalNamesTests {
    private let stores: RowsSandbox
    private let one = "caf\u{E9}"
    private let two = "cafe\u{301}"

    init() throws { stores = try RowsSandbox() }

    private func diff() throws -> StoreDiff {
        try StoreDiff(
            from: ReadableStore(stores.snapshot("old.sqlite")),
            to: ReadableStore(stores.snapshot("new.sqlite"))
        )
    }

    @Test("are two tables and two columns, whose rows are compared each with its own")
    func tablesAndColumns() throws {
        for (store, value) in [("old.sqlite", 1), ("new.sqlite", 2)] {
            try stores.run(
                store,
                "CREATE TABLE \(one.sqlIdentifier) (id INTEGER PRIMARY KEY, \(one) INT, \(two) INT)",
                "CREATE TABLE \(two.sqlIdentifier) (id INTEGER PRIMARY KEY, x INT)",
                "INSERT INTO \(one.sqlIdentifier) VALUES (1, 7, \(value))",
                "INSERT INTO \(two.sqlIdentifier) VALUES (1, 7)"
            )
        }
        let diff = try diff()
        #expect(diff.tables.count == 2 && diff.schema.tables.isEmpty)
        for pair in diff.tables {
            var cells: [RowChange.Cell] = []
            try diff.forEachChange(of: pair) {
                cells += $0.cells
                return true
            }
            let isFirst = pair.name.exact == one.exact
            #expect(cells.map(\.column.exact) == (isFirst ? [two.exact] : []), "\(pair.name)")
        }
        let schema = try stores.snapshot("new.sqlite").schema()
        #expect(
            schema.table("CAF\u{E9}")?.columns.count == 3 && schema.table(two)?.columns.count == 2
        )
        #expect(schema.table(one)?.column(two) == 2 && schema.table(one)?.column(one) == 1)
    }

    @Test("are two values, be they keys or not, and two statements")
    func valuesAndStatements() throws {
        for (store, text) in [("old.sqlite", one), ("new.sqlite", two)] {
            try stores.run(
                store,
                "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID",
                "INSERT INTO t VALUES ('\(one)', '\(text)'), ('\(two)', 'same')",
                "CREATE VIEW v AS SELECT '\(text)'",
                "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT '\(text)'; END",
                "CREATE INDEX i ON t (v) WHERE v <> '\(text)'"
            )
        }
        let diff = try diff()
        let counts = try diff.counts(of: #require(diff.tables.first { $0.name == "t" }))
        #expect(counts.changed == 1 && counts.added == 0 && counts.removed == 0)
        #expect(diff.schema.tables.map(\.name) == ["t", "v"])
        #expect(diff.schema.tables[0].parts.map(\.name) == ["i", "r"])
    }

    @Test("and quotes with an accent behind them, are quoted as SQL has it")
    func quoted() throws {
        let name = "a\"\u{301}b"
        #expect(name.sqlIdentifier.exact == "\"a\"\"\u{301}b\"")
        let text = "it'\u{301}s"
        try stores.run(
            "a.sqlite",
            "CREATE TABLE \(name.sqlIdentifier) (x)",
            "INSERT INTO \(name.sqlIdentifier) VALUES (\(text.sqlLiteral))"
        )
        let rows = try stores.snapshot().allRows(name)
        #expect(rows.map(\.values) == [[.text(text)]])
    }
}
