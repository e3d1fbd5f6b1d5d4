import Files
import TestSupport
import Testing

@testable import Stores

/// A search for rows, and a row that is kept.
@Suite("A search for rows")
struct RowSearchTests {
    private let rows: RowsSandbox

    init() throws { rows = try RowsSandbox() }

    private func isFound(_ pattern: String, _ text: String) throws -> Bool {
        let pattern = try #require(TextPattern(pattern))
        return Array(text.utf8).withUnsafeBytes { pattern.isFound(in: $0) }
    }

    /// The local keys, or the values of primary keys, of the rows that are found.
    private func found(
        _ wanted: RowSearch.Wanted,
        in name: String = "t",
        _ store: StoreSnapshot
    ) throws -> [[StoredValue]] {
        let table = try #require(try store.schema().table(name))
        let identity = TableIdentity(of: table, and: table, isUTF8: true)
        var keys: [[StoredValue]] = []
        try RowSearch(store) {}.forEachKey(of: wanted, in: table, by: identity) {
            keys.append($0.values)
            return true
        }
        return keys
    }

    @Test("finds a whole text only byte for byte")
    func whole() throws {
        let pattern = try #require(TextPattern("Milk é", isWhole: true))
        for (text, expected) in [
            ("Milk é", true), ("milk é", false), ("Milk e\u{301}", false), ("Milk é ", false),
            ("", false),
        ] {
            let isFound = Array(text.utf8).withUnsafeBytes { pattern.isFound(in: $0) }
            #expect(isFound == expected, "\(text)")
        }
    }

    @Test("finds text as people type it")
    func text() throws {
        #expect(TextPattern("") == nil)
        for (pattern, text) in [
            ("milk", "Soya MILK"), ("MILK", "milk"), ("k", "milk"), ("ä", "Ä"), ("ÉTÉ", "l'été"),
            ("e\u{301}t", "L'ÉTÉ"), ("été", "l'e\u{301}te\u{301}"), ("МОЛОКО", "молоко"),
            ("100%", "a 100% b"), ("a_b", "a_b"), ("[", "["), ("日本", "in 日本語"), ("\0x", "a\0X"),
        ] { #expect(try isFound(pattern, text), "\(pattern) in \(text)") }
        for (pattern, text) in [
            ("milk", "mil"), ("milk", ""), ("100%", "1000"), ("a_b", "axb"), ("é", "e"), ("e", "é"),
            ("ä", "a"), ("{", "["), ("@", "`"),
        ] { #expect(try !isFound(pattern, text), "\(pattern) in \(text)") }
        let bytes: [UInt8] = [0xFF, 0x4D, 0x69, 0xFE, 0xC3, 0x84]
        for (pattern, expected) in [("mi", true), ("ä", true), ("\u{FFFD}", true), ("il", false)] {
            let pattern = try #require(TextPattern(pattern))
            #expect(bytes.withUnsafeBytes { pattern.isFound(in: $0) } == expected)
        }
    }

    @Test("looks into the texts of any column, and into no blob")
    func columns() throws {
        try rows.run(
            "a.sqlite",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB, b INTEGER, c)",
            "INSERT INTO t VALUES (1, 'xx Milk', 1, 2), (2, CAST('Milk' AS BLOB), NULL, 'tea')",
            "INSERT INTO t VALUES (3, 1, 'milk', NULL), (4, NULL, 1, 1.5), (-5, 1, 2, 'MILK')",
            "INSERT INTO t VALUES (6, 1, 2, replace(hex(zeroblob(200000)), '00', 'ab') || 'Milk')"
        )
        let pattern = try #require(TextPattern("milk"))
        let keys = try found(.text(pattern), rows.snapshot())
        #expect(keys == [[.integer(-5)], [.integer(1)], [.integer(3)], [.integer(6)]])
    }

    @Test("looks into tables of very many columns, and into texts in UTF-16")
    func wide() throws {
        let names = (0..<1999).map { "c\($0)" }
        try rows.run(
            "a.sqlite",
            "PRAGMA encoding = 'UTF-16le'",
            "CREATE TABLE t (\(names.joined(separator: ", ")))",
            "INSERT INTO t (c0) VALUES ('Grüße')",
            "INSERT INTO t (c1998) VALUES ('GRÜSSE grüße')",
            "INSERT INTO t (c700) VALUES ('Gruesse')"
        )
        let pattern = try #require(TextPattern("GRÜßE"))
        let keys = try found(.text(pattern), rows.snapshot())
        #expect(keys.sorted { "\($0)" < "\($1)" } == [[.integer(1)], [.integer(2)]])
    }

    @Test("takes a condition in SQL, and nothing that is more")
    func conditions() throws {
        try rows.run(
            "a.sqlite",
            "CREATE TABLE t (a TEXT, b, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "INSERT INTO t VALUES ('x', 1), ('x', 2), ('y', 1)"
        )
        let store = try rows.snapshot()
        #expect(
            try found(.condition("a = 'x' AND b > 1 -- a comment"), store) == [
                [.text("x"), .integer(2)]
            ]
        )
        for wrong in ["", "a =", "nope = 1", "'a", "a = 'x' /* no end", "1; DELETE FROM t"] {
            #expect(throws: QueryError.self, "\(wrong)") { try found(.condition(wrong), store) }
        }
        #expect(
            throws: QueryError.refused("the function 'load_extension' reaches beyond the store")
        ) {
            try found(.condition("load_extension('x')"), store)
        }
    }

    // MARK: - A row

    private func row(_ key: RowKey, of name: String, _ store: String) throws -> KeptRow? {
        let store = try ReadableStore(rows.snapshot(store))
        let table = try #require(try store.schema().table(name))
        let identity = TableIdentity(of: table, and: table, isUTF8: true)
        return try store.row(at: key, of: table, by: identity)
    }

    @Test("is followed by a row that is found by its key's bytes")
    func keys() throws {
        try rows.run(
            "a.sqlite",
            "CREATE TABLE n (k TEXT PRIMARY KEY COLLATE NOCASE, v)",
            "INSERT INTO n VALUES ('Milk', 1), (NULL, 2)",
            "CREATE TABLE w (a, b, v, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "INSERT INTO w VALUES (1, 'x', 10), ('1', 'x', 20), (X'31', 'x', 30)",
            "CREATE TABLE r (v)",
            "INSERT INTO r (rowid, v) VALUES (-7, 'seven')"
        )
        func value(_ key: RowKey, of table: String) throws -> [RowChange.Value] {
            try row(key, of: table, "a.sqlite")?.cells.compactMap(\.new).suffix(1) ?? []
        }
        let milk = RowKey(primaryKey: [.text("Milk")])
        #expect(try value(milk, of: "n") == [.stored(.integer(1))])
        #expect(try row(RowKey(primaryKey: [.text("MILK")]), of: "n", "a.sqlite") == nil)
        #expect(try value(RowKey(primaryKey: [.null]), of: "n") == [.stored(.integer(2))])
        for (first, expected) in [
            (StoredValue.integer(1), Int64(10)), (.text("1"), 20),
            (.blob(StoredBytes([0x31])), 30),
        ] {
            let key = RowKey(primaryKey: [first, .text("x")])
            #expect(try value(key, of: "w") == [.stored(.integer(expected))])
        }
        let kept = try #require(try row(.rowID(-7), of: "r", "a.sqlite"))
        #expect(kept.key.map(\.column) == ["rowid"])
        #expect(kept.key.map(\.value) == [.stored(.integer(-7))])
        #expect(try row(.rowID(8), of: "r", "a.sqlite") == nil)
    }

    @Test("reports what changed in a row, byte for byte, however large its values are")
    func changes() throws {
        let large = "zeroblob(300000)"
        for (name, values) in [
            ("a.sqlite", "1, 'milk', \(large), 'same', '\(String(repeating: "x", count: 5000))'"),
            (
                "b.sqlite",
                "1.0, 'Milk', zeroblob(299999) || x'01', 'same', '\(String(repeating: "x", count: 4999))y'"
            ),
        ] {
            try rows.run(
                name,
                "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, e)",
                "INSERT INTO t VALUES (1, \(values))"
            )
        }
        try rows.run("b.sqlite", "ALTER TABLE t ADD COLUMN more DEFAULT 7")
        let old = try #require(try row(.rowID(1), of: "t", "a.sqlite"))
        let new = try #require(try row(.rowID(1), of: "t", "b.sqlite"))
        #expect(old.changes(to: old).isEmpty)
        let changes = old.changes(to: new)
        #expect(changes.map(\.column) == ["a", "b", "c", "e"])
        #expect(changes[0].old == .stored(.integer(1)))
        #expect(changes[0].new == .stored(.real(1)))
        #expect(changes[2].old == .large(.blob, bytes: 300_000))
        #expect(changes[3].new == .large(.text, bytes: 5000))
    }
}
