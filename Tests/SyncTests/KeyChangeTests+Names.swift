import Foundation
import Testing

@testable import Sync

// UNIQUE texts, which show that all rows were saved again.
extension KeyChangeTests {
    @Test(
        "is another one's after all rows were saved again, if a UNIQUE text names them",
        arguments: [
            ("id DESC", "title, pos * 10"), ("id % 3", "title, pos * 10"),
            ("id DESC", "title || '!', id"), ("id DESC", "title, 5 - id"),
            ("id", "title, pos * 10"),
        ]
    )
    func savedAgain(_ order: String, _ values: String) async throws {
        let title = values.hasPrefix("title ||") ? "!" : ""
        try await expect(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, title TEXT, pos INT NOT NULL);
            CREATE TABLE note (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item(id) ON DELETE CASCADE, t TEXT);
            """,
            "INSERT INTO item VALUES (1, 'u1', 'eggs', 1), (2, 'u2', 'milk', 2), (3, 'u3', 'ham', 3), (4, 'u4', 'tea', 4)",
            desk: """
                CREATE TEMP TABLE x AS SELECT * FROM item ORDER BY \(order); DELETE FROM item;
                INSERT INTO item (uid, title, pos) SELECT uid, \(values) FROM x; DROP TABLE x
                """,
            phone: "INSERT INTO note (item, t) VALUES (1, 'of eggs'), (4, 'of tea')",
            "SELECT uid, title, t FROM item LEFT JOIN note ON item.id = note.item ORDER BY 1",
            [
                "u1|eggs\(title)|of eggs", "u2|milk\(title)|NULL", "u3|ham\(title)|NULL",
                "u4|tea\(title)|of tea",
            ]
        )
    }

    @Test("is not another one's if only a UNIQUE text is there, or if rows exchange it")
    func exchangedNames() async throws {
        try await expect(
            """
            CREATE TABLE slot (id INTEGER PRIMARY KEY, label TEXT UNIQUE, owner TEXT, size INT);
            CREATE TABLE note (id INTEGER PRIMARY KEY, slot INTEGER REFERENCES slot(id), t TEXT);
            """,
            "INSERT INTO slot VALUES (1, 'a', 'Ann', 1), (2, 'b', 'Bob', 2), (3, 'c', 'Cid', 3)",
            desk: """
                UPDATE slot SET label = 'x' WHERE id = 1; UPDATE slot SET label = 'a' WHERE id = 2;
                UPDATE slot SET label = 'b' WHERE id = 1
                """,
            phone: "INSERT INTO note (slot, t) VALUES (1, 'of Ann')",
            "SELECT owner, label, t FROM slot LEFT JOIN note ON slot.id = note.slot ORDER BY 1",
            ["Ann|b|of Ann", "Bob|a|NULL", "Cid|c|NULL"]
        )
    }

    @Test("is not another one's if rows exchange a UNIQUE text, and have nothing else but numbers")
    func exchangedAddresses() async throws {
        try await expect(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, mail TEXT UNIQUE, age INT)",
            "INSERT INTO person VALUES (1, 'a@x', 30), (2, 'b@x', 40), (3, 'c@x', 50)",
            desk: """
                UPDATE person SET mail = 't' WHERE id = 1; UPDATE person SET mail = 'a@x' WHERE id = 2;
                UPDATE person SET mail = 'b@x' WHERE id = 1
                """,
            phone: "UPDATE person SET age = 31 WHERE id = 1",
            "SELECT id, mail, age FROM person ORDER BY id",
            ["1|b@x|31", "2|a@x|40", "3|c@x|50"]
        )
    }

    @Test("of text in another case is the row's own, although another device's row waits for it")
    func otherCase() async throws {
        let pair = try DevicePair(
            schema: "CREATE TABLE t (k TEXT PRIMARY KEY COLLATE NOCASE, v INT)"
        )
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 1)
        try pair.desk.edit("INSERT INTO t VALUES ('Abc', 1)")
        try pair.phone.edit("INSERT INTO t VALUES ('aBC', 2)")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, pair.phone, at: 2)
        try pair.desk.edit("UPDATE t SET k = 'ABC', v = 7")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 3)
        try pair.expectEqual("SELECT k, v FROM t", ["ABC|7"])
    }

    @Test(
        "of text is followed by the rows that refer to it, whatever their own key is",
        arguments: ["PRIMARY KEY (item, tag)", "id INTEGER PRIMARY KEY, UNIQUE (item, tag)"]
    )
    func joined(_ key: String) async throws {
        let own = key.hasPrefix("id") ? "id INTEGER PRIMARY KEY, " : ""
        let rule = key.replacingOccurrences(of: "id INTEGER PRIMARY KEY, ", with: "")
        try await expect(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, n TEXT);
            CREATE TABLE tag (name TEXT PRIMARY KEY, color TEXT, note TEXT);
            CREATE TABLE it (\(own)item INT REFERENCES item (id) ON DELETE CASCADE,
                tag TEXT REFERENCES tag (name) ON UPDATE CASCADE ON DELETE CASCADE, \(rule))
            """,
            """
            INSERT INTO item VALUES (1, 'milk'), (2, 'eggs'), (3, 'jam');
            INSERT INTO tag VALUES ('fod', 'red', 'eat'); INSERT INTO it (item, tag) VALUES (1, 'fod'), (2, 'fod')
            """,
            desk: "UPDATE tag SET name = 'food', color = 'green'",
            phone: "INSERT INTO it (item, tag) VALUES (3, 'fod'); UPDATE tag SET note = 'drink'",
            "SELECT n, name, color, note FROM it JOIN item ON item.id = item JOIN tag ON name = tag ORDER BY n",
            ["eggs|food|green|drink", "jam|food|green|drink", "milk|food|green|drink"]
        )
    }
}
