import Foundation
import TestSupport
import Testing

@testable import Sync

@Suite("A key that an application changes")
struct KeyChangeTests {
    struct Change: CustomTestStringConvertible {
        var name: String
        /// The SQL of the device that changes keys.
        var desk: String
        /// The lists that are there afterwards, with their items, tags and notes; `nil` for all as `phone` left them.
        var expected: [String]?
        /// Whether all rows are shown, and no edit is lost.
        var isQuiet = true

        var testDescription: String { name }
    }

    private static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT, body TEXT);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT,
            list INTEGER NOT NULL REFERENCES list(id) ON UPDATE CASCADE ON DELETE CASCADE);
        CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE tagged (list INTEGER NOT NULL REFERENCES list(id) ON UPDATE CASCADE ON DELETE CASCADE,
            tag INTEGER NOT NULL REFERENCES tag(id) ON UPDATE CASCADE ON DELETE CASCADE,
            PRIMARY KEY (list, tag)) WITHOUT ROWID;
        CREATE TABLE note (id INTEGER PRIMARY KEY REFERENCES list(id) ON UPDATE CASCADE ON DELETE CASCADE,
            text TEXT);
        """
    private static let rows = """
        INSERT INTO list VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'z'), (4, 'd', 'w');
        INSERT INTO item VALUES (1, 'a1', 1), (2, 'b1', 2), (3, 'c1', 3), (4, 'c2', 3);
        INSERT INTO tag VALUES (1, 'red'), (2, 'blue');
        INSERT INTO tagged VALUES (1, 1), (2, 1), (2, 2), (3, 2), (4, 1);
        INSERT INTO note VALUES (1, 'na'), (2, 'nb'), (3, 'nc')
        """
    private static let phoneEdits = """
        INSERT INTO item (list, name) VALUES (2, 'bB'), (3, 'cB'); UPDATE list SET body = 'yB' WHERE id = 2;
        INSERT INTO tagged VALUES (3, 1); UPDATE note SET text = 'nbB' WHERE id = 2
        """
    private static let content = """
        SELECT l.name, l.body, (SELECT group_concat(name) FROM (SELECT name FROM item
            WHERE list = l.id ORDER BY 1)), (SELECT group_concat(name) FROM (SELECT t.name FROM tagged
            JOIN tag t ON t.id = tag WHERE list = l.id ORDER BY 1)),
            (SELECT text FROM note n WHERE n.id = l.id)
        FROM list l ORDER BY 1
        """
    private static let all = [
        "a|x|a1|red|na", "b|yB|b1,bB|blue,red|nbB", "c|z|c1,c2,cB|blue,red|nc", "d|w|NULL|red|NULL",
    ]

    static let changes = [
        Change(name: "to one that is free", desk: "UPDATE list SET id = 10 WHERE id = 2"),
        Change(
            name: "with another one",
            desk: """
                UPDATE list SET id = -2 WHERE id = 2; UPDATE list SET id = 2 WHERE id = 3;
                UPDATE list SET id = 3 WHERE id = -2
                """
        ),
        Change(
            name: "with all others, by one",
            desk: "UPDATE list SET id = -id; UPDATE list SET id = 1 - id"
        ),
        Change(
            name: "with all others, to the reverse",
            desk: "UPDATE list SET id = -id; UPDATE list SET id = 5 + id"
        ),
        Change(
            name: "in two tables that are joined",
            desk: """
                UPDATE tag SET id = -id; UPDATE tag SET id = 3 + id;
                UPDATE list SET id = -id; UPDATE list SET id = 1 - id
                """
        ),
        Change(
            name: "to close a gap",
            desk: "DELETE FROM list WHERE id = 1; UPDATE list SET id = id - 1",
            expected: Array(all[1...])
        ),
        Change(
            name: "with all others, while a row is edited",
            desk: """
                UPDATE list SET id = -id; UPDATE list SET id = 1 - id; UPDATE list SET name = 'cc' WHERE name = 'c'
                """,
            expected: [all[0], all[1], "cc|z|c1,c2,cB|blue,red|nc", all[3]]
        ),
        Change(
            name: "to close a gap, while a row without items is edited",
            desk: """
                DELETE FROM list WHERE id = 1; UPDATE list SET id = id - 1;
                UPDATE list SET name = 'dd' WHERE name = 'd'
                """,
            expected: [all[1], all[2], "dd|w|NULL|red|NULL"]
        ),
        Change(
            name: "and gives to a new row",
            desk: """
                UPDATE list SET id = 10 WHERE id = 2; INSERT INTO list VALUES (2, 'e', 'v');
                INSERT INTO item (list, name) VALUES (2, 'e1')
                """,
            expected: all + ["e|v|e1|NULL|NULL"]
        ),
        Change(
            name: "as it makes all rows again",
            desk: """
                CREATE TEMP TABLE l AS SELECT * FROM list; CREATE TEMP TABLE i AS SELECT * FROM item;
                CREATE TEMP TABLE t AS SELECT * FROM tagged; CREATE TEMP TABLE n AS SELECT * FROM note;
                DELETE FROM list; INSERT INTO list SELECT id + 10, name, body FROM l;
                INSERT INTO item SELECT id + 10, name, list + 10 FROM i;
                INSERT INTO tagged SELECT list + 10, tag FROM t; INSERT INTO note SELECT id + 10, text FROM n
                """
        ),
    ]

    @Test("stays that of the same row for rows and edits of others", arguments: changes)
    func followed(_ change: Change) async throws {
        try await expect(
            Self.schema,
            Self.rows,
            desk: change.desk,
            phone: Self.phoneEdits,
            Self.content,
            change.expected ?? Self.all
        )
    }

    /// Edits a store on two devices at once, exchanges, and compares both with what is expected.
    @discardableResult
    func expect(
        _ schema: String,
        _ rows: String,
        desk: String,
        phone: String,
        _ query: String,
        _ expected: [String],
        isQuiet: Bool = true
    ) async throws -> DevicePair {
        let pair = try DevicePair(schema: schema, enforcesReferences: true)
        try pair.desk.edit(rows)
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try await pair.edit(desk: desk, phone: phone, at: 2)
        try pair.expectEqual(query, expected)
        if isQuiet {
            for device in [pair.desk, pair.phone] {
                #expect(try device.unshown.isEmpty)
                #expect(try device.conflicts.isEmpty)
            }
        }
        return pair
    }

    private static let lists = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT UNIQUE, body TEXT);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT,
            list INTEGER NOT NULL REFERENCES list(id) ON DELETE CASCADE);
        """
    private static let listRows = """
        INSERT INTO list VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'z'), (4, 'd', 'w');
        INSERT INTO item VALUES (1, 'a1', 1), (2, 'b1', 2), (3, 'c1', 3), (4, 'c2', 3)
        """
    private static let listContent = """
        SELECT l.name, l.body, (SELECT group_concat(name) FROM (SELECT name FROM item
            WHERE list = l.id ORDER BY 1)) FROM list l ORDER BY 1
        """

    @Test(
        "is not one whose rows were edited, moved or replaced",
        arguments: [
            Change(
                name: "each column of the last row without children",
                desk: "UPDATE list SET name = 'D', body = 'W' WHERE id = 4",
                expected: ["D|W|4B", "a|x|a1", "b|y|b1", "c|z|3B,c1,c2"]
            ),
            Change(
                name: "the items of a list go to a new one, and it has a new name",
                desk: """
                    INSERT INTO list VALUES (5, 'e', 'v'); UPDATE item SET list = 5 WHERE list = 3;
                    UPDATE list SET name = 'C' WHERE id = 3
                    """,
                expected: ["C|z|3B", "a|x|a1", "b|y|b1", "d|w|4B", "e|v|c1,c2"]
            ),
            Change(
                name: "two lists exchange their items, and all get another body",
                desk: """
                    UPDATE item SET list = CASE list WHEN 2 THEN 3 WHEN 3 THEN 2 ELSE list END;
                    UPDATE list SET body = body || '!'
                    """,
                expected: ["a|x!|a1", "b|y!|c1,c2", "c|z!|3B,b1", "d|w!|4B"]
            ),
            Change(
                name: "two lists exchange all their values",
                desk: """
                    UPDATE list SET name = 'q' WHERE id = 2; UPDATE list SET name = 'b', body = 'y' WHERE id = 3;
                    UPDATE list SET name = 'c', body = 'z' WHERE id = 2
                    """,
                expected: ["a|x|a1", "b|y|3B,c1,c2", "c|z|b1", "d|w|4B"]
            ),
            Change(
                name: "a list gets the values of a deleted one, and each item is edited",
                desk: """
                    UPDATE item SET list = 1 WHERE list = 4; DELETE FROM list WHERE id = 4;
                    UPDATE list SET name = 'd', body = 'w' WHERE id = 2; UPDATE item SET name = name || '!'
                    """,
                expected: ["a|x|a1!", "c|z|3B,c1!,c2!", "d|w|b1!"],
                isQuiet: false
            ),
            Change(
                name: "another list gets the items of a deleted one",
                desk: """
                    INSERT INTO list VALUES (5, 'e', 'v'); UPDATE item SET list = 5 WHERE list = 2;
                    DELETE FROM list WHERE id = 2
                    """,
                expected: ["a|x|a1", "c|z|3B,c1,c2", "d|w|4B", "e|v|b1"]
            ),
            Change(
                name: "a list is replaced by its name",
                desk: "REPLACE INTO list VALUES (7, 'd', 'w2')",
                expected: ["a|x|a1", "b|y|b1", "c|z|3B,c1,c2", "d|w2|4B"]
            ),
        ]
    )
    func edited(_ change: Change) async throws {
        try await expect(
            Self.lists,
            Self.listRows,
            desk: change.desk,
            phone: "INSERT INTO item (list, name) VALUES (3, '3B'), (4, '4B')",
            Self.listContent,
            change.expected ?? [],
            isQuiet: change.isQuiet
        )
    }

    @Test("stays that of the same row if rows refer to two that have other numbers")
    func twoReferences() async throws {
        try await expect(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE b (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE c (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) ON UPDATE CASCADE ON DELETE CASCADE,
                b INTEGER REFERENCES b(id) ON UPDATE CASCADE ON DELETE CASCADE, note TEXT);
            """,
            """
            INSERT INTO a VALUES (1, 'a1'), (2, 'a2'), (3, 'a3'); INSERT INTO b VALUES (1, 'b1'), (2, 'b2'), (3, 'b3');
            INSERT INTO c VALUES (1, 1, 1, NULL), (2, 2, 2, NULL), (3, 3, 3, NULL)
            """,
            desk:
                "DELETE FROM a WHERE id = 1; DELETE FROM b WHERE id = 1; UPDATE a SET id = id - 1; UPDATE b SET id = id - 1",
            phone: "UPDATE c SET note = 'n' || id WHERE id > 1",
            "SELECT a.name, b.name, note FROM c JOIN a ON a.id = a JOIN b ON b.id = b ORDER BY 1",
            ["a2|b2|n2", "a3|b3|n3"]
        )
    }

    @Test("stays that of the same row if only rows with the same key refer to it")
    func onlyRow() async throws {
        try await expect(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT, note TEXT);
            CREATE TABLE b (id INTEGER PRIMARY KEY REFERENCES a(id) ON UPDATE CASCADE, text TEXT);
            """,
            """
            INSERT INTO a VALUES (1, 'a1', 'x'), (2, 'a2', 'y'), (3, 'a3', NULL);
            INSERT INTO b VALUES (1, 'b1'), (2, 'b2'), (3, NULL)
            """,
            desk: "UPDATE a SET id = -id WHERE id < 3; UPDATE a SET id = 3 + id WHERE id < 0",
            phone: "UPDATE a SET note = 'X' WHERE id = 1; UPDATE b SET text = 'B2' WHERE id = 2",
            "SELECT name, note, text FROM a JOIN b ON b.id = a.id ORDER BY 1",
            ["a1|X|b1", "a2|y|B2", "a3|NULL|NULL"]
        )
    }

    @Test("stays that of the same row in a chain of tables with one key")
    func chain() async throws {
        let cascade = "ON UPDATE CASCADE ON DELETE CASCADE"
        try await expect(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE b (id INTEGER PRIMARY KEY REFERENCES a(id) \(cascade), name TEXT);
            CREATE TABLE c (id INTEGER PRIMARY KEY REFERENCES b(id) \(cascade), name TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id) \(cascade));
            """,
            """
            INSERT INTO a VALUES (1, 'a1'), (2, 'a2'); INSERT INTO b VALUES (1, 'b1'), (2, 'b2');
            INSERT INTO c VALUES (1, 'c1'), (2, 'c2'); INSERT INTO item VALUES (1, 1), (2, 2)
            """,
            desk: "UPDATE a SET id = -id; UPDATE a SET id = 3 + id",
            phone: "UPDATE b SET name = 'B2' WHERE id = 2; UPDATE c SET name = 'C1' WHERE id = 1",
            "SELECT a.name, b.name, c.name FROM a JOIN b ON b.id = a.id JOIN c ON c.id = a.id ORDER BY 1",
            ["a1|b1|C1", "a2|B2|c2"]
        )
    }

    @Test(
        "is another row's if a deleted row and a new one have only a tag, and blank values, in common"
    )
    func alikeTags() async throws {
        try await expect(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, name TEXT, rank INTEGER, done INTEGER);
            CREATE TABLE tagged (note INTEGER REFERENCES note(id) ON DELETE CASCADE, tag TEXT,
                PRIMARY KEY (note, tag)) WITHOUT ROWID;
            """,
            "INSERT INTO note VALUES (1, 'a', 0, 0), (2, 'b', 0, 0); INSERT INTO tagged VALUES (2, 'red')",
            desk:
                "DELETE FROM note WHERE id = 2; INSERT INTO note VALUES (9, 'z', 0, 0); INSERT INTO tagged VALUES (9, 'red')",
            phone: "UPDATE note SET name = 'late', rank = 5 WHERE id = 2",
            "SELECT name, rank FROM note ORDER BY 1",
            ["a|0", "z|0"],
            isQuiet: false
        )
    }

    @Test(
        "stays that of the same row if all rows are saved again, without any that refer to them",
        arguments: [
            // All move by one, and a row is at the top.
            "INSERT INTO x VALUES ('a', 9, 'na'); INSERT INTO p (n, q, note) SELECT * FROM x ORDER BY n",
            // They are in another order, after a new one.
            "INSERT INTO x VALUES ('a', 9, 'na'); INSERT INTO p (n, q, note) SELECT * FROM x ORDER BY n = 'a' DESC, n DESC",
            "INSERT INTO p (n, q, note) SELECT * FROM x ORDER BY n DESC; INSERT INTO p VALUES (99, 'a', 9, 'na')",
        ]
    )
    func savedWhole(again: String) async throws {
        try await expect(
            "CREATE TABLE p (id INTEGER PRIMARY KEY, n TEXT, q INT, note TEXT)",
            "INSERT INTO p (n, q, note) VALUES ('b', 1, 'nb'), ('d', 1, 'nd'), ('f', 3, 'nf'), ('h', 4, 'nh')",
            desk: """
                CREATE TEMP TABLE x AS SELECT n, q, note FROM p; DELETE FROM p; \(again)
                """,
            phone: "UPDATE p SET q = 20 WHERE n = 'd'; DELETE FROM p WHERE n = 'f'",
            "SELECT n, q FROM p ORDER BY n",
            ["a|9", "b|1", "d|20", "h|4"]
        )
    }

    @Test(
        "is that of an edited row if the row was copied before, and partly edited",
        arguments: [
            (
                "INSERT INTO p VALUES (3, 'tea', 1); UPDATE p SET n = 'black tea' WHERE id = 2",
                ["black tea|5", "milk|1", "tea|1"]
            ),
            (
                """
                INSERT INTO p SELECT id + 2, n, q FROM p; UPDATE p SET n = 'black tea' WHERE id = 2;
                UPDATE p SET n = 'whole milk' WHERE id = 1
                """,
                ["black tea|5", "milk|1", "tea|1", "whole milk|1"]
            ),
        ]
    )
    func copied(edit: String, rows: [String]) async throws {
        try await expect(
            "CREATE TABLE p (id INTEGER PRIMARY KEY, n TEXT, q INT)",
            "INSERT INTO p VALUES (1, 'milk', 1), (2, 'tea', 1)",
            desk: edit,
            phone: "UPDATE p SET q = 5 WHERE id = 2",
            "SELECT n, q FROM p ORDER BY n",
            rows
        )
    }

    @Test("is another row's if it was deleted with the rows that referred to it")
    func reused() async throws {
        let pair = try await expect(
            Self.lists,
            "INSERT INTO list VALUES (1, 'a', 'x'), (2, 'b', 'y'); INSERT INTO item VALUES (1, 'b1', 2)",
            desk: "DELETE FROM list WHERE id = 2; INSERT INTO list VALUES (2, 'new', 'n')",
            phone: "INSERT INTO item (list, name) VALUES (2, 'bB')",
            Self.listContent,
            ["a|x|NULL", "new|n|NULL"],
            isQuiet: false
        )
        for device in [pair.desk, pair.phone] {
            #expect(try device.unshown.map(\.title) == ["bB"])
        }
    }

    private static let tree = """
        CREATE TABLE node (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES node(id) ON UPDATE CASCADE,
            name TEXT)
        """

    @Test(
        "stays that of the same row of a tree",
        arguments: [
            "UPDATE node SET id = 20 WHERE id = 2",
            "UPDATE node SET id = -id; UPDATE node SET id = 10 - id",
            "UPDATE node SET id = -id; UPDATE node SET id = 1 - id",
        ]
    )
    func tree(_ sql: String) async throws {
        try await expect(
            Self.tree,
            "INSERT INTO node VALUES (1, NULL, 'r'), (2, 1, 'a'), (3, 1, 'b'), (4, 2, 'aa'), (5, 3, 'ba')",
            desk: sql,
            phone:
                "INSERT INTO node (parent, name) VALUES (2, 'ab'); UPDATE node SET name = 'bb' WHERE id = 5",
            "SELECT n.name, p.name FROM node n LEFT JOIN node p ON p.id = n.parent ORDER BY 1",
            ["a|r", "aa|a", "ab|a", "b|r", "bb|b", "r|NULL"]
        )
    }

    // MARK: - Keys that identify rows

    static let units = """
        CREATE TABLE unit (name TEXT PRIMARY KEY, note TEXT, factor INTEGER);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT,
            unit TEXT NOT NULL REFERENCES unit(name) ON UPDATE CASCADE ON DELETE CASCADE);
        """
    static let unitRows = """
        INSERT INTO unit VALUES ('g', 'gram', 1), ('kg', 'kilo', 1000), ('x', 'unused', 0);
        INSERT INTO item VALUES (1, 'i1', 'kg'), (2, 'i2', 'kg'), (3, 'i3', 'g')
        """
    static let unitContent = """
        SELECT u.name, note, factor, (SELECT group_concat(name) FROM (SELECT name FROM item
            WHERE unit = u.name ORDER BY 1)) FROM unit u ORDER BY u.name COLLATE BINARY
        """

    @Test("takes rows and edits of others along as it is renamed, back and forth")
    func renamed() async throws {
        let pair = try await expect(
            Self.units,
            Self.unitRows,
            desk:
                "UPDATE unit SET name = 'kilogram' WHERE name = 'kg'; UPDATE unit SET name = 'y' WHERE name = 'x'",
            phone: """
                INSERT INTO item (name, unit) VALUES ('i4', 'kg'), ('i5', 'x'); UPDATE item SET name = 'I2' WHERE id = 2;
                UPDATE unit SET factor = 1001 WHERE name = 'kg'
                """,
            Self.unitContent,
            ["g|gram|1|i3", "kilogram|kilo|1001|I2,i1,i4", "y|unused|0|i5"]
        )
        try await pair.edit(
            desk: "UPDATE unit SET name = 'kg' WHERE name = 'kilogram'",
            phone:
                "INSERT INTO item (name, unit) VALUES ('i6', 'kilogram'); UPDATE unit SET note = 'K' WHERE factor > 1",
            at: 3
        )
        try pair.expectEqual(
            Self.unitContent,
            ["g|gram|1|i3", "kg|K|1001|I2,i1,i4,i6", "y|unused|0|i5"]
        )
        // The value that the row had under its other name is an edit like any other.
        try await pair.edit(
            desk: "UPDATE unit SET factor = 1000, note = 'kilo' WHERE name = 'kg'",
            phone: "UPDATE unit SET name = 'z' WHERE name = 'y'",
            at: 4
        )
        // A new row at a former key is another one.
        try await pair.edit(
            desk:
                "INSERT INTO unit VALUES ('x', 'new', 7); INSERT INTO item (name, unit) VALUES ('i7', 'x')",
            phone: "DELETE FROM unit WHERE name = 'g'",
            at: 5
        )
        try pair.expectEqual(
            Self.unitContent,
            ["kg|kilo|1000|I2,i1,i4,i6", "x|new|7|i7", "z|unused|0|i5"]
        )
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
        try await pair.edit(desk: "DELETE FROM unit WHERE name = 'z'", phone: "SELECT 1", at: 6)
        try pair.expectEqual(Self.unitContent, ["kg|kilo|1000|I2,i1,i4,i6", "x|new|7|i7"])
    }

    @Test("names the row that has it now, of which the values are its own")
    func taken() async throws {
        let pair = try await expect(
            Self.units,
            Self.unitRows,
            desk: "UPDATE unit SET name = 't' WHERE name = 'kg'",
            phone: "SELECT 1",
            Self.unitContent,
            ["g|gram|1|i3", "t|kilo|1000|i1,i2", "x|unused|0|NULL"]
        )
        try await pair.edit(
            desk: "UPDATE unit SET name = 'kg' WHERE name = 'g'",
            phone: "SELECT 1",
            at: 3
        )
        try pair.expectEqual(
            Self.unitContent,
            ["kg|gram|1|i3", "t|kilo|1000|i1,i2", "x|unused|0|NULL"]
        )
    }

    @Test("lists a delete of the row that another device renames, and deletes it if that is taken")
    func deleted() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE unit (name TEXT PRIMARY KEY, note TEXT);
                CREATE TABLE item (id INTEGER PRIMARY KEY, unit TEXT
                    REFERENCES unit(name) ON UPDATE CASCADE ON DELETE CASCADE);
                """,
            enforcesReferences: true
        )
        try pair.desk.edit("INSERT INTO unit VALUES ('kg', 'x'); INSERT INTO item VALUES (1, 'kg')")
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try await pair.edit(
            desk: "DELETE FROM unit",
            phone: "UPDATE unit SET name = 'kilo'",
            at: 2
        )
        try pair.expectEqual("SELECT name, note FROM unit", ["kilo|x"])
        let sidecar = try Sidecar(in: pair.desk.sidecarPath)
        let listed = try #require(try sidecar.conflicts().first { $0.kind == "renamed" })
        #expect(listed.title == "kilo" && listed.column == nil)
        let date = pair.start + 180
        #expect(try sidecar.takeConflict(listed.number, at: date, program: "test 1") == .taken)
        try sidecar.close()
        try await pair.exchange(pair.desk, pair.phone, at: 4)
        try pair.expectEqual("SELECT name FROM unit", [])
    }

    @Test("lists the edit that loses to a later one of the renamed row")
    func renamedConflict() async throws {
        let pair = try DevicePair(schema: Self.units, enforcesReferences: true)
        try pair.desk.edit(Self.unitRows)
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.phone.edit("UPDATE unit SET note = 'phone' WHERE name = 'kg'")
        try pair.desk.edit("UPDATE unit SET name = 'K', note = 'desk' WHERE name = 'kg'")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        let lists = try [pair.desk.conflicts, pair.phone.conflicts]
        #expect(Set(lists) == [[], ["edited"]])
        let winner = lists[0].isEmpty ? "desk" : "phone"
        try pair.expectEqual("SELECT note FROM unit WHERE name = 'K'", [winner])
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test("asks nobody if most rows are renamed")
    func mostRenamed() async throws {
        let values = (1...30).map { "('u\($0)', 'note \($0)', \($0))" }.joined(separator: ", ")
        try await expect(
            Self.units,
            "INSERT INTO unit VALUES \(values); INSERT INTO item SELECT NULL, 'i', name FROM unit",
            desk: "UPDATE unit SET name = upper(name)",
            phone: "INSERT INTO item (name, unit) VALUES ('j', 'u7')",
            "SELECT count(DISTINCT unit), count(*) FILTER (WHERE unit = 'U7') FROM item",
            ["30|2"]
        )
    }

    @Test("takes rows of others along if only its case changes")
    func renamedCase() async throws {
        let schema = Self.units.replacing(
            "name TEXT PRIMARY",
            with: "name TEXT COLLATE NOCASE PRIMARY"
        )
        try await expect(
            schema,
            Self.unitRows,
            desk: "UPDATE unit SET name = 'KG' WHERE name = 'kg'",
            phone:
                "INSERT INTO item (name, unit) VALUES ('i4', 'kg'); UPDATE unit SET factor = 9 WHERE name = 'kg'",
            "SELECT u.name, factor, (SELECT count(*) FROM item WHERE u.name = unit) FROM unit u ORDER BY 1",
            ["g|1|1", "KG|9|3", "x|0|0"]
        )
    }

    @Test("takes rows of others along if it has several columns")
    func composite() async throws {
        try await expect(
            """
            CREATE TABLE doc (customer INTEGER, number INTEGER, note TEXT, PRIMARY KEY (customer, number));
            CREATE TABLE line (customer INTEGER, number INTEGER, place INTEGER, name TEXT,
                PRIMARY KEY (customer, number, place),
                FOREIGN KEY (customer, number) REFERENCES doc ON UPDATE CASCADE ON DELETE CASCADE) WITHOUT ROWID;
            """,
            """
            INSERT INTO doc VALUES (1, 1, 'x'), (1, 2, 'y'); INSERT INTO line VALUES (1, 1, 1, 's'), (1, 2, 1, 't')
            """,
            desk: "UPDATE doc SET number = 7 WHERE number = 2",
            phone: "INSERT INTO line VALUES (1, 2, 2, 'u')",
            "SELECT * FROM line ORDER BY 2, 3",
            ["1|1|1|s", "1|7|1|t", "1|7|2|u"]
        )
    }

    @Test("does not take rows of others along if the row was deleted, and another one made")
    func unlike() async throws {
        let pair = try await expect(
            Self.units,
            Self.unitRows,
            desk: "DELETE FROM unit WHERE name = 'x'; INSERT INTO unit VALUES ('new', 'other', 3)",
            phone: "INSERT INTO item (name, unit) VALUES ('i4', 'x')",
            Self.unitContent,
            ["g|gram|1|i3", "kg|kilo|1000|i1,i2", "new|other|3|NULL"],
            isQuiet: false
        )
        for device in [pair.desk, pair.phone] {
            #expect(try device.unshown.map(\.title) == ["i4"])
        }
    }
}
