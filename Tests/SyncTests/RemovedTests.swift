import Changes
import Foundation
import Testing

@testable import Sync

@Suite("What sync takes out of a store")
struct RemovedTests {
    private static let lists = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, note TEXT,
            list_id INTEGER NOT NULL REFERENCES list(id) ON DELETE CASCADE);
        CREATE TABLE pin (id INTEGER PRIMARY KEY, name TEXT, list_id INTEGER REFERENCES list(id),
            place INTEGER NOT NULL DEFAULT 0 REFERENCES list(id));
        """

    /// Begins with a list and an item that both devices have.
    private func begin(
        _ schema: String = lists,
        _ sql: String...,
        enforcing: Bool = false
    ) async throws -> DevicePair {
        let pair = try DevicePair(schema: schema, enforcesReferences: enforcing)
        for sql in sql { try pair.desk.edit(sql) }
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        return pair
    }

    @Test("has an entry for an edit that had arrived, if its row is deleted before it was shown")
    func unseen() async throws {
        let pair = try await begin(
            Self.lists,
            "INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (1, 'milk', 'two', 1), (2, 'tea', '', 1)"
        )
        try pair.desk.edit("UPDATE item SET note = 'three' WHERE id = 1")
        try await pair.exchange(pair.desk, at: 2)
        pair.phone.options.passed = { if $0 == .planned { throw CancellationError() } }
        await #expect(throws: CancellationError.self) {
            try await pair.phone.sync(at: pair.start + 180)
        }
        pair.phone.options.passed = { _ in }
        try pair.phone.edit("DELETE FROM item")
        try await pair.exchange(pair.phone, pair.desk, at: 4)
        #expect(try pair.phone.conflicts == ["deleted"])
        let sidecar = try Sidecar(in: pair.phone.sidecarPath)
        let entry = try #require(try sidecar.conflicts().first)
        try sidecar.close()
        #expect(try take(entry.number, on: pair.phone, at: pair.start + 300) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 6)
        try pair.expectEqual("SELECT name, note FROM item", ["milk|three"])
    }

    private func take(
        _ number: Int64,
        _ setting: [String: String] = [:],
        on device: Device,
        at date: Date
    ) throws -> TakenConflict {
        let sidecar = try Sidecar(in: device.sidecarPath)
        defer { try? sidecar.close() }
        return try sidecar.takeConflict(number, setting: setting, at: date, program: "test 1")
    }

    private func removed(_ device: Device) throws -> [SyncConflict] {
        let sidecar = try Sidecar(in: device.sidecarPath)
        defer { try? sidecar.close() }
        return try sidecar.conflicts(all: true)
    }

    @Test("comes back although it became one with the row of its identity")
    func sameIdentity() async throws {
        let pair = try DevicePair(
            schema: "CREATE TABLE k (id INTEGER PRIMARY KEY, day TEXT, v TEXT, n INTEGER)"
        )
        try pair.desk.edit("INSERT INTO k VALUES (1, 'mon', '0', 0), (2, 'tue', 't', 1)")
        let json = #"{"tables": {"k": {"identity": ["day"]}}}"#
        let map = try SyncMap(json: Array(json.utf8), name: "map")
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start, map: map) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.desk.edit("UPDATE k SET day = 'wed' WHERE day = 'tue'")
        try pair.phone.edit("INSERT INTO k (day, v, n) VALUES ('wed', 'B', 9)")
        try await pair.exchange(pair.desk, at: 2)
        try await pair.exchange(pair.phone, pair.desk, at: 2.5)
        let rows = "SELECT day, v, n FROM k ORDER BY day"
        try pair.expectEqual(rows, ["mon|0|0", "wed|t|1"])
        // Values that nobody edited stay, although the other row's are later.
        try pair.desk.edit("UPDATE k SET n = 5 WHERE day = 'wed'")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 3)
        try pair.expectEqual(rows, ["mon|0|0", "wed|t|5"])
        let listed = try #require(try removed(pair.phone).first { $0.kind == "yielded" })
        #expect(listed.fate?.hasPrefix("is one with another row") == true)
        let date = pair.start + 240
        #expect(try take(listed.number, on: pair.phone, at: date) == .lacksValue)
        #expect(try take(listed.number, ["day": "fri"], on: pair.phone, at: date) == .taken)
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 5)
        try pair.expectEqual(rows, ["fri|B|9", "mon|0|0", "wed|t|5"])
    }

    @Test("is not taken back by half if this device deleted the row itself")
    func halfOfRow() async throws {
        let pair = try await begin(Self.lists, "INSERT INTO list VALUES (1, 'food'), (2, 'old')")
        try pair.desk.edit("UPDATE list SET name = 'desk' WHERE id = 2")
        try pair.phone.edit("UPDATE list SET name = 'phone' WHERE id = 2")
        try await pair.exchange(pair.desk, at: 2)
        try await pair.exchange(pair.phone, pair.desk, at: 2.5)
        try pair.desk.edit("DELETE FROM list WHERE id = 2")
        try await pair.exchange(pair.desk, pair.phone, at: 3)
        let lost = try #require(try removed(pair.desk).first { $0.kind == "edited" })
        #expect(try take(lost.number, on: pair.desk, at: pair.start + 240) == .deletedHere)
        try await pair.exchange(pair.desk, pair.phone, at: 5)
        try pair.expectEqual("SELECT name FROM list", ["food"])
    }

    @Test("is kept with its values, and comes back with the rows that it belongs to")
    func deleted() async throws {
        let pair = try await begin(
            Self.lists,
            "INSERT INTO list VALUES (1, 'food'); INSERT INTO item VALUES (1, 'milk', 'x', 1)",
            enforcing: true
        )
        try pair.desk.edit("DELETE FROM list")
        try pair.phone.edit("INSERT INTO item (name, note, list_id) VALUES ('essay', 'an hour', 1)")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        try pair.expectEqual("SELECT name FROM item", [])
        let all = try removed(pair.phone)
        #expect(Set(all.map(\.kind)) == ["deleted", "hidden"] && all.count == 3)
        let hidden = try #require(try pair.phone.unshown.first)
        #expect(hidden.title == "essay" && hidden.why == "parent")
        // The device that has never shown the row lists it as well, with its values under a number.
        let strange = try pair.desk.unshown
        #expect(strange.map(\.title) == ["essay"])
        let desk = try Sidecar(in: pair.desk.sidecarPath)
        let shown = try desk.removedValues(try #require(strange.first?.number))
        #expect(shown?.contains { $0 == ("note", "an hour") } == true)
        try desk.close()
        let milk = try #require(all.first { $0.title == "milk" })
        let sidecar = try Sidecar(in: pair.phone.sidecarPath)
        let values = try #require(try sidecar.removedValues(milk.number))
        #expect(values.contains { $0 == ("note", "x") })
        #expect(try sidecar.removedValues(99) == nil)
        try sidecar.close()
        #expect(try take(milk.number, on: pair.phone, at: pair.start + 180) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 4)
        let items =
            "SELECT i.name, i.note, l.name FROM item i JOIN list l ON l.id = i.list_id ORDER BY 1"
        try pair.expectEqual(items, ["essay|an hour|food", "milk|x|food"])
        #expect(try pair.phone.unshown.isEmpty && pair.desk.unshown.isEmpty)
    }

    @Test("is a reference, too: it is listed wherever it is empty, and comes back with its row")
    func emptied() async throws {
        let pair = try await begin(
            Self.lists,
            "INSERT INTO list VALUES (1, 'food'); INSERT INTO pin (id, name) VALUES (1, 'p')"
        )
        try pair.desk.edit("DELETE FROM list")
        try pair.phone.edit("UPDATE pin SET list_id = 1, place = 1")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        try pair.expectEqual("SELECT list_id, place FROM pin", ["NULL|0"])
        for device in [pair.desk, pair.phone] {
            #expect(try Set(device.unshown.map(\.column)) == ["list_id", "place"])
        }
        let entry = try #require(try pair.phone.unshown.first { $0.column == "place" })
        let number = try #require(entry.number)
        #expect(try take(number, on: pair.phone, at: pair.start + 180) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 4)
        try pair.expectEqual("SELECT list_id, place FROM pin", ["1|1"])
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test("does not come back where its parent was deleted, and says which other row it needs")
    func deletedHere() async throws {
        let pair = try await begin(Self.lists, "INSERT INTO list VALUES (1, 'food')")
        try pair.desk.edit("DELETE FROM list WHERE id = 1")
        try pair.phone.edit("INSERT INTO item VALUES (1, 'milk', 'x', 1)")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        let now = pair.start + 180
        let here = try #require(try pair.desk.unshown.first?.number)
        #expect(try take(here, on: pair.desk, at: now) == .noParent(column: "list_id"))
        let there = try #require(try pair.phone.unshown.first?.number)
        #expect(try take(there, on: pair.phone, at: now) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 4)
        try pair.expectEqual(
            "SELECT l.name, i.name FROM item i JOIN list l ON l.id = list_id",
            ["food|milk"]
        )
    }

    @Test("comes back to a row that is named by its number here, and is the same row everywhere")
    func setReference() async throws {
        let pair = try await begin(Self.lists, "INSERT INTO list VALUES (1, 'food')")
        try pair.desk.edit("INSERT INTO list VALUES (2, 'desk')")
        try pair.phone.edit("INSERT INTO list VALUES (2, 'phone')")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        try pair.desk.edit("DELETE FROM list WHERE id = 1")
        try pair.phone.edit("INSERT INTO item VALUES (1, 'milk', 'x', 1)")
        try await pair.exchange(pair.desk, pair.phone, at: 3)
        let number = try #require(try pair.phone.unshown.first?.number)
        let now = pair.start + 240
        #expect(try take(number, ["list_id": "99"], on: pair.phone, at: now) == .noRow)
        #expect(try take(number, ["list": "2"], on: pair.phone, at: now) == .noColumn)
        let list = try #require(
            try pair.phone.rows("SELECT id FROM list WHERE name = 'phone'").first
        )
        #expect(try take(number, ["list_id": list], on: pair.phone, at: now) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 5)
        // The two devices have the lists at each other's numbers.
        #expect(try pair.desk.rows("SELECT id FROM list WHERE name = 'phone'") != [list])
        let lists = "SELECT l.name FROM item i JOIN list l ON l.id = i.list_id"
        try pair.expectEqual(lists, ["phone"])
    }

    @Test(
        "is the later one of two moves that make a ring, also if rows are named by values",
        arguments: [
            ("parent TEXT REFERENCES g(uuid)", "NULL"),
            ("parent TEXT NOT NULL DEFAULT 'root' REFERENCES g(uuid)", "root"),
        ]
    )
    func ring(column: String, cut: String) async throws {
        let pair = try await begin(
            "CREATE TABLE g (uuid TEXT PRIMARY KEY, \(column))",
            "INSERT INTO g VALUES ('root', 'root'), ('a', 'root'), ('b', 'root')"
        )
        try pair.desk.edit("UPDATE g SET parent = 'b' WHERE uuid = 'a'")
        try pair.phone.edit("UPDATE g SET parent = 'a' WHERE uuid = 'b'")
        try await pair.exchange(pair.desk, at: 2)
        try await pair.exchange(pair.phone, pair.desk, at: 3)
        try pair.expectEqual(
            "SELECT uuid, parent FROM g ORDER BY 1",
            ["a|b", "b|\(cut)", "root|root"]
        )
        for device in [pair.desk, pair.phone] {
            #expect(try device.unshown.map(\.column) == ["parent"])
            #expect(try device.unshown.map(\.isInRing) == [true])
        }
        let number = try #require(try pair.phone.unshown.first?.number)
        #expect(try take(number, on: pair.phone, at: pair.start + 240) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 5)
        try pair.expectEqual(
            "SELECT uuid, parent FROM g ORDER BY 1",
            ["a|\(cut)", "b|a", "root|root"]
        )
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test("comes back to its place in a ring of numbers, and another row of the ring leaves it")
    func numberedRing() async throws {
        let pair = try await begin(
            "CREATE TABLE f (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES f(id))",
            "INSERT INTO f VALUES (1, 'a', NULL), (2, 'b', NULL), (3, 'c', 2)"
        )
        try pair.desk.edit("UPDATE f SET parent = 3 WHERE name = 'a'")
        try pair.phone.edit("UPDATE f SET parent = 1 WHERE name = 'b'")
        try await pair.exchange(pair.desk, at: 2)
        try await pair.exchange(pair.phone, pair.desk, at: 3)
        let tree = "SELECT f.name, p.name FROM f LEFT JOIN f p ON p.id = f.parent ORDER BY 1"
        try pair.expectEqual(tree, ["a|c", "b|NULL", "c|b"])
        let listed = try #require(try pair.phone.unshown.first)
        #expect(listed.isInRing && listed.reason.contains("moves on several devices"))
        let number = try #require(listed.number)
        #expect(try take(number, on: pair.phone, at: pair.start + 240) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 5)
        try pair.expectEqual(tree, ["a|c", "b|a", "c|NULL"])
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test(
        "comes back to its place in a ring of rows that must have a parent",
        arguments: [("", 1), ("", 0), ("DEFAULT 1", 1)]
    )
    func requiredParent(rule: String, root: Int) async throws {
        let pair = try await begin(
            """
            CREATE TABLE f (id INTEGER PRIMARY KEY, name TEXT,
                parent INTEGER NOT NULL \(rule) REFERENCES f(id), UNIQUE (parent, name))
            """,
            "INSERT INTO f VALUES (1, 'root', \(root)), (2, 'a', 1), (3, 'b', 1)"
        )
        try pair.desk.edit("UPDATE f SET parent = 3 WHERE name = 'a'")
        try pair.phone.edit("UPDATE f SET parent = 2 WHERE name = 'b'")
        try await pair.exchange(pair.desk, at: 2)
        try await pair.exchange(pair.phone, pair.desk, at: 3)
        let tree = "SELECT name, parent FROM f ORDER BY id"
        try pair.expectEqual(tree, ["root|\(root)", "a|3", "b|3"])
        for device in [pair.desk, pair.phone] {
            #expect(try device.unshown.map(\.isInRing) == [true])
        }
        // An edit of another column that travels with the reference is no move.
        try pair.desk.edit("UPDATE f SET name = 'c' WHERE name = 'b'")
        try pair.phone.edit("UPDATE f SET name = 'A' WHERE name = 'a'")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 4)
        let number = try #require(try pair.desk.unshown.first?.number)
        #expect(try take(number, on: pair.desk, at: pair.start + 300) == .taken)
        try await pair.exchange(pair.desk, pair.phone, at: 6)
        let place = root == 0 ? 0 : 2
        try pair.expectEqual(tree, ["root|\(root)", "A|\(place)", "c|2"])
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test("keeps a number after it was taken, until it is shown")
    func takenAgain() async throws {
        let pair = try await begin(
            "CREATE TABLE u (id INTEGER PRIMARY KEY, c TEXT UNIQUE)",
            "INSERT INTO u VALUES (1, 'c')"
        )
        try pair.desk.edit("DELETE FROM u")
        try await pair.exchange(pair.desk, at: 2)
        try pair.desk.edit("INSERT INTO u VALUES (2, 'c')")
        try await pair.exchange(pair.desk, pair.phone, at: 2.5)
        let number = try #require(try removed(pair.phone).first { $0.kind == "deleted" }?.number)
        #expect(try take(number, on: pair.phone, at: pair.start + 180) == .taken)
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 4)
        for device in [pair.desk, pair.phone] {
            let waiting = try #require(try device.unshown.first)
            #expect(waiting.number != nil)
        }
        let again = try #require(try pair.desk.unshown.first?.number)
        #expect(try take(again, ["c": "d"], on: pair.desk, at: pair.start + 300) == .taken)
        try await pair.exchange(pair.desk, pair.phone, at: 6)
        try pair.expectEqual("SELECT c FROM u ORDER BY 1", ["c", "d"])
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test("is nothing of a ring that the default of a reference would not open")
    func closedRing() async throws {
        let pair = try await begin(
            "CREATE TABLE g (uuid TEXT PRIMARY KEY, parent TEXT NOT NULL DEFAULT 'a' REFERENCES g(uuid))",
            "INSERT INTO g VALUES ('a', 'a'), ('b', 'a'), ('c', 'a')"
        )
        try pair.desk.edit("UPDATE g SET parent = 'b' WHERE uuid = 'a'")
        try pair.phone.edit("UPDATE g SET parent = 'c' WHERE uuid = 'b'")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        let rows = try pair.desk.rows("SELECT uuid, parent FROM g ORDER BY 1")
        #expect(rows.count == 3)
        try pair.expectEqual("SELECT uuid, parent FROM g ORDER BY 1", rows)
    }

    @Test("is a value that another device's edit replaced")
    func replaced() async throws {
        let pair = try await begin(Self.lists, "INSERT INTO list VALUES (1, 'food')")
        try pair.phone.edit("UPDATE list SET name = 'foods'")
        try await pair.exchange(pair.phone, pair.desk, at: 2)
        let entry = try #require(try removed(pair.desk).first)
        #expect(entry.lost == "food" && entry.won == "foods" && entry.kind == "edited")
        #expect(try pair.desk.conflicts.isEmpty && removed(pair.phone).isEmpty)
        #expect(try take(entry.number, on: pair.desk, at: pair.start + 180) == .taken)
        try await pair.exchange(pair.desk, pair.phone, at: 4)
        try pair.expectEqual("SELECT name FROM list", ["food"])
    }

    private static let steps = """
        CREATE TABLE step (id INTEGER PRIMARY KEY, recipe INT, position INT NOT NULL, txt TEXT,
            UNIQUE (recipe, position))
        """

    @Test(
        "yields to a row with the same key, and comes back once the key is free",
        arguments: [
            "DELETE FROM step WHERE txt = 'desk'",
            "UPDATE step SET position = 2 WHERE txt = 'desk'",
        ]
    )
    func yields(_ freeing: String) async throws {
        let pair = try await begin(Self.steps)
        try pair.desk.edit("INSERT INTO step (recipe, position, txt) VALUES (1, 1, 'desk')")
        try await pair.exchange(pair.desk, at: 2)
        try pair.phone.edit("INSERT INTO step (recipe, position, txt) VALUES (1, 1, 'phone')")
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 3)
        try pair.expectEqual("SELECT txt FROM step", ["desk"])
        for device in [pair.desk, pair.phone] {
            #expect(try device.unshown.map(\.why) == ["yields"])
        }
        try pair.desk.edit(freeing)
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 4)
        let rows = try pair.desk.rows("SELECT txt FROM step WHERE position = 1")
        #expect(rows == ["phone"])
        #expect(try pair.phone.rows("SELECT txt FROM step WHERE position = 1") == rows)
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test("is a row below one that yields: nobody deleted it, and the row above comes back first")
    func belowYielding() async throws {
        let pair = try await begin(
            """
            CREATE TABLE box (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT);
            CREATE TABLE part (id INTEGER PRIMARY KEY, name TEXT,
                box_id INTEGER NOT NULL REFERENCES box(id) ON DELETE CASCADE)
            """
        )
        try pair.desk.edit("INSERT INTO box (code, name) VALUES ('x', 'desk')")
        try await pair.exchange(pair.desk, at: 2)
        try pair.phone.edit(
            """
            INSERT INTO box (code, name) VALUES ('x', 'phone');
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
            INSERT INTO part (name, box_id) SELECT 'part ' || i, 1 FROM n
            """
        )
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 3)
        try pair.expectEqual("SELECT name FROM box", ["desk"])
        try pair.expectEqual("SELECT count(*) FROM part", ["0"])
        let unshown = try pair.phone.unshown
        let box = try #require(unshown.first { $0.table == "box" }?.number)
        let part = try #require(unshown.first { $0.title == "part 7" }?.number)
        let later = pair.start + 240
        #expect(try take(part, on: pair.phone, at: later) == .isBelow(entry: box))
        #expect(try take(box, ["code": "y"], on: pair.phone, at: later) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 5)
        try pair.expectEqual("SELECT count(*) FROM part", ["30"])
    }

    @Test("yields to a text that NOCASE finds equal, as bytes after a NUL do not count")
    func yieldsAfterNUL() async throws {
        let pair = try await begin(
            "CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE)"
        )
        try pair.desk.edit("INSERT INTO tag (name) VALUES ('a' || char(0) || 'b')")
        try await pair.exchange(pair.desk, at: 2)
        try pair.phone.edit("INSERT INTO tag (name) VALUES ('A' || char(0) || 'c')")
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 3)
        try pair.expectEqual("SELECT hex(name) FROM tag", ["610062"])
        for device in [pair.desk, pair.phone] {
            #expect(try device.unshown.map(\.why) == ["yields"])
        }
    }

    @Test("gets another key if a person says so")
    func setsKey() async throws {
        let pair = try await begin(Self.steps)
        try pair.desk.edit("INSERT INTO step (recipe, position, txt) VALUES (1, 1, 'desk')")
        try await pair.exchange(pair.desk, at: 2)
        try pair.phone.edit("INSERT INTO step (recipe, position, txt) VALUES (1, 1, 'phone')")
        try await pair.exchange(pair.phone, pair.desk, at: 3)
        let number = try #require(try pair.phone.unshown.first?.number)
        let later = pair.start + 240
        #expect(try take(number, on: pair.phone, at: later) == .lacksValue)
        #expect(try take(number, ["place": "7"], on: pair.phone, at: later) == .noColumn)
        #expect(try take(number, ["position": "7"], on: pair.phone, at: later) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 5)
        try pair.expectEqual("SELECT position, txt FROM step ORDER BY 1", ["1|desk", "7|phone"])
    }

    @Test(
        "gets another key by the column's own name, in any case",
        arguments: ["Position", "POSITION", "Place"]
    )
    func setsKeyByOwnName(_ name: String) async throws {
        let pair = try await begin(
            "CREATE TABLE Step (id INTEGER PRIMARY KEY, Position INTEGER UNIQUE, txt TEXT)"
        )
        try pair.desk.edit("INSERT INTO step (position, txt) VALUES (1, 'desk')")
        try await pair.exchange(pair.desk, at: 2)
        try pair.phone.edit("INSERT INTO step (position, txt) VALUES (1, 'phone')")
        try await pair.exchange(pair.phone, at: 3)
        let number = try #require(try pair.phone.unshown.first?.number)
        if name == "Place" {
            try pair.phone.edit("ALTER TABLE Step RENAME COLUMN Position TO Place")
            let json = #"{"tables": {"Step": {"columns": {"Place": {"was": "Position"}}}}}"#
            try pair.phone.publish(json, at: pair.start + 200)
        }
        #expect(try take(number, [name: "7"], on: pair.phone, at: pair.start + 240) == .taken)
        try await pair.exchange(pair.phone, pair.desk, at: 5)
        let rows = try pair.desk.rows("SELECT position, txt FROM step ORDER BY 1")
        #expect(rows == ["1|desk", "7|phone"])
    }

    @Test(
        "is the last edge of a ring that two moves have made, until one of its rows moves on",
        arguments: ["", "ON DELETE CASCADE", "NOT NULL DEFAULT 0"]
    )
    func ring(_ rule: String) async throws {
        let root = rule.hasPrefix("NOT") ? "0" : "NULL"
        let column =
            rule.hasPrefix("NOT")
            ? "\(rule) REFERENCES folder(id)" : "REFERENCES folder(id) \(rule)"
        let pair = try await begin(
            "CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT, parent_id INTEGER \(column))",
            "INSERT INTO folder VALUES (1, 'root', \(root)), (2, 'work', 1), (3, 'home', 1), (4, 'self', 4)"
        )
        try pair.desk.edit("UPDATE folder SET parent_id = 3 WHERE id = 2")
        try await pair.exchange(pair.desk, at: 2)
        try pair.phone.edit("UPDATE folder SET parent_id = 2 WHERE id = 3")
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 3)
        let parents = "SELECT id, parent_id FROM folder ORDER BY 1"
        try pair.expectEqual(parents, ["1|\(root)", "2|3", "3|\(root)", "4|4"])
        for device in [pair.desk, pair.phone] {
            #expect(try device.unshown.map(\.title) == ["home"])
        }
        try pair.desk.edit("UPDATE folder SET parent_id = 1 WHERE id = 2")
        try await pair.exchange(pair.desk, pair.phone, at: 4)
        try pair.expectEqual(parents, ["1|\(root)", "2|1", "3|2", "4|4"])
    }

    @Test("is forgotten after a time, and beyond a size")
    func expiry() async throws {
        let pair = try await begin(Self.lists, "INSERT INTO list VALUES (1, 'a')")
        for (minute, name) in zip([2.0, 3, 4], ["b", "c", "d"]) {
            try pair.phone.edit("UPDATE list SET name = '\(name)'")
            try await pair.exchange(pair.phone, pair.desk, at: minute)
        }
        #expect(try removed(pair.desk).map(\.lost) == ["c", "b", "a"])
        let sidecar = try Sidecar(in: pair.desk.sidecarPath)
        var rules = UpkeepRules()
        rules.removedBytes = 14
        let (now, day) = (Int64(pair.start.timeIntervalSince1970 * 1000), rules.removedAging)
        try sidecar.write { try $0.removed.expire(rules, now: now) }
        #expect(try sidecar.conflicts(all: true).map(\.lost) == ["c", "b"])
        // A clock that was ahead for many runs forgets nothing.
        for run in 0..<40 {
            try sidecar.write { try $0.removed.expire(rules, now: now + 60 * day + Int64(run)) }
        }
        try sidecar.write { try $0.removed.expire(rules, now: now) }
        #expect(try sidecar.conflicts(all: true).map(\.lost) == ["c", "b"])
        for days in 1...31 {
            try sidecar.write { try $0.removed.expire(rules, now: now + Int64(days) * day) }
        }
        #expect(try sidecar.conflicts(all: true).isEmpty)
        try sidecar.close()
    }
}
