import Files
import TestSupport
import Testing

@testable import Stores

@Suite("A difference of rows")
struct RowDiffTests {
    let stores: RowsSandbox

    init() throws { stores = try RowsSandbox() }

    /// A difference as a test can compare it.
    private struct Difference: Equatable, CustomStringConvertible {
        var key: RowKey
        var change: RowDiff.Change

        var description: String { "\(key) \(change)" }
    }

    private func differences(
        _ table: String,
        from old: String = "old.sqlite",
        to new: String = "new.sqlite",
        order: TableCursor.Order = .local
    ) throws -> [Difference] {
        let (old, new) = (try stores.snapshot(old), try stores.snapshot(new))
        let oldTable = try #require(try old.schema().table(table))
        let newTable = try #require(try new.schema().table(table))
        var diff = RowDiff(
            from: try old.rows(of: oldTable, order: order),
            to: try new.rows(of: newTable, order: order)
        )
        var found: [Difference] = []
        while let change = try diff.next() {
            found.append(
                Difference(key: change == .added ? diff.new.key : diff.old.key, change: change)
            )
        }
        return found
    }

    @Test("sees what SQL's comparison does not, and nothing else")
    func bytes() throws {
        let create = "CREATE TABLE t (id INTEGER PRIMARY KEY, x COLLATE NOCASE, y)"
        try stores.run(
            "old.sqlite",
            create,
            """
            INSERT INTO t VALUES (1, 'milk', 1), (2, NULL, 2), (3, 'a', X'61'), (4, 'gone', 0),
            (5, 'same', NULL), (6, CAST(X'6100' AS TEXT), -0.0)
            """
        )
        try stores.run(
            "new.sqlite",
            create,
            """
            INSERT INTO t VALUES (1, 'MILK', 1.0), (2, NULL, 2), (3, 'a', 'a'),
            (5, 'same', NULL), (6, CAST(X'610062' AS TEXT), 0.0), (7, 'new', NULL)
            """
        )
        #expect(
            try differences("t") == [
                Difference(key: .rowID(1), change: .changed([1, 2])),
                Difference(key: .rowID(3), change: .changed([2])),
                Difference(key: .rowID(4), change: .removed),
                Difference(key: .rowID(6), change: .changed([1, 2])),
                Difference(key: .rowID(7), change: .added),
            ]
        )
        #expect(try differences("t", to: "old.sqlite").isEmpty)
    }

    @Test("compares columns by their names, and those that both have")
    func columns() throws {
        try stores.run("old.sqlite", "CREATE TABLE t (a, b, c)", "INSERT INTO t VALUES (1, 2, 3)")
        try stores.run("new.sqlite", "CREATE TABLE t (d, C, A)", "INSERT INTO t VALUES (0, 4, 1)")
        #expect(try differences("t") == [Difference(key: .rowID(1), change: .changed([1]))])
    }

    @Test("compares large values by pieces")
    func large() throws {
        let create = "CREATE TABLE t (id INTEGER PRIMARY KEY, x)"
        try stores.run(
            "old.sqlite",
            create,
            "INSERT INTO t VALUES (1, zeroblob(200000)), (2, zeroblob(200000)), (3, 'small')",
            "INSERT INTO t VALUES (4, zeroblob(200001)), (5, zeroblob(70000))"
        )
        try stores.run(
            "new.sqlite",
            create,
            "INSERT INTO t VALUES (1, zeroblob(200000)), (3, zeroblob(80000))",
            "INSERT INTO t VALUES (2, CAST(zeroblob(199999) || X'01' AS BLOB))",
            "INSERT INTO t VALUES (4, zeroblob(200000)), (5, CAST(zeroblob(70000) AS TEXT))"
        )
        #expect(
            try differences("t")
                == [2, 3, 4, 5].map {
                    Difference(key: .rowID($0), change: .changed([1]))
                }
        )
        #expect(try differences("t", from: "new.sqlite") == [])
    }

    @Test("is that of sets of rows, for random tables and keys", arguments: 0..<40)
    func random(seed: UInt64) throws {
        var random = Pseudorandom(seed: seed)
        let keyed = seed % 3
        let create =
            switch keyed {
            case 0: "CREATE TABLE t (k INTEGER PRIMARY KEY, x, y)"
            case 1: "CREATE TABLE t (k PRIMARY KEY COLLATE NOCASE, x, y) WITHOUT ROWID"
            default: "CREATE TABLE t (k PRIMARY KEY COLLATE RTRIM, x, y)"
            }
        let keys =
            keyed == 0
            ? (0..<40).map { "\($0)" }
            : (0..<10).map { "\($0 - 5)" } + (0..<10).map { "\($0 - 5).5" }
                + ["'a'", "'B'", "'b'", "'C'", "''", "'a '", "X''", "X'61'", "'aa'", "9e999"]
        func value(_ random: inout Pseudorandom) -> String {
            ["NULL", "1", "1.0", "'1'", "X'31'", "'x'", "'X'", "zeroblob(70000)"][
                Int(random.next() % 8)
            ]
        }
        for name in ["old.sqlite", "new.sqlite"] {
            var statements = [create, "BEGIN"]
            for key in keys where random.next() % 3 > 0 {
                let values = "\(value(&random)), \(value(&random))"
                statements.append("INSERT OR REPLACE INTO t VALUES (\(key), \(values))")
            }
            try stores.run(name, statements + ["COMMIT"])
        }
        let order = TableCursor.Order.primaryKey
        let old = try stores.snapshot("old.sqlite").allRows("t", order: order)
        let new = try stores.snapshot("new.sqlite").allRows("t", order: order)
        var expected: [Difference] = []
        let news = Dictionary(uniqueKeysWithValues: new.map { ($0.key, $0.values) })
        let olds = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0.values) })
        for (key, values) in old {
            if let now = news[key] {
                let places = values.indices.filter { values[$0] != now[$0] }
                if !places.isEmpty {
                    expected.append(Difference(key: key, change: .changed(places)))
                }
            } else {
                expected.append(Difference(key: key, change: .removed))
            }
        }
        expected += new.filter { olds[$0.key] == nil }
            .map { Difference(key: $0.key, change: .added) }
        #expect(
            try differences("t", order: order) == expected.sorted { $0.key < $1.key }
        )
    }
}
