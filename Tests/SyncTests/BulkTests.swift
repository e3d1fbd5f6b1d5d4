import Foundation
import GRDB
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("New rows in bulk")
struct BulkTests {
    private static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, serial INTEGER UNIQUE,
            list_id INTEGER REFERENCES list(id));
        CREATE TABLE word (spelling TEXT PRIMARY KEY, price REAL, size INTEGER, note) WITHOUT ROWID;
        """
    private static let rows = """
        INSERT INTO list (name) VALUES ('long'), ('short');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO item (name, serial, list_id) SELECT 'item ' || i, i, i % 3 FROM n WHERE i % 3 > 0;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
        INSERT INTO word SELECT 'word ' || i, i, i, x'00' || i FROM n;
        """

    /// Returns two devices of one group, one with rows that the other has not taken.
    private func devices(_ rows: String = Self.rows) async throws -> DevicePair {
        let pair = try DevicePair(schema: Self.schema)
        pair.phone.options.leastBulk = 1
        for device in [pair.desk, pair.phone] {
            try await device.enable(at: pair.start)
            try await device.sync(at: pair.start)
        }
        try pair.desk.edit(rows)
        try await pair.exchange(pair.desk, at: 1)
        return pair
    }

    /// Exchanges until both devices have all, and expects that they are equal and have nothing to do.
    private func expectEnd(_ pair: DevicePair, items: Int) async throws {
        for minute in 3..<6 {
            try await pair.exchange(pair.phone, pair.desk, at: Double(minute))
        }
        #expect(try pair.desk.content() == pair.phone.content())
        try pair.expectEqual("SELECT count(*) FROM item", ["\(items)"])
        try pair.expectEqual("PRAGMA foreign_key_check", [])
        for device in [pair.desk, pair.phone] { #expect(try device.planned() == 0) }
        #expect(try pair.phone.inspect { try $0.bulkRows.ranges().isEmpty })
    }

    @Test("are written without a view, at the keys that they have elsewhere")
    func all() async throws {
        let pair = try await devices()
        let outcome = try await pair.phone.sync(at: pair.start + 120)
        #expect(outcome.inserted == 252)
        #expect(outcome.looked == 0)
        try pair.expectEqual("SELECT id FROM item WHERE serial = 100", ["67"])
        try await expectEnd(pair, items: 200)
    }

    @Test(
        "are there once, and none is taken for an edit, wherever a run is cut off",
        arguments: [StoreExchange.Step.planned, .written, .settled],
        0..<3
    )
    func cut(_ step: StoreExchange.Step, _ range: Int) async throws {
        struct Cut: Error {}
        let pair = try await devices()
        let passed = Mutex(0)
        pair.phone.options.passed = { now in
            guard now == step else { return }
            let count = passed.withLock { count in
                count += 1
                return count
            }
            if count > range { throw Cut() }
        }
        await #expect(throws: Cut.self) { try await pair.phone.sync(at: pair.start + 120) }
        pair.phone.options.passed = { _ in }
        // The application edits what is there, and may take keys that others are to have.
        try pair.phone.edit("UPDATE item SET name = 'edited' WHERE serial = 2")
        try pair.phone.edit(
            "INSERT OR IGNORE INTO item (id, name, serial) VALUES (5, 'mine', 1001)"
        )
        let isThere = try pair.phone.rows("SELECT count(*) FROM item WHERE name = 'edited'")
        let mine = try pair.phone.rows("SELECT count(*) FROM item WHERE name = 'mine'")
        try await expectEnd(pair, items: mine == ["1"] ? 201 : 200)
        try pair.expectEqual("SELECT count(*) FROM item WHERE name = 'edited'", isThere)
        try pair.expectEqual("SELECT count(*) FROM item WHERE name = 'mine'", mine)
    }

    @Test("are there once, if a run was killed and the application edits all of them")
    func cutThenEdited() async throws {
        struct Cut: Error {}
        let pair = try await devices()
        let passed = Mutex(0)
        pair.phone.options.passed = { now in
            guard now == .written else { return }
            let count = passed.withLock { count in
                count += 1
                return count
            }
            // The lists are written before.
            if count == 2 { throw Cut() }
        }
        await #expect(throws: Cut.self) { try await pair.phone.sync(at: pair.start + 120) }
        pair.phone.options.passed = { _ in }
        #expect(try pair.phone.rows("SELECT count(*) FROM item") == ["200"])
        try pair.phone.edit("UPDATE item SET name = name || ' more'; DELETE FROM item WHERE id = 7")
        try await expectEnd(pair, items: 199)
        try pair.expectEqual("SELECT count(*) FROM item WHERE name LIKE '% more'", ["199"])
    }

    @Test("are counted as not written until they are")
    func unwritten() async throws {
        struct Refused: Error {}
        let pair = try await devices()
        pair.phone.options.willWrite = { _ in throw Refused() }
        await #expect(throws: Refused.self) { try await pair.phone.sync(at: pair.start + 120) }
        #expect(try pair.phone.inspect { try $0.dirty.count } == 252)
        pair.phone.options.willWrite = { _ in }
        try await expectEnd(pair, items: 200)
    }

    @Test("are not written before the question about most rows of another table")
    func manyDeletions() async throws {
        let pair = try await devices()
        try await pair.exchange(pair.phone, at: 2)
        pair.desk.options.acceptsChanges = true
        try pair.desk.edit("DELETE FROM item WHERE id > 20")
        try pair.desk.edit(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO word (spelling) SELECT 'new ' || i FROM n
            """
        )
        try await pair.exchange(pair.desk, at: 3)
        await #expect(throws: SyncDecision.self) { try await pair.phone.sync(at: pair.start + 240) }
        #expect(try pair.phone.rows("SELECT count(*) FROM item") == ["200"])
        #expect(try pair.phone.rows("SELECT count(*) FROM word") == ["50"])
        pair.phone.options.acceptsChanges = true
        try await pair.exchange(pair.phone, at: 5)
        try pair.expectEqual("SELECT count(*) FROM item", ["20"])
        try pair.expectEqual("SELECT count(*) FROM word", ["350"])
    }

    @Test("yield to older ones of another device without a question about deletions")
    func yielding() async throws {
        let pair = try DevicePair(
            schema: "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE)"
        )
        for device in [pair.desk, pair.phone] {
            try await device.enable(at: pair.start)
            try await device.sync(at: pair.start)
        }
        for (minute, device) in [pair.desk, pair.phone].enumerated() {
            try device.edit(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
                INSERT INTO item (name) SELECT 'n' || i FROM n
                """
            )
            try await pair.exchange(device, at: Double(minute + 1))
        }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 3)
        try pair.expectEqual("SELECT count(*) FROM item", ["30"])
        #expect(try pair.phone.inspect { try $0.held.yieldingCount } == 30)
    }

    @Test("are left to the view if the application takes their keys meanwhile")
    func takenKeys() async throws {
        let pair = try await devices()
        let path = pair.phone.storePath.string
        let sql = Mutex("INSERT INTO item (id, name, serial) VALUES (7, 'mine', 8)")
        pair.phone.options.willWrite = { _ in
            let edit = sql.withLock { sql in
                defer { sql = "SELECT 1" }
                return sql
            }
            _ = try Tool.check("sqlite3", [path, edit])
        }
        try pair.phone.queue.close()
        try await pair.phone.sync(at: pair.start + 120)
        pair.phone.options.willWrite = { _ in }
        try pair.phone.withClosedStore {}
        // Of two rows with one serial, the older is shown; the other is kept.
        try await expectEnd(pair, items: 200)
        try pair.expectEqual("SELECT name FROM item WHERE serial = 8", ["item 8"])
        let removed = try pair.phone.inspect { try $0.held.yieldingCount }
        #expect(removed == 1)
    }

    @Test("have the values and references of the store that sent them, whatever their types")
    func values() async throws {
        let pair = try await devices(
            Self.rows + """
                ;
                INSERT INTO word VALUES ('zero', -0.0, '12', 5.0), ('text', 'x', 'y', 'z'), ('null', NULL, 1.5, NULL);
                PRAGMA defer_foreign_keys = ON;
                INSERT INTO item VALUES (1000, x'ff', NULL, NULL), (1001, NULL, 9223372036854775807, 2);
                """
        )
        let outcome = try await pair.phone.sync(at: pair.start + 120)
        #expect(outcome.inserted == 257)
        try pair.expectEqual(
            "SELECT spelling, typeof(price), typeof(size), typeof(note) FROM word WHERE spelling NOT LIKE 'word%'",
            ["null|null|real|null", "text|text|text|text", "zero|real|integer|real"]
        )
        try await expectEnd(pair, items: 202)
    }

    @Test("wait for a parent that others have deleted as its children arrive")
    func deletedParent() async throws {
        let pair = try await devices("INSERT INTO list (name) VALUES ('long'), ('short')")
        try await pair.exchange(pair.phone, at: 2)
        try pair.desk.edit("INSERT INTO item (name, list_id) VALUES ('figs', 1), ('jam', 2)")
        try pair.phone.edit("DELETE FROM list WHERE id = 1")
        try await pair.exchange(pair.desk, pair.phone, at: 3)
        try await expectEnd(pair, items: 2)
        try pair.expectEqual("SELECT name, list_id FROM item ORDER BY 1", ["figs|NULL", "jam|2"])
    }
}
