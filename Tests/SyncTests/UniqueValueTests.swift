import Changes
import Foundation
import GRDB
import Testing

@testable import Sync

/// Rows whose unique values another device has changed: to a trigger, these are updates.
@Suite("A changed unique value")
struct UniqueValueTests {
    /// Begins two devices whose tables `log`, `draft` and `stat` do not sync.
    private func begin(_ schema: String, _ rows: String) async throws -> DevicePair {
        let pair = try DevicePair(schema: schema)
        let map = try SyncMap(
            json: Array(#"{"exclude": ["log", "draft", "stat"]}"#.utf8),
            name: "map"
        )
        try pair.desk.edit(rows)
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start, map: map) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        return pair
    }

    private static let local = """
        ; CREATE TABLE draft (id INTEGER PRIMARY KEY, person INT, note TEXT);
        CREATE TABLE stat (person INTEGER PRIMARY KEY, seen INT DEFAULT 0);
        CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT);
        CREATE TRIGGER gone AFTER DELETE ON person BEGIN DELETE FROM draft WHERE person = old.id; END;
        CREATE TRIGGER came AFTER INSERT ON person BEGIN INSERT INTO stat (person) VALUES (new.id); END;
        CREATE TRIGGER changed AFTER UPDATE ON person BEGIN INSERT INTO log (what) VALUES (new.n); END
        """

    @Test(
        "runs the triggers of updates and no others",
        arguments: [
            (
                "CREATE TABLE person (id INTEGER PRIMARY KEY, email TEXT UNIQUE, n TEXT)",
                "UPDATE person SET email = 'new' WHERE id = 1"
            ),
            (
                """
                CREATE TABLE person (id INTEGER PRIMARY KEY, email TEXT, n TEXT, gone INT DEFAULT 0);
                CREATE UNIQUE INDEX pe ON person (email) WHERE gone = 0
                """,
                "UPDATE person SET n = 'Anna' WHERE id = 1"
            ),
            (
                "CREATE TABLE person (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, n TEXT)",
                """
                UPDATE person SET email = 'c' WHERE id = 1; UPDATE person SET email = 'a' WHERE id = 2;
                UPDATE person SET email = 'b' WHERE id = 1
                """
            ),
            (
                "CREATE TABLE person (id INTEGER PRIMARY KEY, n TEXT, email INT UNIQUE)",
                """
                UPDATE person SET email = 7 WHERE id = 1; UPDATE person SET email = 'a' WHERE id = 2;
                UPDATE person SET email = 'b' WHERE id = 1
                """
            ),
        ]
    )
    func triggers(_ table: String, _ edit: String) async throws {
        let pair = try await begin(
            table + Self.local,
            "INSERT INTO person (id, email, n) VALUES (1, 'a', 'Ann'), (2, 'b', 'Bob')"
        )
        try pair.phone.edit(
            """
            INSERT INTO draft (person, note) SELECT id, 'to ' || n FROM person;
            UPDATE stat SET seen = 7; DELETE FROM log
            """
        )
        try pair.desk.edit(edit)
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        try pair.expectEqual(
            "SELECT id, email, n FROM person ORDER BY id",
            try pair.desk.rows("SELECT id, email, n FROM person ORDER BY id")
        )
        #expect(try pair.phone.rows("SELECT note FROM draft ORDER BY id") == ["to Ann", "to Bob"])
        #expect(try pair.phone.rows("SELECT person, seen FROM stat") == ["1|7", "2|7"])
        #expect(try !pair.phone.rows("SELECT 1 FROM log").isEmpty)
        #expect(try pair.phone.unshown.isEmpty)
    }

    @Test(
        "finds its place among many that have moved",
        arguments: [
            "position = position + 1", "position = position - 1", "position = 307 - position",
            "position = (position * 7) % 307",
        ],
        ["INT UNIQUE", "INT NOT NULL UNIQUE", "INT NOT NULL UNIQUE CHECK (position >= 0)"]
    )
    func moves(_ edit: String, _ type: String) async throws {
        let pair = try await begin(
            "CREATE TABLE step (id INTEGER PRIMARY KEY, n TEXT, position \(type))",
            """
            WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 306)
            INSERT INTO step SELECT x, 'step ' || x, x FROM c
            """
        )
        try pair.desk.edit(
            """
            CREATE TEMP TABLE moved AS SELECT * FROM step; DELETE FROM step;
            UPDATE moved SET \(edit); INSERT INTO step SELECT * FROM moved; DROP TABLE moved
            """
        )
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        let query = "SELECT n, position FROM step ORDER BY id"
        try pair.expectEqual(query, try pair.desk.rows(query))
        #expect(try pair.phone.rows(query).count == 306)
    }

    @Test(
        "of a key is a renamed row to triggers, too",
        arguments: ["", " WITHOUT ROWID"],
        [
            ("UPDATE tag SET name = 'food' WHERE name = 'fod'", "food|red", "food"),
            ("UPDATE tag SET name = 'FOD', color = 'pink' WHERE name = 'fod'", "FOD|pink", "FOD"),
        ]
    )
    func keys(_ option: String, _ change: (edit: String, tags: String, draft: String)) async throws
    {
        let pair = try await begin(
            """
            CREATE TABLE tag (name TEXT PRIMARY KEY, color TEXT, note TEXT)\(option);
            CREATE TABLE item (id INTEGER PRIMARY KEY, tag TEXT REFERENCES tag (name) ON UPDATE CASCADE);
            CREATE TABLE draft (id INTEGER PRIMARY KEY, tag TEXT);
            CREATE TRIGGER gone AFTER DELETE ON tag BEGIN DELETE FROM draft WHERE tag = old.name; END;
            CREATE TRIGGER renamed AFTER UPDATE OF name ON tag BEGIN
                UPDATE draft SET tag = new.name WHERE tag = old.name;
            END
            """,
            "INSERT INTO tag VALUES ('fod', 'red', 'eat'), ('bee', 'blue', 'fly'); INSERT INTO item (tag) VALUES ('fod'), ('bee')"
        )
        try pair.phone.edit("INSERT INTO draft (tag) VALUES ('fod')")
        try pair.desk.edit(change.edit)
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        let query = "SELECT name, color FROM tag ORDER BY name"
        let tags = try pair.phone.rows(query)
        #expect(change.tags.split(separator: ",").allSatisfy { tags.contains(String($0)) })
        try pair.expectEqual(query, try pair.desk.rows(query))
        try pair.expectEqual("SELECT tag FROM item", try pair.desk.rows("SELECT tag FROM item"))
        #expect(try pair.phone.rows("SELECT tag FROM draft") == [change.draft])
    }

    @Test("is held with its row as long as a trigger keeps the row, and nothing else is held")
    func protected() async throws {
        let pair = try await begin(
            """
            CREATE TABLE person (id INTEGER PRIMARY KEY, n TEXT, protected INT DEFAULT 0);
            CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT);
            CREATE TRIGGER keep BEFORE DELETE ON person BEGIN
                SELECT RAISE(ABORT, 'protected') WHERE old.protected;
                INSERT INTO log (what) VALUES (old.n);
            END
            """,
            "INSERT INTO person VALUES (1, 'Ann', 1), (2, 'Bob', 0), (3, 'Cem', 0)"
        )
        let (desk, phone) = (pair.desk, pair.phone)
        try desk.edit(
            "UPDATE person SET protected = 0 WHERE id = 1; DELETE FROM person WHERE id <> 2"
        )
        try desk.edit("UPDATE person SET n = 'Bobby'; INSERT INTO person VALUES (4, 'Dan', 0)")
        try await pair.exchange(desk, phone, at: 2)
        #expect(
            try phone.rows("SELECT n FROM person ORDER BY id") == ["Ann", "Bobby", "Dan"]
        )
        #expect(
            try phone.unshown.filter(\.waits).map(\.reason) == ["a change of it waits: protected"]
        )
        try phone.edit("UPDATE person SET protected = 0")
        try await pair.exchange(phone, desk, phone, desk, at: 3)
        let query = "SELECT n FROM person ORDER BY id"
        try pair.expectEqual(query, try desk.rows(query))
        #expect(try phone.unshown.isEmpty)
    }
}
