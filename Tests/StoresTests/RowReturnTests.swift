import Files
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite("Rows that come back")
struct RowReturnTests {
    private let stores: RowsSandbox

    init() throws { stores = try RowsSandbox() }

    /// Makes both states alike, and then changes the live one.
    private func make(_ schema: [String], _ backup: [String], live: [String]) throws {
        try stores.run("old.sqlite", schema + backup)
        try stores.run("live.sqlite", schema + live)
    }

    private func rows(
        _ table: String,
        where condition: String? = nil,
        _ onConflict: RowReturn.Conflict = .fail
    ) throws -> RowReturn {
        let source = try ReadableStore(stores.snapshot("old.sqlite"))
        return try RowReturn(
            from: source,
            table: #require(source.schema().table(table)),
            into: #require(stores.snapshot("live.sqlite").schema().table(table)),
            where: condition,
            onConflict: onConflict
        )
    }

    private var live: Store { get throws { try Store("live.sqlite", in: stores.directory) } }

    /// Tries it, with nothing changed, and then does it, with the same result.
    @discardableResult
    private func bring(
        _ table: String,
        where condition: String? = nil,
        _ onConflict: RowReturn.Conflict = .fail
    ) throws -> RowReturn.Outcome {
        let rows = try rows(table, where: condition, onConflict)
        let path = stores.directory.appending("live.sqlite")
        let before = try Digest(contentsOf: path)
        let attempt = Result { try rows.attempt(on: live, busyTimeout: .zero) {} }
        #expect(try Digest(contentsOf: path) == before)
        let result = Result { try rows.run(on: live, busyTimeout: .zero) {} }
        switch (result, attempt) {
        case (.success(let done), .success(let tried)): #expect(done == tried)
        case (.failure(let done), .failure(let tried)): #expect("\(done)" == "\(tried)")
        default: Issue.record("\(result) is not \(attempt)")
        }
        return try result.get()
    }

    private func content(_ query: String) throws -> String {
        try Tool.check(
            "sqlite3",
            [stores.directory.appending("live.sqlite").string, query]
        )
    }

    @Test("replace rows that have their unique values by a deletion, which is counted and named")
    func rivals() throws {
        let schema = [
            "CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT UNIQUE COLLATE NOCASE)",
            "CREATE TABLE part (item REFERENCES item ON DELETE CASCADE, name)",
            "CREATE TABLE log (text)",
            "CREATE TRIGGER gone AFTER DELETE ON item BEGIN INSERT INTO log VALUES (old.id); END",
        ]
        try make(
            schema,
            ["INSERT INTO item VALUES (2, 'a'), (3, 'b')"],
            live: [
                "INSERT INTO item VALUES (20, 'A'), (3, 'x'), (30, 'b')",
                "INSERT INTO part VALUES (20, 'one'), (20, 'two'), (3, 'three')",
            ]
        )
        for id in [2, 3] {
            #expect(throws: RowReturnError.self) { try bring("item", where: "id = \(id)") }
        }
        #expect(try bring("item", where: "id = 2", .skip).skipped == 1)
        #expect(try content("SELECT count(*) FROM part") == "3\n")
        let absent = try bring("item", where: "id = 2", .replace)
        #expect(absent.inserted == 1 && absent.removed == 1 && absent.removedKeys == ["id = 20"])
        #expect(absent.alongside == ["part": 2, "log": 1])
        // The row is there, and another has its code.
        let present = try bring("item", where: "id = 3", .replace)
        #expect(present.replaced == 1 && present.removedKeys == ["id = 30"])
        #expect(try content("SELECT id, code FROM item") == "2|a\n3|b\n")
        #expect(try content("SELECT name FROM part; SELECT text FROM log") == "three\n20\n30\n")
    }

    @Test("count the rows that triggers change when they come back")
    func triggers() throws {
        let schema = [
            "CREATE TABLE stock (n)", "CREATE TABLE sale (id INTEGER PRIMARY KEY, v)",
            """
            CREATE TRIGGER sold AFTER INSERT ON sale BEGIN
                UPDATE stock SET n = n - 1; UPDATE sale SET v = v || '*' WHERE id = new.id;
            END
            """,
        ]
        let live = ["INSERT INTO stock VALUES (9)"]
        try make(schema, ["INSERT INTO sale VALUES (1, 'a'), (2, 'b')"], live: live)
        let outcome = try bring("sale", where: "true")
        #expect(outcome.inserted == 2 && outcome.alongside == ["stock": 2, "sale": 2])
        #expect(try bring("sale", where: "true", .replace).alongside.isEmpty)
    }

    @Test("are compared as the columns that they go into have them", arguments: [false, true])
    func conversion(hasKey: Bool) throws {
        let key = hasKey ? ", PRIMARY KEY (a)" : ""
        try stores.run(
            "old.sqlite",
            [
                "CREATE TABLE t (a INTEGER, b REAL, c NUMERIC, d, e TEXT\(key))",
                "INSERT INTO t VALUES (1, 2, '3.50', X'00', '7'), (2, 9e99, 'x', 1.0, NULL)",
            ]
        )
        try stores.run(
            "live.sqlite",
            ["CREATE TABLE t (a TEXT, b REAL, c TEXT, d ANY, e ANY\(key)) STRICT"]
        )
        #expect(try bring("t").inserted == 2)
        let again = try bring("t")
        #expect(again.inserted == 0 && again.unchanged == 2)
    }

    @Test("come back into a table whose columns use all names of a rowid")
    func hiddenRowID() throws {
        try make(
            ["CREATE TABLE item (rowid TEXT UNIQUE, oid INT, _rowid_ BLOB, v)"],
            ["INSERT INTO item VALUES ('x', 1, x'00', 'a'), ('y', 2, x'01', 'b')"],
            live: ["INSERT INTO item VALUES ('y', 2, x'01', 'c')"]
        )
        #expect(try bring("item", where: "v = 'a'").inserted == 1)
        #expect(try bring("item", where: "v = 'b'", .replace).removed == 1)
        #expect(try content("SELECT rowid, v FROM item ORDER BY 1") == "x|a\ny|b\n")
    }

    @Test("are refused if it is unknown which row has their unique values")
    func unknownRivals() throws {
        let index = "CREATE UNIQUE INDEX upper ON item (upper(code))"
        try make(
            ["CREATE TABLE item (id INTEGER PRIMARY KEY, code)", index],
            ["INSERT INTO item VALUES (1, 'a')"],
            live: ["INSERT INTO item VALUES (2, 'A')"]
        )
        #expect {
            try bring("item", .replace)
        } throws: {
            if case RowReturnError.unknownRival("item", key: "id = 1", index: _) = $0 {
                true
            } else {
                false
            }
        }
    }

    @Test("neither replace nor pass over others by a clause of the table")
    func clauses() throws {
        try make(
            [
                "CREATE TABLE a (id INTEGER PRIMARY KEY, c UNIQUE ON CONFLICT REPLACE)",
                "CREATE TABLE b (id INTEGER PRIMARY KEY, c UNIQUE ON CONFLICT IGNORE)",
            ],
            ["INSERT INTO a VALUES (1, 1)", "INSERT INTO b VALUES (1, 1)"],
            live: ["INSERT INTO a VALUES (2, 1)", "INSERT INTO b VALUES (2, 1)"]
        )
        for table in ["a", "b"] {
            #expect(throws: RowReturnError.conflict(table, key: "id = 1")) { try bring(table) }
            #expect(try bring(table, .skip).skipped == 1)
            #expect(try content("SELECT id FROM \(table)") == "2\n")
        }
    }

    @Test("of a table without a key come back by their content, as many as there were")
    func withoutKeys() throws {
        try make(
            ["CREATE TABLE t (a, b)"],
            ["INSERT INTO t VALUES (1, 2), (1, 2), (1, 2), (1.0, 2), ('x', NULL)"],
            live: ["INSERT INTO t VALUES (7, 7), (1, 2), ('x', NULL)"]
        )
        let outcome = try bring("t", .replace)
        #expect(outcome.inserted == 3 && outcome.unchanged == 2 && outcome.replaced == 0)
        let all = "SELECT typeof(a), a, b FROM t ORDER BY 1, 2"
        #expect(
            try content(all)
                == "integer|1|2\ninteger|1|2\ninteger|1|2\ninteger|7|7\nreal|1.0|2\ntext|x|\n"
        )
        #expect(try bring("t").unchanged == 5)
    }

    @Test("with NULL in their key overwrite no other with NULL there")
    func nullKeys() throws {
        try make(
            ["CREATE TABLE t (k TEXT PRIMARY KEY, v)"],
            ["INSERT INTO t VALUES (NULL, 1), ('a', 1)"],
            live: ["INSERT INTO t VALUES (NULL, 8), (NULL, 9), ('a', 1)"]
        )
        let outcome = try bring("t", .replace)
        #expect(outcome.inserted == 1 && outcome.unchanged == 1 && outcome.replaced == 0)
        #expect(try content("SELECT v FROM t WHERE k IS NULL ORDER BY 1") == "1\n8\n9\n")
    }

    @Test("known by a collation keep their row")
    func collatedKeys() throws {
        try make(
            ["CREATE TABLE t (k TEXT PRIMARY KEY COLLATE NOCASE, u UNIQUE, v) WITHOUT ROWID"],
            ["INSERT INTO t VALUES ('a', 1, 'old')"],
            live: ["INSERT INTO t VALUES ('A', 2, 'new'), ('b', 1, 'rival')"]
        )
        let outcome = try bring("t", .replace)
        #expect(outcome.replaced == 1 && outcome.removedKeys == ["k = 'b'"])
        #expect(try content("SELECT * FROM t") == "a|1|old\n")
    }

    @Test("are all written, or none, and what a trigger passes over is refused")
    func passedOver() throws {
        try make(
            [
                "CREATE TABLE t (id INTEGER PRIMARY KEY)",
                "CREATE TRIGGER r BEFORE INSERT ON t WHEN new.id = 2 BEGIN SELECT raise(IGNORE); END",
            ],
            ["DROP TRIGGER r", "INSERT INTO t VALUES (1), (2)"],
            live: []
        )
        #expect {
            try bring("t")
        } throws: {
            if case RowReturnError.refused("t", key: "id = 2", reason: _) = $0 {
                true
            } else {
                false
            }
        }
        #expect(try content("SELECT count(*) FROM t") == "0\n")
    }

    @Test(
        "are all there at the end, or none, whatever triggers remove",
        arguments: [
            "t (id INTEGER PRIMARY KEY, v)", "t (id TEXT PRIMARY KEY, v) WITHOUT ROWID",
            "t (id, v)",
        ],
        ["id = new.id AND v = 'c'", "v = 'a' AND new.v = 'c'"]
    )
    func removed(_ table: String, _ condition: String) throws {
        try make(
            [
                "CREATE TABLE \(table)",
                "CREATE TRIGGER trim AFTER INSERT ON t BEGIN DELETE FROM t WHERE \(condition); END",
            ],
            ["DROP TRIGGER trim", "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')"],
            live: []
        )
        #expect {
            try bring("t")
        } throws: {
            if case RowReturnError.refused("t", key: _, reason: "a trigger removes it again") = $0 {
                true
            } else {
                false
            }
        }
        #expect(try content("SELECT count(*) FROM t") == "0\n")
    }

    @Test("leave a log where it is, if they are only tried")
    func log() throws {
        try make(
            ["PRAGMA journal_mode = WAL", "CREATE TABLE t (id INTEGER PRIMARY KEY)"],
            ["INSERT INTO t VALUES (1)"],
            live: []
        )
        let store = stores.directory.appending("live.sqlite")
        let application = try StoreApplication(on: store, "INSERT INTO t VALUES (5)")
        application.kill()
        let files = ["live.sqlite", "live.sqlite-wal"].map(stores.directory.appending)
        let before = try files.map { try Digest(contentsOf: $0) }
        _ = try rows("t").attempt(on: live, busyTimeout: .zero) {}
        #expect(try files.map { try Digest(contentsOf: $0) } == before)
        #expect(try rows("t").run(on: live, busyTimeout: .zero) {}.inserted == 1)
        #expect(try content("SELECT id FROM t") == "1\n5\n")
    }

    @Test("whose parents are missing are refused when they are tried, too")
    func parents() throws {
        try make(
            [
                "CREATE TABLE p (id INTEGER PRIMARY KEY)",
                "CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p)",
            ],
            ["INSERT INTO p VALUES (1)", "INSERT INTO c VALUES (1, 1)"],
            live: []
        )
        #expect(throws: RowReturnError.missingParents("c", ["p"])) { try bring("c") }
    }

    @Test("that only the application can write are refused")
    func application() throws {
        try make(
            ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)"],
            ["INSERT INTO t VALUES (1, 'x')"],
            live: [
                "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT app_function(new.a); END"
            ]
        )
        #expect {
            try bring("t")
        } throws: {
            if case RowReturnError.needsApplication("t", store: "live.sqlite", _) = $0 {
                true
            } else {
                false
            }
        }
    }

    @Test("are not chosen by more than a condition")
    func tail() throws {
        try make(["CREATE TABLE t (id INTEGER PRIMARY KEY)"], [], live: [])
        for condition in ["1); DELETE FROM t; --", "1) --", "1); --", "1 --", "1 /*", "1;"] {
            let isWhole = condition == "1 --"
            let result = Result { try rows("t", where: condition) }
            #expect(((try? result.get()) != nil) == isWhole, "\(condition)")
        }
    }

    // MARK: - Core Data

    private func coreData(_ entities: String, _ columns: String) -> [String] {
        [
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID, Z_PLIST)",
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "INSERT INTO Z_PRIMARYKEY VALUES \(entities)",
            "CREATE TABLE ZPLACE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(columns))",
        ]
    }

    @Test(
        "of Core Data get the numbers that the model has now, and their keys are not given out again"
    )
    func entities() throws {
        try stores.run(
            "old.sqlite",
            coreData("(1, 'Place', 0, 9), (2, 'Home', 1, 0), (3, 'Shop', 1, 0)", "ZNAME, Z1_NEXT")
                + ["INSERT INTO ZPLACE VALUES (7, 2, 1, 'home', 3), (9, 3, 1, 'shop', NULL)"]
        )
        try stores.run(
            "live.sqlite",
            coreData(
                "(1, 'Place', 0, 4), (2, 'Area', 0, 0), (3, 'Home', 1, 0), (4, 'Shop', 1, 0)",
                "ZNAME, Z1_NEXT"
            )
        )
        #expect(try bring("ZPLACE").inserted == 2)
        #expect(try content("SELECT Z_PK, Z_ENT, Z1_NEXT FROM ZPLACE") == "7|3|4\n9|4|\n")
        #expect(try content("SELECT Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") == "9\n0\n0\n0\n")
        #expect(try bring("ZPLACE").unchanged == 2)
    }

    @Test("of Core Data are refused where a number cannot be mapped")
    func otherModels() throws {
        try stores.run(
            "old.sqlite",
            coreData("(1, 'Place', 0, 9), (2, 'Home', 1, 0)", "Z2_NEXT")
                + ["INSERT INTO ZPLACE VALUES (7, 2, 1, NULL)"]
        )
        try stores.run("live.sqlite", coreData("(1, 'Area', 0, 4), (2, 'Place', 0, 0)", "Z2_NEXT"))
        #expect {
            try bring("ZPLACE")
        } throws: {
            if case RowReturnError.otherModel = $0 { true } else { false }
        }
        try stores.run("live.sqlite", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Home' WHERE Z_ENT = 2")
        try stores.run("live.sqlite", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Place' WHERE Z_ENT = 1")
        try stores.run("old.sqlite", "UPDATE ZPLACE SET Z_ENT = 5")
        try stores.run("old.sqlite", "INSERT INTO Z_PRIMARYKEY VALUES (5, 'Gone', 1, 0)")
        #expect {
            try bring("ZPLACE")
        } throws: {
            "\($0)".contains("it has no entity 'Gone'")
        }
    }
}
