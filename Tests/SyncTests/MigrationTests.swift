import Changes
import Files
import Foundation
import Testing

@testable import Sync

/// What an application does to its schema is no edit of what the rows hold.
@Suite("A new schema of the application")
struct MigrationTests {
    static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, parent INTEGER);
        CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT);
        INSERT INTO list VALUES (1, 'food'), (2, 'house');
        INSERT INTO item VALUES (1, 'milk', 2, 1), (2, 'eggs', 3, 1), (3, 'soap', 9, 2);
        """

    let pair: DevicePair

    init() throws {
        pair = try DevicePair(schema: Self.schema)
    }

    private var desk: Device { pair.desk }
    private var phone: Device { pair.phone }
    private var start: Date { pair.start }

    private func begin() async throws {
        for device in [desk, phone] { try await device.enable(at: start) }
        try await pair.exchange(desk, phone, desk, at: 1)
    }

    /// Makes a table again with other columns, as applications do.
    private static func rebuild(_ table: String, _ columns: String) -> String {
        """
        CREATE TABLE rebuilt (\(columns)); INSERT INTO rebuilt SELECT * FROM \(table);
        DROP TABLE \(table); ALTER TABLE rebuilt RENAME TO \(table)
        """
    }

    @Test("that takes a default away, or has another one, changes no row")
    func otherDefaults() async throws {
        try await begin()
        for device in [desk, phone] {
            try device.edit(
                """
                ALTER TABLE item ADD COLUMN state TEXT NOT NULL DEFAULT 'open';
                ALTER TABLE item ADD COLUMN rank INTEGER NOT NULL DEFAULT 5
                """
            )
        }
        try await pair.exchange(desk, phone, desk, at: 2)
        let rebuilt = Self.rebuild(
            "item",
            """
            id INTEGER PRIMARY KEY, name TEXT, price INTEGER, parent INTEGER,
            state TEXT NOT NULL DEFAULT 'new', rank INTEGER NOT NULL
            """
        )
        let rows = ["1|open|5", "2|open|5", "3|open|5"]
        try desk.edit(rebuilt)
        try await pair.exchange(desk, phone, desk, at: 3)
        try pair.expectEqual("SELECT id, state, rank FROM item ORDER BY 1", rows)
        try phone.edit(rebuilt)
        try await pair.exchange(phone, desk, phone, at: 4)
        try pair.expectEqual("SELECT id, state, rank FROM item ORDER BY 1", rows)
        // Once is enough.
        let again = try await desk.sync(at: start + 300)
        #expect(again.sentChanges == 0)
    }

    @Test(
        "gives a column another type: that is no edit, and an edit of another device stays",
        arguments: [
            ("REAL", ["1|99.0", "2|3.0", "3|9.0"]), ("TEXT", ["1|99", "2|3", "3|9"]),
            ("", ["1|99", "2|3", "3|9"]),
        ]
    )
    func otherType(type: String, rows: [String]) async throws {
        try await begin()
        let rebuilt = Self.rebuild(
            "item",
            "id INTEGER PRIMARY KEY, name TEXT, price \(type), parent INTEGER"
        )
        try desk.edit(rebuilt)
        let first = try await desk.sync(at: start + 120)
        #expect(first.sentChanges == 0)
        try desk.edit("UPDATE item SET price = 99 WHERE id = 1")
        try await pair.exchange(desk, at: 3)
        try phone.edit(rebuilt)
        let second = try await phone.sync(at: start + 240)
        #expect(second.sentChanges == 0)
        try await pair.exchange(desk, phone, at: 5)
        try pair.expectEqual("SELECT id, price FROM item ORDER BY 1", rows)
        #expect(try desk.conflicts + phone.conflicts == [])
    }

    @Test("gives a column one type after another: all devices have what the updates made")
    func chainOfTypes() async throws {
        try await begin()
        for (device, minutes) in [(desk, 2.0), (phone, 4.0)] {
            for type in ["REAL", "TEXT"] {
                try device.edit(
                    Self.rebuild(
                        "item",
                        "id INTEGER PRIMARY KEY, name TEXT, price \(type), parent INTEGER"
                    )
                )
                try await pair.exchange(device, at: minutes)
            }
        }
        try await pair.exchange(desk, phone, at: 6)
        try pair.expectEqual("SELECT id, price FROM item ORDER BY 1", ["1|2.0", "2|3.0", "3|9.0"])
        #expect(try desk.conflicts + phone.conflicts == [])
    }

    @Test(
        "gives rows other numbers or keys, and brings a column: edits of other devices follow",
        arguments: [
            "CREATE TABLE rebuilt (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, note TEXT DEFAULT 'x');"
                + "INSERT INTO rebuilt (id, name, price) SELECT id * 3, name, price FROM item",
            "CREATE TABLE rebuilt (id TEXT PRIMARY KEY, name TEXT, price INTEGER, note TEXT DEFAULT 'x');"
                + "INSERT INTO rebuilt (id, name, price) SELECT 'key ' || name, name, price FROM item",
        ]
    )
    func otherKeys(rebuilt: String) async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER);
                INSERT INTO item VALUES (1, 'milk', 2), (2, 'eggs', 3), (3, 'soap', 9)
                """
        )
        for device in [pair.desk, pair.phone] { try await device.enable(at: start) }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 1)
        try pair.phone.edit("UPDATE item SET price = 70 WHERE name = 'eggs'")
        try pair.desk.edit("\(rebuilt); DROP TABLE item; ALTER TABLE rebuilt RENAME TO item")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        let rows = ["eggs|70", "milk|2", "soap|9"]
        try pair.expectEqual("SELECT name, price FROM item ORDER BY 1", rows)
        #expect(try pair.desk.conflicts + pair.phone.conflicts == [])
    }

    @Test("fills its columns on each device: what was edited meanwhile stays")
    func backFill() async throws {
        try await begin()
        let migration = """
            ALTER TABLE item ADD COLUMN cents INTEGER NOT NULL DEFAULT 0; UPDATE item SET cents = price * 100
            """
        try desk.edit(migration)
        try await pair.exchange(desk, at: 2)
        try desk.edit("UPDATE item SET cents = 777 WHERE id = 2")
        try await pair.exchange(desk, phone, at: 3)
        try phone.edit(migration)
        try await pair.exchange(phone, desk, phone, at: 4)
        try pair.expectEqual("SELECT id, cents FROM item ORDER BY 1", ["1|200", "2|777", "3|900"])
        #expect(try phone.conflicts == ["seed"])
    }

    @Test("brings rows that are alike on each device: they are one")
    func newDefaultRows() async throws {
        try await begin()
        let migration = """
            ALTER TABLE list ADD COLUMN color TEXT; INSERT INTO list (name, color) VALUES ('other', 'red');
            ALTER TABLE setting ADD COLUMN note TEXT; INSERT OR IGNORE INTO setting VALUES ('theme', 'light', NULL)
            """
        try desk.edit(migration)
        try await pair.exchange(desk, at: 2)
        try desk.edit("UPDATE setting SET value = 'dark'")
        try phone.edit(migration)
        try await pair.exchange(desk, phone, desk, at: 3)
        try pair.expectEqual(
            "SELECT name, color FROM list ORDER BY 1",
            ["food|NULL", "house|NULL", "other|red"]
        )
        try pair.expectEqual("SELECT * FROM setting", ["theme|dark|NULL"])
    }

    @Test("gives rows that are alike, and new numbers, and loses none")
    func renumbered() async throws {
        try await begin()
        try desk.edit("UPDATE item SET name = 'oat milk' WHERE id = 1")
        try await pair.exchange(desk, phone, at: 2)
        let migration = """
            CREATE TABLE rebuilt (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, parent INTEGER, note TEXT);
            INSERT INTO rebuilt (id, name, price, parent) SELECT id + 10, name, price, parent FROM item;
            INSERT INTO rebuilt (id, name, price, parent) VALUES (50, 'milk', 2, 1);
            DROP TABLE item; ALTER TABLE rebuilt RENAME TO item
            """
        try desk.edit(migration)
        try await pair.exchange(desk, phone, desk, at: 3)
        let rows = ["eggs|3", "milk|2", "oat milk|2", "soap|9"]
        try pair.expectEqual("SELECT name, price FROM item ORDER BY 1", rows)
    }

    @Test("puts a row back that was deleted, and adds one that is alike: they are two")
    func backAndAlike() async throws {
        try await begin()
        try desk.edit("DELETE FROM item")
        try await pair.exchange(desk, phone, at: 2)
        try desk.edit(
            """
            ALTER TABLE item ADD COLUMN note TEXT;
            INSERT INTO item (id, name, price, parent) VALUES
                (0, 'milk', 2, 1), (1, 'milk', 5, 1), (7, 'soap', 9, 2)
            """
        )
        try await pair.exchange(desk, phone, desk, at: 3)
        let rows = ["milk|2", "milk|5", "soap|9"]
        try pair.expectEqual("SELECT name, price FROM item ORDER BY 1, 2", rows)
    }

    @Test("brings a row that somebody has deleted already: it stays deleted")
    func deletedElsewhere() async throws {
        try await begin()
        let migration = """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT); ALTER TABLE list ADD COLUMN color TEXT;
            INSERT INTO list (name, color) VALUES ('other', 'red'); INSERT INTO tag VALUES (1, 'new')
            """
        try desk.edit(migration)
        try await pair.exchange(desk, at: 2)
        try desk.edit("DELETE FROM list WHERE name = 'other'; DELETE FROM tag")
        try await pair.exchange(desk, phone, at: 3)
        try phone.edit(migration)
        try await pair.exchange(phone, desk, phone, at: 4)
        try pair.expectEqual("SELECT name FROM list ORDER BY 1", ["food", "house"])
        try pair.expectEqual("SELECT name FROM tag", [])
        #expect(Set(try phone.conflicts) == ["deleted"])
    }

    @Test("that makes a column a reference, or one no more, asks before anything is changed")
    func references() async throws {
        try await begin()
        let all = "SELECT name, parent FROM item ORDER BY 1"
        let rows = ["eggs|1", "milk|1", "soap|2"]
        let referring = Self.rebuild(
            "item",
            "id INTEGER PRIMARY KEY, name TEXT, price INTEGER, parent INTEGER REFERENCES list(id)"
        )
        try desk.edit(referring)
        let added = SyncRefusal.otherReference(
            table: "item",
            column: "parent",
            parent: "list",
            was: nil
        )
        for _ in 1...2 {
            await #expect(throws: added) { try await desk.sync(at: start + 120) }
        }
        try await pair.exchange(phone, at: 2)
        try pair.expectEqual(all, rows)
        // By the map it is one on all devices, whichever schema they have.
        let json = #"{"tables": {"item": {"references": {"parent": "list"}}}}"#
        try desk.publish(json, at: start + 180)
        try await pair.exchange(desk, phone, desk, phone, at: 3)
        try pair.expectEqual(all, rows)
        try phone.edit("UPDATE item SET parent = 2 WHERE id = 1")
        try await pair.exchange(phone, desk, at: 4)
        try pair.expectEqual(all, ["eggs|1", "milk|2", "soap|2"])
        // Without the word of the map it would be none again.
        let plain = "id INTEGER PRIMARY KEY, name TEXT, price INTEGER, parent INTEGER"
        try desk.edit(Self.rebuild("item", plain))
        try await pair.exchange(desk, phone, at: 5)
        try pair.expectEqual(all, ["eggs|1", "milk|2", "soap|2"])
    }

    @Test("that has no reference any more asks, and takes no row away")
    func lessReferences() async throws {
        let columns = "id INTEGER PRIMARY KEY, name TEXT, price INTEGER, parent INTEGER"
        for device in [desk, phone] {
            try device.edit(Self.rebuild("item", "\(columns) REFERENCES list(id)"))
        }
        try await begin()
        try desk.edit(Self.rebuild("item", columns))
        let dropped = SyncRefusal.otherReference(
            table: "item",
            column: "parent",
            parent: nil,
            was: "list"
        )
        await #expect(throws: dropped) { try await desk.sync(at: start + 120) }
        try pair.expectEqual(
            "SELECT name, parent FROM item ORDER BY 1",
            ["eggs|1", "milk|1", "soap|2"]
        )
    }

    @Test("that gives rows other keys stops the exchange, whatever a map says of references")
    func otherKeys() async throws {
        let columns = "id INTEGER PRIMARY KEY, name TEXT, price INTEGER, parent"
        for device in [desk, phone] {
            try device.edit(Self.rebuild("item", "\(columns) INTEGER REFERENCES list(id)"))
        }
        try await begin()
        try desk.edit(Self.rebuild("item", "\(columns) TEXT"))
        try desk.edit(
            """
            CREATE TABLE keyed (id TEXT PRIMARY KEY, name TEXT);
            INSERT INTO keyed SELECT 'key of ' || id, name FROM list;
            DROP TABLE list; ALTER TABLE keyed RENAME TO list; UPDATE item SET parent = 'key of ' || parent
            """
        )
        try desk.edit(Self.rebuild("item", "\(columns) TEXT REFERENCES list(id)"))
        let refusal = SyncRefusal.otherKeys(parent: "list", table: "item", column: "parent")
        await #expect(throws: refusal) { try await desk.sync(at: start + 120) }
        let json = #"{"tables": {"item": {"references": {"parent": "none"}}}}"#
        try desk.publish(json, at: start + 180)
        await #expect(throws: refusal) { try await desk.sync(at: start + 240) }
        #expect(try phone.rows("SELECT parent FROM item ORDER BY 1") == ["1", "1", "2"])
    }

    @Test("lets rows be without what identifies them: a device with the old one waits with them")
    func nullKeys() async throws {
        try await begin()
        try desk.edit(
            """
            CREATE TABLE rebuilt (id INTEGER PRIMARY KEY, name TEXT UNIQUE, value TEXT);
            INSERT INTO rebuilt (name, value) VALUES (NULL, 'one'), (NULL, 'two'), ('x', 'three');
            DROP TABLE setting; ALTER TABLE rebuilt RENAME TO setting
            """
        )
        try await pair.exchange(desk, phone, at: 2)
        #expect(try phone.rows("SELECT value FROM setting ORDER BY 1") == ["three"])
        #expect(try phone.unshown.count == 2)
        try desk.edit("UPDATE setting SET value = 'ONE', name = 'y' WHERE value = 'one'")
        try await pair.exchange(phone, desk, phone, desk, at: 3)
        #expect(try phone.rows("SELECT value FROM setting ORDER BY 1") == ["ONE", "three"])
        #expect(try desk.rows("SELECT value FROM setting ORDER BY 1") == ["ONE", "three", "two"])
    }
}
