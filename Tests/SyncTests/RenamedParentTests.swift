import Foundation
import Testing

@testable import Sync

/// References to a UNIQUE value that is no key: another device may change this value meanwhile.
@Suite("A reference to a row by a UNIQUE value")
struct RenamedParentTests {
    private static let begin = """
        INSERT INTO unit VALUES (1, 'kg', 1000), (2, 'lb', 454), (3, 'g', 1);
        INSERT INTO item VALUES (1, 'eggs', 'kg'), (2, 'milk', 'lb')
        """

    private static func schema(_ action: String) -> String {
        """
        CREATE TABLE unit (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INT);
        CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT, unit TEXT \(action));
        """
    }

    private static let rows =
        "SELECT title, unit, (SELECT id FROM unit WHERE name = item.unit) FROM item ORDER BY title"

    private func expect(
        _ schema: String = schema("REFERENCES unit(name) ON UPDATE CASCADE"),
        _ begin: String = begin,
        desk: String,
        phone: String,
        _ sql: String = rows,
        shows expected: [String],
        enforces: Bool = true,
        conflicts: Set<String> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for isPhoneFirst in [false, true] {
            let pair = try DevicePair(schema: schema, enforcesReferences: enforces)
            try pair.desk.edit(begin)
            for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
            try await pair.exchange(pair.desk, pair.phone, at: 1)
            try pair.desk.edit(desk)
            try pair.phone.edit(phone)
            let (one, other) = isPhoneFirst ? (pair.phone, pair.desk) : (pair.desk, pair.phone)
            try await pair.exchange(one, at: 2)
            try await pair.exchange(other, one, other, at: 3)
            try pair.expectEqual(sql, expected, sourceLocation: sourceLocation)
            for device in [one, other] {
                #expect(try device.unshown.isEmpty, sourceLocation: sourceLocation)
                #expect(
                    try Set(device.conflicts).isSubset(of: conflicts),
                    sourceLocation: sourceLocation
                )
            }
        }
    }

    @Test(
        "follows the row that another device renames",
        arguments: [
            "REFERENCES unit(name) ON UPDATE CASCADE",
            "NOT NULL REFERENCES unit(name) ON UPDATE CASCADE ON DELETE CASCADE",
            "REFERENCES unit(name)",
        ]
    )
    func renamed(_ unit: String) async throws {
        let cascades = unit.contains("UPDATE")
        try await expect(
            Self.schema(unit),
            desk: "UPDATE unit SET name = 'kilogram' WHERE id = 1"
                + (cascades ? "" : "; UPDATE item SET unit = 'kilogram' WHERE unit = 'kg'"),
            phone:
                "INSERT INTO item VALUES (9, 'ham', 'kg'); UPDATE item SET unit = 'kg' WHERE id = 2",
            shows: ["eggs|kilogram|1", "ham|kilogram|1", "milk|kilogram|1"],
            enforces: cascades
        )
    }

    @Test("means the same row if its name is handed on to another one")
    func handedOn() async throws {
        try await expect(
            desk: """
                UPDATE unit SET name = 'kilogram' WHERE id = 1;
                UPDATE unit SET name = 'kg' WHERE id = 2; UPDATE item SET title = 'oil' WHERE id = 2
                """,
            phone: "INSERT INTO item VALUES (9, 'ham', 'kg')",
            shows: ["eggs|kilogram|1", "ham|kilogram|1", "oil|kg|2"]
        )
    }

    @Test("means another row if the application exchanges the names below its rows")
    func exchanged() async throws {
        try await expect(
            desk: """
                UPDATE unit SET name = 'x' WHERE id = 1;
                UPDATE unit SET name = 'kg' WHERE id = 2; UPDATE unit SET name = 'lb' WHERE id = 1
                """,
            phone: "UPDATE item SET title = title || '!'",
            shows: ["eggs!|kg|2", "milk!|lb|1"],
            enforces: false
        )
    }

    @Test("goes to the row that takes the place of its own")
    func replaced() async throws {
        try await expect(
            desk: """
                DELETE FROM unit WHERE id = 1;
                INSERT INTO unit VALUES (7, 'kg', 1); INSERT INTO unit VALUES (8, 'oz', 2)
                """,
            phone: "INSERT INTO item VALUES (9, 'ham', 'kg')",
            "SELECT title, unit, unit IN (SELECT name FROM unit) FROM item ORDER BY title",
            shows: ["eggs|kg|1", "ham|kg|1", "milk|lb|1"],
            enforces: false
        )
    }

    @Test("to which another device moves a row wins over the cascade of a later change of the name")
    func moved() async throws {
        try await expect(
            desk: "UPDATE unit SET name = 'kilogram' WHERE id = 1",
            phone: "UPDATE item SET unit = 'g' WHERE id = 1",
            shows: ["eggs|g|3", "milk|lb|2"]
        )
    }

    @Test("follows a row that both devices rename")
    func renamedTwice() async throws {
        try await expect(
            desk: """
                UPDATE unit SET name = 'kilogram' WHERE id = 1; INSERT INTO item VALUES (8, 'ale', 'kilogram')
                """,
            phone:
                "UPDATE unit SET name = 'kilo' WHERE id = 1; INSERT INTO item VALUES (9, 'ham', 'kilo')",
            "SELECT title, unit = (SELECT name FROM unit WHERE id = 1) FROM item ORDER BY title",
            shows: ["ale|1", "eggs|1", "ham|1", "milk|0"],
            conflicts: ["edited"]
        )
    }

    @Test("of several columns follows its row")
    func composite() async throws {
        try await expect(
            """
            CREATE TABLE room (id INTEGER PRIMARY KEY, house TEXT, name TEXT, UNIQUE (house, name));
            CREATE TABLE bed (id INTEGER PRIMARY KEY, title TEXT, h TEXT, r TEXT,
                FOREIGN KEY (h, r) REFERENCES room(house, name) ON UPDATE CASCADE ON DELETE CASCADE);
            """,
            "INSERT INTO room VALUES (1, 'A', 'x'), (2, 'A', 'y'); INSERT INTO bed VALUES (1, 'old', 'A', 'x')",
            desk: "UPDATE room SET house = 'B' WHERE id = 1",
            phone: "INSERT INTO bed VALUES (2, 'new', 'A', 'x'), (3, 'other', 'A', 'y')",
            "SELECT title, h, r FROM bed ORDER BY id",
            shows: ["old|B|x", "new|B|x", "other|A|y"]
        )
    }

    @Test("in a key follows its row")
    func inKey() async throws {
        try await expect(
            """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
            CREATE TABLE tagged (tag TEXT REFERENCES tag(name) ON UPDATE CASCADE, item INT, note TEXT,
                PRIMARY KEY (tag, item)) WITHOUT ROWID;
            """,
            "INSERT INTO tag VALUES (1, 'a'), (2, 'b'); INSERT INTO tagged VALUES ('a', 1, ''), ('b', 1, '')",
            desk: "UPDATE tag SET name = 'z' WHERE id = 1",
            phone:
                "INSERT INTO tagged VALUES ('a', 2, 'new'); UPDATE tagged SET note = 'n' WHERE tag = 'a' AND item = 1",
            "SELECT * FROM tagged ORDER BY tag, item",
            shows: ["b|1|", "z|1|n", "z|2|new"]
        )
    }

    @Test("in a key to which rows refer is followed by these")
    func belowKey() async throws {
        try await expect(
            """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
            CREATE TABLE tagged (tag TEXT REFERENCES tag(name) ON UPDATE CASCADE, item INT, note TEXT,
                PRIMARY KEY (tag, item)) WITHOUT ROWID;
            CREATE TABLE vote (id INTEGER PRIMARY KEY, who TEXT, t TEXT, i INT,
                FOREIGN KEY (t, i) REFERENCES tagged(tag, item) ON UPDATE CASCADE ON DELETE CASCADE);
            """,
            """
            INSERT INTO tag VALUES (1, 'a'), (2, 'b'); INSERT INTO tagged VALUES ('a', 1, ''), ('b', 1, '');
            INSERT INTO vote VALUES (1, 'Ann', 'a', 1), (2, 'Bob', 'b', 1)
            """,
            desk: """
                UPDATE tag SET name = 'z' WHERE id = 1; INSERT INTO tagged VALUES ('z', 7, '');
                INSERT INTO vote VALUES (8, 'Cid', 'z', 1)
                """,
            phone: """
                INSERT INTO tagged VALUES ('a', 2, 'new'); INSERT INTO vote VALUES (9, 'Dan', 'a', 2);
                UPDATE vote SET t = 'a' WHERE id = 2
                """,
            "SELECT who, t, i FROM vote ORDER BY who",
            shows: ["Ann|z|1", "Bob|z|1", "Cid|z|1", "Dan|z|2"]
        )
    }

    @Test("is taken back with its row, whatever that is called meanwhile")
    func takenBack() async throws {
        let pair = try DevicePair(
            schema: Self.schema(
                "NOT NULL REFERENCES unit(name) ON UPDATE CASCADE ON DELETE CASCADE"
            )
        )
        try pair.desk.edit(Self.begin)
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.phone.edit("UPDATE unit SET name = 'kilogram' WHERE id = 1")
        try await pair.exchange(pair.phone, pair.desk, at: 2)
        try pair.desk.edit("DELETE FROM unit WHERE id = 1")
        try await pair.exchange(pair.desk, pair.phone, at: 3)
        try pair.expectEqual(Self.rows, ["milk|lb|2"])
        try pair.phone.edit("INSERT INTO unit VALUES (9, 'kg', 1)")
        let sidecar = try Sidecar(in: pair.phone.sidecarPath)
        let entry = try #require(sidecar.conflicts(all: true).first { $0.title == "eggs" })
        let taken = try sidecar.takeConflict(
            entry.number,
            at: pair.start + 240,
            program: "test 1"
        )
        try sidecar.close()
        #expect(taken == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 5)
        try pair.expectEqual(
            "SELECT title, unit FROM item ORDER BY title",
            ["eggs|kilogram", "milk|lb"]
        )
    }

    @Test(
        "is the same one in a store that joins with the new name",
        arguments: [JoinMatch.copy, .content]
    )
    func joining(_ match: JoinMatch) async throws {
        let pair = try DevicePair(schema: Self.schema("REFERENCES unit(name) ON UPDATE CASCADE"))
        try pair.desk.edit(Self.begin)
        try await pair.desk.enable(at: pair.start)
        try await pair.exchange(pair.desk, at: 1)
        try pair.desk.edit("UPDATE unit SET name = 'kilogram' WHERE id = 1")
        try await pair.exchange(pair.desk, at: 2)
        try pair.phone.edit(Self.begin)
        try pair.phone.edit("UPDATE unit SET name = 'kilogram' WHERE id = 1")
        try await pair.phone.enable(at: pair.start + 180, match: match)
        try await pair.exchange(pair.phone, pair.desk, at: 4)
        try pair.expectEqual(Self.rows, ["eggs|kilogram|1", "milk|lb|2"])
        for device in [pair.desk, pair.phone] { #expect(try device.conflicts.isEmpty) }
    }

    @Test("in a key follows names that are exchanged or handed on", arguments: ["a", "c"])
    func exchangedInKey(_ last: String) async throws {
        try await expect(
            """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE, size INT);
            CREATE TABLE doc (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
            CREATE TABLE tagged (tag TEXT REFERENCES tag(name) ON UPDATE CASCADE,
                doc TEXT REFERENCES doc(name) ON UPDATE CASCADE, title TEXT, n INT,
                PRIMARY KEY (tag, doc)) WITHOUT ROWID;
            CREATE TABLE vote (tag TEXT, doc TEXT, who TEXT, n INT, PRIMARY KEY (tag, doc, who),
                FOREIGN KEY (tag, doc) REFERENCES tagged(tag, doc) ON UPDATE CASCADE);
            """,
            """
            INSERT INTO tag VALUES (1, 'a', 100), (2, 'b', 200); INSERT INTO doc VALUES (1, 'x'), (2, 'y');
            INSERT INTO tagged VALUES ('a', 'x', 'ax', 1), ('a', 'y', 'ay', 1), ('b', 'x', 'bx', 1);
            INSERT INTO vote VALUES ('a', 'x', 'Ann', 1), ('b', 'x', 'Ann', 2)
            """,
            desk: """
                UPDATE tag SET name = 'tmp' WHERE id = 2; UPDATE tag SET name = 'b' WHERE id = 1;
                UPDATE tag SET name = '\(last)' WHERE id = 2
                """,
            phone:
                "UPDATE tagged SET n = 9 WHERE title = 'bx'; UPDATE vote SET n = n + 5 WHERE tag = 'b'",
            """
            SELECT tagged.tag, tagged.doc, title, tagged.n, vote.n FROM tagged
            LEFT JOIN vote ON vote.tag = tagged.tag AND vote.doc = tagged.doc ORDER BY title
            """,
            shows: ["b|x|ax|1|1", "b|y|ay|1|NULL", "\(last)|x|bx|9|7"]
        )
    }

    @Test(
        "follows names that are compared as numbers",
        arguments: [("NUMERIC", "9", "9"), ("INT", "'lb'", "lb"), ("INT", "NULL", "NULL")]
    )
    func numeric(_ type: String, _ name: String, _ shown: String) async throws {
        try await expect(
            """
            CREATE TABLE unit (id INTEGER PRIMARY KEY, name \(type) UNIQUE, size INT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT, unit TEXT REFERENCES unit(name) ON UPDATE CASCADE);
            """,
            """
            INSERT INTO unit VALUES (1, 'kg', 1000), (2, 8, 454);
            INSERT INTO item VALUES (1, 'eggs', 'kg'), (2, 'milk', '8')
            """,
            desk: "UPDATE unit SET name = \(name) WHERE id = 1",
            phone: "UPDATE item SET title = title || '!'",
            "SELECT title, unit FROM item ORDER BY title",
            shows: ["eggs!|\(shown)", "milk!|8"]
        )
    }

    @Test("that means another row now is no loss of the row's other edits")
    func otherEdits() async throws {
        let pair = try DevicePair(
            schema: Self.schema("REFERENCES unit(name) ON UPDATE CASCADE"),
            enforcesReferences: false
        )
        try pair.desk.edit(Self.begin)
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.desk.edit("UPDATE item SET title = 'Eggs' WHERE id = 1")
        try await pair.exchange(pair.desk, pair.phone, at: 2)
        try pair.phone.edit(
            """
            UPDATE unit SET name = 'tmp' WHERE id = 2; UPDATE unit SET name = 'lb' WHERE id = 1;
            UPDATE unit SET name = 'kg' WHERE id = 2; UPDATE item SET title = 'Eggs, 12' WHERE id = 1
            """
        )
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 3)
        try pair.expectEqual(Self.rows, ["Eggs, 12|kg|2", "milk|lb|1"])
        for device in [pair.desk, pair.phone] { #expect(try device.conflicts.isEmpty) }
    }

    @Test("of a row of its own table follows that")
    func tree() async throws {
        try await expect(
            """
            CREATE TABLE node (id INTEGER PRIMARY KEY, code TEXT UNIQUE,
                up TEXT REFERENCES node(code) ON UPDATE CASCADE ON DELETE CASCADE);
            """,
            "INSERT INTO node VALUES (1, 'r', NULL), (2, 's', 'r'), (3, 't', 's')",
            desk: "UPDATE node SET code = code || '2'",
            phone: "INSERT INTO node VALUES (4, 'u', 't'), (5, 'v', 'u')",
            "SELECT code, up FROM node ORDER BY code",
            shows: ["r2|NULL", "s2|r2", "t2|s2", "u|t2", "v|u"]
        )
    }
}
