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
}
