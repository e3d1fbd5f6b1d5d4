import Changes
import Foundation
import Testing

@testable import Sync

/// Columns that do not sync, and rows of tables that do not sync and refer to rows that do.
@Suite("Data of one device that belong to a row")
struct CompanionTests {
    private static let schema = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, qty INT, seen TEXT DEFAULT 'no');
        CREATE TABLE picture (item INTEGER NOT NULL REFERENCES item ON DELETE CASCADE, data TEXT);
        CREATE TABLE note (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item ON DELETE SET NULL, text TEXT);
        CREATE TABLE part (id INTEGER PRIMARY KEY, note INTEGER REFERENCES note ON DELETE CASCADE, text TEXT);
        CREATE TABLE mark (id INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES item ON DELETE CASCADE, text TEXT);
        CREATE TABLE word (id INTEGER PRIMARY KEY, mark INTEGER REFERENCES mark ON DELETE CASCADE, text TEXT);
        """
    private static let all = """
        SELECT data FROM picture JOIN item i ON i.id = item UNION ALL
        SELECT text FROM note JOIN item i ON i.id = item UNION ALL
        SELECT w.text FROM word w JOIN mark m ON m.id = mark JOIN item i ON i.id = item ORDER BY 1
        """

    private func makePair() async throws -> DevicePair {
        let pair = try DevicePair(schema: Self.schema)
        try await enable(
            pair,
            #"{"exclude": ["note", "part", "mark", "word"], "tables": {"item": {"local": ["seen"]}}}"#
        )
        return pair
    }

    private func enable(_ pair: DevicePair, _ map: String) async throws {
        let map = try SyncMap(json: Array(map.utf8), name: "map")
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start, map: map) }
    }

    private func addCompanions(to name: String, _ pair: DevicePair) throws {
        try pair.phone.edit(
            """
            INSERT INTO picture SELECT id, 'picture' FROM item WHERE name = '\(name)';
            INSERT INTO note (item, text) SELECT id, 'note' FROM item WHERE name = '\(name)';
            INSERT INTO mark (item, text) SELECT id, 'mark' FROM item WHERE name = '\(name)';
            INSERT INTO word (mark, text) SELECT max(id), 'word' FROM mark;
            UPDATE item SET seen = 'yes' WHERE name = '\(name)';
            """
        )
    }

    /// Takes what the phone lists of a row.
    private func take(_ title: String, _ pair: DevicePair, at minute: Double) throws {
        let sidecar = try Sidecar(in: pair.phone.sidecarPath)
        defer { try? sidecar.close() }
        let listed = try sidecar.conflicts(all: true).first { $0.title == title }
        let number = try #require(listed?.number)
        let date = pair.start + minute * 60
        #expect(try sidecar.takeConflict(number, at: date, program: "test 1") == .taken)
    }

    @Test("go with a row that is deleted elsewhere, and come back with it")
    func deleted() async throws {
        let pair = try await makePair()
        try pair.desk.edit("INSERT INTO item (name) VALUES ('milk'), ('jam')")
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try addCompanions(to: "jam", pair)
        try pair.desk.edit("DELETE FROM item WHERE name = 'jam'")
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 2)
        #expect(try pair.phone.rows("PRAGMA foreign_key_check").isEmpty)
        #expect(try pair.phone.rows("SELECT text FROM note WHERE item IS NULL") == ["note"])
        // The number of the deleted row is free.
        try pair.phone.edit("INSERT INTO item (name) VALUES ('figs')")
        #expect(try pair.phone.rows(Self.all).isEmpty)
        try await pair.exchange(pair.phone, pair.desk, at: 3)
        let sidecar = try Sidecar(in: pair.phone.sidecarPath)
        let listed = try #require(try sidecar.conflicts(all: true).first { $0.kind == "deleted" })
        let values = try #require(try sidecar.removedValues(listed.number))
        #expect(values.contains { $0 == ("picture.data", "picture") })
        #expect(values.contains { $0 == ("item.seen", "yes") })
        let date = pair.start + 300
        #expect(try sidecar.takeConflict(listed.number, at: date, program: "test 1") == .taken)
        try sidecar.close()
        try await pair.exchange(pair.phone, pair.desk, at: 6)
        try pair.expectEqual("SELECT name FROM item ORDER BY 1", ["figs", "jam", "milk"])
        #expect(try pair.phone.rows(Self.all) == ["note", "picture", "word"])
        #expect(try pair.phone.rows("SELECT seen FROM item WHERE name = 'jam'") == ["yes"])
    }

    @Test("come back with a row that waited for its unique value")
    func yielding() async throws {
        let pair = try await makePair()
        try pair.desk.edit("INSERT INTO item (name, qty) VALUES ('jam', 1)")
        try await pair.exchange(pair.desk, at: 1)
        try pair.phone.edit("INSERT INTO item (name, qty) VALUES ('jam', 2)")
        try addCompanions(to: "jam", pair)
        try await pair.exchange(pair.phone, pair.desk, at: 2)
        #expect(try pair.phone.rows("SELECT qty, seen FROM item") == ["1|no"])
        #expect(try pair.phone.rows(Self.all).isEmpty)
        try pair.desk.edit("UPDATE item SET name = 'plum jam'")
        try await pair.exchange(pair.desk, pair.phone, at: 3)
        #expect(try pair.phone.rows("SELECT qty, seen FROM item WHERE name = 'jam'") == ["2|yes"])
        #expect(try pair.phone.rows(Self.all) == ["note", "picture", "word"])
    }

    @Test("follow a row whose key is changed elsewhere")
    func renamed() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE list (code TEXT PRIMARY KEY, title TEXT, seen TEXT DEFAULT 'no');
                CREATE TABLE item (id INTEGER PRIMARY KEY, list TEXT REFERENCES list ON UPDATE CASCADE);
                CREATE TABLE pin (id INTEGER PRIMARY KEY, list TEXT NOT NULL REFERENCES list ON UPDATE CASCADE);
                """
        )
        try pair.desk.edit("INSERT INTO list (code) VALUES ('a'), ('b')")
        try pair.desk.edit("INSERT INTO item (list) VALUES ('a'), ('b')")
        try await enable(
            pair,
            #"{"exclude": ["pin"], "tables": {"list": {"local": ["seen"]}}}"#
        )
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.phone.edit("INSERT INTO pin VALUES (1, 'a')")
        try pair.phone.edit("UPDATE list SET seen = 'yes' WHERE code = 'a'")
        try pair.desk.edit("UPDATE list SET code = 'c' WHERE code = 'a'")
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 2)
        #expect(try pair.phone.rows("SELECT list FROM pin") == ["c"])
        #expect(try pair.phone.rows("SELECT seen FROM list WHERE code = 'c'") == ["yes"])
    }

    @Test("of two rows come back once, with the second of them")
    func ofTwoRows() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE link (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES item ON DELETE CASCADE,
                    b INTEGER NOT NULL REFERENCES item ON DELETE CASCADE);
                CREATE TABLE pair (a INTEGER REFERENCES item ON DELETE SET NULL, b INTEGER REFERENCES item ON DELETE SET NULL,
                    text TEXT);
                """
        )
        try await enable(pair, #"{"exclude": ["link", "pair"]}"#)
        try pair.desk.edit("INSERT INTO item (name) VALUES ('milk'), ('jam'), ('figs')")
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.phone.edit("INSERT INTO link VALUES (1, 1, 2)")
        try pair.phone.edit("INSERT INTO pair VALUES (1, 2, 'mine')")
        try pair.desk.edit("DELETE FROM item WHERE name IN ('milk', 'jam')")
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 2)
        #expect(try pair.phone.rows("SELECT * FROM link").isEmpty)
        for (minute, name) in [(3.0, "milk"), (6.0, "jam")] {
            try take(name, pair, at: minute)
            try await pair.exchange(pair.phone, pair.desk, at: minute + 1)
            #expect(try pair.phone.rows("PRAGMA foreign_key_check").isEmpty)
        }
        let names = "JOIN item i ON i.id = a JOIN item j ON j.id = b"
        #expect(try pair.phone.rows("SELECT i.name, j.name FROM link \(names)") == ["milk|jam"])
        #expect(try pair.phone.rows("SELECT i.name, j.name FROM pair \(names)") == ["milk|jam"])
    }

    @Test("exchange their places with their rows, whatever the store's triggers do")
    func exchanged() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT);
                CREATE TABLE star (code TEXT PRIMARY KEY REFERENCES item(code) ON UPDATE CASCADE ON DELETE CASCADE,
                    n INTEGER);
                CREATE TRIGGER cleans AFTER DELETE ON item BEGIN DELETE FROM star WHERE code = OLD.code; END;
                """
        )
        try await enable(pair, #"{"exclude": ["star"]}"#)
        try pair.desk.edit("INSERT INTO item (code, name) VALUES ('a', 'milk'), ('b', 'jam')")
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.phone.edit("INSERT INTO star VALUES ('a', 1), ('b', 2)")
        try pair.desk.edit("UPDATE item SET code = 'c' WHERE name = 'milk'")
        try pair.desk.edit("UPDATE item SET code = 'a' WHERE name = 'jam'")
        try pair.desk.edit("UPDATE item SET code = 'b' WHERE name = 'milk'")
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 2)
        #expect(
            try pair.phone.rows("SELECT name, n FROM item JOIN star USING (code) ORDER BY 1")
                == ["jam|2", "milk|1"]
        )
    }

    @Test("stay listed if the application has something else in their place")
    func refused() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE pin (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item ON DELETE CASCADE, slot UNIQUE);
                CREATE TABLE mark (pin INTEGER REFERENCES pin ON DELETE CASCADE, text TEXT);
                """
        )
        try await enable(pair, #"{"exclude": ["pin", "mark"]}"#)
        try pair.desk.edit("INSERT INTO item (name) VALUES ('milk'), ('jam')")
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.phone.edit("INSERT INTO pin VALUES (1, 1, 1), (2, 1, 2)")
        try pair.phone.edit("INSERT INTO mark VALUES (1, 'one'), (2, 'two')")
        try pair.desk.edit("DELETE FROM item WHERE name = 'milk'")
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 2)
        // Another number, and another slot.
        try pair.phone.edit("INSERT INTO pin VALUES (1, 2, 2)")
        try pair.phone.edit("INSERT INTO mark VALUES (1, 'other')")
        try take("milk", pair, at: 3)
        try await pair.exchange(pair.phone, pair.desk, at: 4)
        let marks = """
            SELECT i.name, p.slot, m.text FROM mark m JOIN pin p ON p.id = m.pin JOIN item i ON i.id = p.item ORDER BY 1, 2
            """
        #expect(try pair.phone.rows(marks) == ["jam|2|other", "milk|1|one"])
        let again = try Sidecar(in: pair.phone.sidecarPath)
        defer { try? again.close() }
        let left = try again.conflicts(all: true).first { $0.title == "milk" }
        let values = try again.removedValues(try #require(left?.number)) ?? []
        #expect(values.contains { $0 == ("mark.text", "two") }, "\(values)")
    }
}
