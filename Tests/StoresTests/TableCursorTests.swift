import CSQLite
import Files
import GRDB
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// A store that a test makes, changes and reads.
struct RowsSandbox {
    let sandbox: Sandbox
    let directory: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
        try sandbox.directory("Scratch")
    }

    /// Runs statements on a store, as its application does.
    func run(_ name: String = "a.sqlite", _ statements: String...) throws {
        try run(name, statements)
    }

    func run(_ name: String, _ statements: [String]) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open(directory.appending(name).string, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        for statement in statements {
            let code = sqlite3_exec(handle, statement, nil, nil, nil)
            try #require(
                code == SQLITE_OK,
                "\(statement): \(String(cString: sqlite3_errmsg(handle)))"
            )
        }
    }

    func snapshot(_ name: String = "a.sqlite") throws -> StoreSnapshot {
        try Store(name, in: directory).snapshot(scratch: sandbox.path.appending("Scratch"))
    }
}

extension StoreSnapshot {
    /// All rows of a table: their keys, and their values.
    func allRows(
        _ name: String,
        order: TableCursor.Order = .local,
        rowIDs: ClosedRange<Int64>? = nil
    ) throws -> [(key: RowKey, values: [StoredValue])] {
        let table = try #require(try schema().table(name))
        var cursor = try rows(of: table, order: order, rowIDs: rowIDs)
        var all: [(RowKey, [StoredValue])] = []
        while try cursor.next() {
            var values: [StoredValue] = []
            for index in cursor.columns.indices { values.append(try cursor.value(index)) }
            all.append((cursor.key, values))
        }
        return all
    }
}

@Suite("A cursor over rows")
struct TableCursorTests {
    let stores: RowsSandbox

    init() throws { stores = try RowsSandbox() }

    @Test("reads storage classes and bytes as they are, and changes no byte of the store")
    func exact() throws {
        try stores.run(
            "a.sqlite",
            "CREATE TABLE v (id INTEGER PRIMARY KEY, x, y REAL)",
            """
            INSERT INTO v (x, y) VALUES (NULL, 1), (1, 1.5), (1.0, 9e999), (-0.0, -9e999),
            ('milk', 2), ('MILK', 2), (CAST(X'610062' AS TEXT), 3), (CAST(X'FFC0' AS TEXT), 3),
            (X'', 4), ('', 4), (X'00', 4), (9223372036854775807, -9223372036854775808),
            (CAST('12345678901234567890' AS BLOB), 5)
            """
        )
        let before = try stores.sandbox.contents(of: "Stores")
        let rows = try stores.snapshot().allRows("v")
        let values = rows.map { $0.values[1] }
        #expect(
            values == [
                .null, .integer(1), .real(1), .real(-0.0), .text("milk"), .text("MILK"),
                .text(StoredBytes([0x61, 0, 0x62])), .text(StoredBytes([0xFF, 0xC0])),
                .blob(StoredBytes([])), .text(""), .blob(StoredBytes([0])), .integer(.max),
                .blob(StoredBytes(Array("12345678901234567890".utf8))),
            ]
        )
        #expect(values[3] != .real(0.0))
        #expect(
            rows.map { $0.values[2] }.prefix(4) == [
                .real(1), .real(1.5), .real(.infinity), .real(-.infinity),
            ]
        )
        #expect(rows.map(\.key) == (1...13).map { .rowID($0) })
        #expect(rows[0].values[0] == .integer(1))
        #expect(try stores.sandbox.contents(of: "Stores") == before)
    }

    @Test("reads a range of rowids, to the last of them")
    func range() throws {
        try stores.run(
            "a.sqlite",
            "CREATE TABLE t (x)",
            """
            INSERT INTO t (rowid, x) VALUES (-9223372036854775808, 'a'), (-1, 'b'), (0, 'c'),
            (5, 'd'), (9223372036854775807, 'e')
            """
        )
        let snapshot = try stores.snapshot()
        func text(_ rowIDs: ClosedRange<Int64>?) throws -> [StoredValue] {
            try snapshot.allRows("t", rowIDs: rowIDs).map { $0.values[0] }
        }
        #expect(try text(nil) == ["a", "b", "c", "d", "e"].map { .text($0) })
        #expect(try text(-1...5) == ["b", "c", "d"].map { .text($0) })
        #expect(try text(1...4).isEmpty)
        #expect(try text(6 ... .max) == [.text("e")])
    }

    @Test("reads large values by pieces, wherever they are among the rows and columns")
    func large() throws {
        let size = TableCursor.largeSize
        try stores.run(
            "a.sqlite",
            "PRAGMA page_size = 1024",
            "CREATE TABLE p (id INTEGER PRIMARY KEY, a, b TEXT, c, g AS (length(a)))",
            "INSERT INTO p VALUES (1, zeroblob(\(size)), 'x', 1.5)",
            "INSERT INTO p VALUES (2, zeroblob(\(size + 1)), 'y', -0.0)",
            "INSERT INTO p VALUES (3, 'small', CAST(randomblob(\(size)) || zeroblob(9) AS TEXT), 7)",
            "INSERT INTO p VALUES (4, 'small', NULL, NULL)",
            "INSERT INTO p VALUES (9223372036854775807, randomblob(300000), 'z', randomblob(70000))"
        )
        let snapshot = try stores.snapshot()
        let table = try #require(try snapshot.schema().table("p"))
        var cursor = try snapshot.rows(of: table)
        var large: [[Bool]] = []
        var sizes: [Int64] = []
        while try cursor.next() {
            large.append(cursor.columns.indices.map { cursor.isLarge($0) })
            for index in cursor.columns.indices where cursor.isLarge(index) {
                sizes.append(cursor.byteCount(index))
                #expect(cursor.unsafeBytes(index).isEmpty)
                let value = try cursor.largeValue(index)
                var pieces: [UInt8] = []
                try value.forEachPiece {
                    pieces += $0
                    return true
                }
                let whole = try query(
                    stores.directory.appending("a.sqlite"),
                    """
                    SELECT hex(CAST(\(table.columns[cursor.columns[index]].name) AS BLOB)) FROM p
                    WHERE id = \(cursor.rowID)
                    """
                )
                #expect(StoredValue.blob(StoredBytes(pieces)).sqlLiteral == "X'\(whole[0])'")
            }
            if cursor.rowID == 2 {
                #expect(try cursor.value(2) == .text("y"))
                #expect(cursor.storageClass(3) == .real)
                #expect(try cursor.value(3) == .real(-0.0))
                #expect(cursor.unsafeBytes(2).elementsEqual("y".utf8))
            }
            if cursor.rowID == 3 { #expect(cursor.storageClass(2) == .text) }
        }
        let none = [false, false, false, false]
        #expect(
            large == [
                none, [false, true, false, false], [false, false, true, false], none,
                [false, true, false, true],
            ]
        )
        #expect(sizes == [Int64(size + 1), Int64(size + 9), 300_000, 70_000])
        #expect(try snapshot.allRows("p").count == 5)
        // The limit was the cursor's alone.
        #expect(
            try snapshot.connection.access {
                try Int.fetchOne($0, sql: "SELECT length(hex(zeroblob(100000)))")
            } == 200_000
        )
    }

    @Test("reads large values behind computed columns, which SQLite does not open, whole")
    func largeBehindComputed() throws {
        try stores.run(
            "a.sqlite",
            "CREATE TABLE p (id INTEGER PRIMARY KEY, a, g AS (a || 'x'), b)",
            "INSERT INTO p VALUES (1, hex(zeroblob(50000)), zeroblob(80000)), (2, 'a', 'b')"
        )
        let snapshot = try stores.snapshot()
        let table = try #require(try snapshot.schema().table("p"))
        var cursor = try snapshot.rows(of: table, columns: [2, 1, 3])
        #expect(try cursor.next())
        let text = String(repeating: "0", count: 100_000)
        #expect(cursor.isLarge(1) && !cursor.isLarge(0) && !cursor.isLarge(2))
        #expect(try cursor.value(0) == .text(text + "x"))
        #expect(try cursor.value(1) == .text(text))
        #expect(try cursor.value(2) == .blob(StoredBytes([UInt8](repeating: 0, count: 80_000))))
        #expect(try cursor.next())
        #expect(try cursor.value(0) == .text("ax"))
    }

    @Test("reads keys in the order of their bytes, whatever collation their index has")
    func primaryKeys() throws {
        try stores.run(
            "a.sqlite",
            "CREATE TABLE w (k TEXT COLLATE NOCASE, n, PRIMARY KEY (k, n DESC)) WITHOUT ROWID",
            """
            INSERT INTO w VALUES ('b', 1), ('A', 2), ('a', 3), ('B', 1.5), (CAST(X'6100' AS TEXT), 4),
            ('a', 2.5), ('a', 9007199254740993), ('a', 9007199254740992.0), ('a', 'x'), ('a', X''),
            ('a', -9e999), ('a', 9223372036854775807), ('a', 9223372036854775808.0)
            """,
            "CREATE TABLE r (k UNIQUE, name TEXT PRIMARY KEY)",
            "INSERT INTO r VALUES (1, 'z'), (2, NULL), (3, 'a'), (4, NULL)"
        )
        let snapshot = try stores.snapshot()
        let rows = try snapshot.allRows("w")
        #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.key < $1.key })
        #expect(rows.map { $0.values[0] }.prefix(3) == [.text("A"), .text("B"), .text("a")])
        #expect(
            rows.filter { $0.values[0] == .text("a") }.map { $0.values[1] } == [
                .real(-.infinity), .real(2.5), .integer(3), .real(9_007_199_254_740_992),
                .integer(9_007_199_254_740_993), .integer(.max), .real(0x1p63), .text("x"),
                .blob(StoredBytes([])),
            ]
        )
        // Rows whose keys have NULL come by rowid.
        let named = try snapshot.allRows("r", order: .primaryKey)
        #expect(named.map { $0.values[0] } == [.integer(2), .integer(4), .integer(3), .integer(1)])
    }

    @Test("reads a table whose columns have the names of the rowid, and refuses one that has all")
    func rowIDNames() throws {
        try stores.run(
            "a.sqlite",
            "CREATE TABLE two (rowid, oid)",
            "INSERT INTO two VALUES (7, 8)",
            "CREATE TABLE three (rowid, oid, _rowid_)",
            "INSERT INTO three VALUES (7, 8, 9)",
            "CREATE TABLE alias (rowid, oid, _rowid_, \"the \"\"key\" INTEGER PRIMARY KEY)",
            "INSERT INTO alias VALUES (7, 8, 9, 10)",
            "CREATE VIEW v AS SELECT 1"
        )
        let snapshot = try stores.snapshot()
        #expect(try snapshot.allRows("two").map(\.key) == [.rowID(1)])
        #expect(try snapshot.allRows("alias").map(\.key) == [.rowID(10)])
        for name in ["three", "v"] {
            #expect(throws: StoreError.self) { try snapshot.allRows(name) }
        }
    }

    @Test("reads text of UTF-16 as UTF-8, and refuses keys in its order")
    func utf16() throws {
        try stores.run(
            "a.sqlite",
            "PRAGMA encoding = 'UTF-16'",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES ('æ€😀'), (1)",
            "CREATE TABLE w (k TEXT PRIMARY KEY) WITHOUT ROWID"
        )
        let snapshot = try stores.snapshot()
        #expect(try snapshot.schema().encoding == "UTF-16le")
        #expect(try snapshot.allRows("t").map { $0.values[0] } == [.text("æ€😀"), .integer(1)])
        #expect(throws: StoreError.self) { try snapshot.allRows("w") }
    }

    @Test("reports damage that it meets")
    func damage() throws {
        try stores.run(
            "a.sqlite",
            "PRAGMA page_size = 1024",
            "CREATE TABLE t (x)",
            """
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 99)
            INSERT INTO t SELECT randomblob(100) FROM n
            """
        )
        var bytes = try stores.sandbox.read("Stores/a.sqlite")
        for page in 3..<(bytes.count / 1024) {
            bytes.replaceSubrange(
                page * 1024..<page * 1024 + 16,
                with: repeatElement(0xFF, count: 16)
            )
        }
        try stores.sandbox.write(bytes, to: "Stores/a.sqlite")
        let snapshot = try stores.snapshot()
        #expect { try snapshot.allRows("t") } throws: { error in
            if case StoreError.damaged = error { true } else { false }
        }
    }
}

@Suite("Bytes of a value")
struct StoredBytesTests {
    @Test("are equal if they are the same, short or long")
    func equality() throws {
        for count in [0, 1, 14, 15, 16, 17, 100] {
            let bytes = (0..<count).map { UInt8($0) }
            let copied = bytes.withUnsafeBytes { StoredBytes($0) }
            #expect(copied == StoredBytes(bytes))
            #expect(copied.hashValue == StoredBytes(bytes).hashValue)
            #expect(copied.array == bytes)
            #expect(copied.count == count)
            #expect(copied != StoredBytes(bytes + [0]))
            #expect(copied < StoredBytes(bytes + [0]))
        }
        #expect(StoredBytes([0xFF]).string == nil)
        #expect(StoredBytes(Array("milk".utf8)).string == "milk")
    }
}
