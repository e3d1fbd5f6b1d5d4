import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("Two devices, one folder")
struct TwoDevicesTests {
    static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount REAL DEFAULT 1,
            list_id INTEGER REFERENCES list(id) ON DELETE CASCADE);
        CREATE TABLE unit (name TEXT PRIMARY KEY COLLATE NOCASE, factor REAL);
        """

    let pair: DevicePair

    init() throws {
        pair = try DevicePair(schema: Self.schema)
    }

    private var desk: Device { pair.desk }
    private var phone: Device { pair.phone }
    private var start: Date { pair.start }

    private static let items = """
        SELECT i.name, i.amount, l.name FROM item i LEFT JOIN list l ON l.id = i.list_id ORDER BY 1, 2, 3
        """

    @Test("end with the same rows, whoever made them and whatever their keys")
    func rows() async throws {
        try desk.edit(
            """
            INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (1, 'milk', 2, 1), (2, 'tea', 1, 1);
            INSERT INTO unit VALUES ('kg', 1000)
            """
        )
        try phone.edit(
            "INSERT INTO list VALUES (1, 'office'); INSERT INTO item VALUES (1, 'pens', 5, 1)"
        )
        try await desk.enable(at: start)
        try await pair.exchange(desk, at: 0)
        try await phone.enable(at: start)
        try await pair.exchange(phone, desk, phone, at: 1)
        let expected = ["milk|2.0|home", "pens|5.0|office", "tea|1.0|home"]
        #expect(try desk.rows(Self.items) == expected)
        #expect(try phone.rows(Self.items) == expected)
        #expect(try phone.rows("SELECT * FROM unit") == ["kg|1000.0"])
        // Columns of one row, edited on both, both stay; of one cell the later edit wins.
        try desk.edit("UPDATE item SET amount = 3 WHERE name = 'milk'")
        try phone.edit("UPDATE item SET name = 'oat milk' WHERE name = 'milk'")
        try await pair.exchange(desk, phone, desk, at: 2)
        #expect(try desk.rows(Self.items).contains("oat milk|3.0|home"))
        #expect(try phone.rows(Self.items) == desk.rows(Self.items))
        try phone.edit("DELETE FROM list WHERE name = 'home'")
        try await pair.exchange(phone, desk, at: 3)
        #expect(try desk.rows(Self.items) == ["pens|5.0|office"])
        #expect(try phone.rows(Self.items) == desk.rows(Self.items))
        // Then nothing more is said.
        let outcome = try await desk.sync(at: start + 600)
        #expect(outcome.isQuiet)
    }

    @Test("let the last edit of a cell win, though its device was not the last to send")
    func lastEdit() async throws {
        // Later than any file here was written.
        let start = Date() + 3_600
        func sync(_ device: Device, at minutes: Double) async throws {
            try await device.sync(at: start + minutes * 60)
        }
        func edit(_ device: Device, _ amount: Int, at minutes: Double) throws {
            try device.edit("UPDATE item SET amount = \(amount)")
            try FileManager.default.setAttributes(
                [.modificationDate: start + minutes * 60],
                ofItemAtPath: device.storePath.string
            )
        }
        try desk.edit("INSERT INTO item (name) VALUES ('milk')")
        for device in [desk, phone] { try await device.enable(at: start) }
        for device in [desk, phone] { try await sync(device, at: 1) }
        try edit(desk, 3, at: 10)
        try edit(phone, 4, at: 15)
        try await sync(phone, at: 16)
        try await sync(desk, at: 20)
        try await sync(phone, at: 21)
        for device in [desk, phone] {
            #expect(try device.rows("SELECT amount FROM item") == ["4.0"])
        }
        #expect(try desk.conflicts == ["edited"])
    }

    @Test("keep a row that is like another though it came while they began")
    func interruptedSeed() async throws {
        try desk.edit("INSERT INTO list VALUES (1, 'home')")
        try await desk.enable(at: start)
        desk.options.passed = { if $0 == .tidied { throw Killed() } }
        await #expect(throws: Killed.self) { try await desk.sync(at: start) }
        desk.options.passed = { _ in }
        try desk.edit("INSERT INTO list VALUES (2, 'home')")
        try await phone.enable(at: start)
        try await pair.exchange(desk, phone, at: 1)
        #expect(try phone.rows("SELECT name FROM list") == ["home", "home"])
        try desk.edit("UPDATE list SET name = 'work' WHERE id = 2")
        try await pair.exchange(desk, phone, at: 2)
        #expect(try phone.rows("SELECT name FROM list ORDER BY name") == ["home", "work"])
    }

    @Test("show what an update of the application brings a column for, though nobody edits")
    func newColumn() async throws {
        try desk.edit("INSERT INTO list VALUES (1, 'home'); ALTER TABLE list ADD COLUMN note TEXT")
        try desk.edit("UPDATE list SET note = 'blue'")
        try await desk.enable(at: start)
        try await pair.exchange(desk, at: 0)
        try await phone.enable(at: start)
        try await pair.exchange(phone, at: 1)
        try phone.edit("ALTER TABLE list ADD COLUMN note TEXT")
        try await pair.exchange(phone, at: 2)
        #expect(try phone.rows("SELECT name, note FROM list") == ["home|blue"])
        #expect(try await phone.sync(at: start + 600).isQuiet)
    }

    @Test("send nothing of a value that a column of another type keeps in another way")
    func otherTypes() async throws {
        try phone.edit(
            "DROP TABLE unit; CREATE TABLE unit (name TEXT PRIMARY KEY COLLATE NOCASE, factor TEXT)"
        )
        try desk.edit("INSERT INTO unit VALUES ('kg', 1000)")
        for device in [desk, phone] { try await device.enable(at: start) }
        try await pair.exchange(desk, phone, desk, at: 1)
        #expect(try phone.rows("SELECT typeof(factor), factor FROM unit") == ["text|1000.0"])
        try phone.edit("INSERT INTO list VALUES (1, 'home'); UPDATE unit SET factor = factor")
        #expect(try await phone.sync(at: start + 120).sentChanges == 1)
        try await pair.exchange(desk, at: 3)
        #expect(try desk.rows("SELECT typeof(factor), factor FROM unit") == ["real|1000.0"])
    }

    @Test("that begin with the same default rows have one set of them")
    func defaults() async throws {
        let rows = """
            INSERT INTO list VALUES (1, 'home'), (2, 'work');
            INSERT INTO item (name, list_id) VALUES ('milk', 1), ('milk', 1), ('tea', 2)
            """
        try desk.edit(rows)
        try phone.edit(rows)
        try await desk.enable(at: start)
        try await phone.enable(at: start)
        try await pair.exchange(desk, phone, desk, phone, at: 1)
        #expect(try desk.rows(Self.items) == ["milk|1.0|home", "milk|1.0|home", "tea|1.0|work"])
        #expect(try phone.rows(Self.items) == desk.rows(Self.items))
    }

    @Test(
        "keep the rows that belong to the newest row, though an edit changed all of its values",
        arguments: [
            ("'', NULL, 5", "'title', 'body', 9"), ("'one', 'two', 5", "'title', 'body', 9"),
        ]
    )
    func wholeEdit(old: String, new: String) async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT, at INTEGER);
                CREATE TABLE photo (id INTEGER PRIMARY KEY, name TEXT,
                    note_id INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE);
                """
        )
        let (desk, phone) = (pair.desk, pair.phone)
        try desk.edit("INSERT INTO note VALUES (4, \(old)); INSERT INTO photo VALUES (1, 'p', 4)")
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, at: 1)
        try desk.edit("UPDATE note SET (title, body, at) = (\(new))")
        try await pair.exchange(desk, phone, desk, at: 2)
        let photos = "SELECT p.name, n.title, n.at FROM photo p JOIN note n ON n.id = p.note_id"
        try pair.expectEqual(photos, ["p|title|9"])
    }

    @Test("have a row again that was deleted and put back, though it had the highest number")
    func putBack() async throws {
        let rows = "INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (1, 'milk', 2, 1)"
        try desk.edit(rows)
        for device in [desk, phone] { try await device.enable(at: start) }
        try await pair.exchange(desk, phone, at: 1)
        try desk.edit("DELETE FROM item; DELETE FROM list")
        try await pair.exchange(desk, at: 2)
        try phone.edit("INSERT INTO item (name, list_id) VALUES ('tea', 1)")
        try desk.edit(rows)
        try await pair.exchange(phone, desk, phone, at: 3)
        try pair.expectEqual(Self.items, ["milk|2.0|home", "tea|1.0|home"])
        // Another row at that number is another one.
        try desk.edit("DELETE FROM item WHERE name = 'tea'")
        try await pair.exchange(desk, phone, at: 4)
        try desk.edit("INSERT INTO item (name) VALUES ('salt')")
        try await pair.exchange(desk, phone, at: 5)
        try pair.expectEqual(Self.items, ["milk|2.0|home", "salt|1.0|NULL"])
    }

    @Test("have rows whose keys pass on the number of a row, each device its own")
    func passedOn() async throws {
        let cascade = "ON UPDATE CASCADE ON DELETE CASCADE"
        let pair = try DevicePair(
            schema: """
                CREATE TABLE doc (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE line (doc INTEGER REFERENCES doc(id) \(cascade), place INTEGER, text TEXT,
                    PRIMARY KEY (doc, place));
                CREATE TABLE mark (doc INTEGER, place INTEGER, tag TEXT, PRIMARY KEY (doc, place, tag),
                    FOREIGN KEY (doc, place) REFERENCES line(doc, place) \(cascade)) WITHOUT ROWID;
                CREATE TABLE use (id INTEGER PRIMARY KEY, doc INTEGER, place INTEGER, tag TEXT, name TEXT,
                    FOREIGN KEY (doc, place, tag) REFERENCES mark ON UPDATE CASCADE ON DELETE SET NULL);
                """,
            enforcesReferences: true
        )
        for device in [pair.desk, pair.phone] {
            try device.edit(
                """
                INSERT INTO doc VALUES (1, '\(device.name)'); INSERT INTO line VALUES (1, 1, 'l');
                INSERT INTO mark VALUES (1, 1, 'red'); INSERT INTO use VALUES (1, 1, 1, 'red', 'u')
                """
            )
            try await device.enable(at: pair.start)
        }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 1)
        let content = """
            SELECT d.name, m.tag, u.name FROM doc d JOIN mark m ON m.doc = d.id
                LEFT JOIN use u ON u.doc = m.doc AND u.place = m.place AND u.tag = m.tag ORDER BY 1, 2
            """
        let (one, other) = (pair.desk.name, pair.phone.name)
        try pair.expectEqual(content, ["\(one)|red|u", "\(other)|red|u"])
        try pair.desk.edit("UPDATE doc SET id = 9 WHERE name = '\(one)'")
        try pair.phone.edit("INSERT INTO mark SELECT id, 1, 'new' FROM doc WHERE name = '\(one)'")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        try pair.expectEqual(
            content,
            ["\(one)|new|NULL", "\(one)|red|u", "\(other)|red|u"]
        )
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test(
        "have rows that refer to a key that is a reference itself",
        arguments: ["k INT PRIMARY KEY", "id INTEGER PRIMARY KEY, k INTEGER UNIQUE"]
    )
    func passedOnAlone(_ key: String) async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE step (\(key) REFERENCES person(id), name TEXT);
                CREATE TABLE list (id INTEGER PRIMARY KEY, r INT NOT NULL REFERENCES step(k), name TEXT);
                """
        )
        for device in [pair.desk, pair.phone] {
            try device.edit(
                """
                INSERT INTO person VALUES (1, '\(device.name) 1'), (2, '\(device.name) 2');
                INSERT INTO step (k, name) VALUES (2, 's2'); INSERT INTO list VALUES (1, 2, 'l')
                """
            )
            try await device.enable(at: pair.start)
            try device.edit(
                "UPDATE list SET name = 'm'; INSERT INTO step (k, name) VALUES (1, 's1')"
            )
            try device.edit("INSERT INTO list VALUES (9, 1, 'n')")
        }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 1)
        let (one, other) = (pair.desk.name, pair.phone.name)
        try pair.expectEqual(
            "SELECT p.name, s.name, l.name FROM list l JOIN step s ON s.k = r JOIN person p ON p.id = r ORDER BY 1",
            [one, other].flatMap { ["\($0) 1|s1|n", "\($0) 2|s2|m"] }
        )
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }

    @Test("say how many rows stay at home, since their key is NULL")
    func nameless() async throws {
        let pair = try DevicePair(schema: "CREATE TABLE s (k TEXT PRIMARY KEY, v TEXT)")
        try pair.desk.edit("INSERT INTO s VALUES ('a', '1'), (NULL, '2'), (NULL, '3')")
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        for (device, count) in [(pair.desk, 2), (pair.phone, 0)] as [(Device, Int64)] {
            let sidecar = try Sidecar(in: device.sidecarPath)
            defer { try? sidecar.close() }
            #expect(try SyncOverview(of: sidecar).tables.map(\.nameless) == [count])
        }
    }

    @Test("have one row of a table that keeps only one, by its number; what lost is listed")
    func singleRow() async throws {
        for (device, theme) in [(desk, "dark"), (phone, "light")] {
            try device.edit(
                """
                CREATE TABLE setting (id INTEGER PRIMARY KEY CHECK (id = 1), theme TEXT NOT NULL);
                CREATE TABLE note (id INTEGER PRIMARY KEY CHECK (id > 0), text TEXT NOT NULL);
                INSERT INTO setting VALUES (1, '\(theme)'); INSERT INTO note VALUES (1, '\(theme)')
                """
            )
            try await device.enable(at: start)
            try await pair.exchange(device, at: 0)
        }
        try await pair.exchange(desk, phone, at: 1)
        for device in [desk, phone] {
            // The phone joins, and takes what the group has.
            #expect(try device.rows("SELECT * FROM setting") == ["1|dark"])
            // Other numbers are each store's own.
            #expect(try device.rows("SELECT text FROM note ORDER BY 1") == ["dark", "light"])
        }
        #expect(try desk.conflicts == [] && phone.conflicts == ["seed"])
        try phone.edit("UPDATE setting SET theme = 'blue'")
        try await pair.exchange(phone, desk, at: 2)
        #expect(try desk.rows("SELECT * FROM setting") == ["1|blue"])
    }

    @Test("keep the group's values of each row that a joining store has too; what it had is listed")
    func joining() async throws {
        for (device, values) in [(desk, "'dark', 'serif'"), (phone, "'light', 'mono'")] {
            try device.edit(
                """
                CREATE TABLE kv (k TEXT PRIMARY KEY, theme TEXT, font TEXT);
                INSERT INTO kv VALUES ('ui', \(values)), ('\(device.name)', 'a', 'b')
                """
            )
            try await device.enable(at: start)
            try await pair.exchange(device, at: 0)
        }
        try await pair.exchange(desk, phone, at: 1)
        let rows = ["desk|a|b", "phone|a|b", "ui|dark|serif"]
        try pair.expectEqual("SELECT * FROM kv ORDER BY 1", rows)
        #expect(try desk.conflicts == [] && phone.conflicts == ["seed", "seed"])
    }

    @Test("list what a store loses that takes part again after it was edited elsewhere")
    func joinedAgain() async throws {
        try desk.edit("INSERT INTO unit VALUES ('kg', 1000)")
        for device in [desk, phone] {
            try await device.enable(at: start)
            try await pair.exchange(device, at: 0)
        }
        try desk.edit("UPDATE unit SET factor = 1001")
        try await pair.exchange(desk, phone, at: 1)
        // The phone leaves, goes on alone, and joins again.
        try LocalFileSystem().remove(phone.sidecarPath)
        try phone.edit("UPDATE unit SET factor = 999")
        try await phone.enable(at: start + 120)
        try await pair.exchange(phone, desk, at: 3)
        for device in [desk, phone] {
            #expect(try device.rows("SELECT * FROM unit") == ["kg|1001.0"])
        }
        #expect(try phone.conflicts == ["seed"])
    }
}
