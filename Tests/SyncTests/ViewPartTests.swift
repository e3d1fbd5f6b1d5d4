import Foundation
import GRDB
import Remotes
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Sync

/// Each exchange of these devices holds the view of what was altered to the view of all rows.
@Suite("The view of what was altered")
struct ViewPartTests {
    private static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, list_id INTEGER REFERENCES list(id) ON DELETE CASCADE);
        """
    private static let words = """
        CREATE TABLE word (spelling TEXT PRIMARY KEY, serial INTEGER UNIQUE);
        CREATE TABLE sense (id INTEGER PRIMARY KEY, meaning TEXT,
            see INTEGER REFERENCES word(serial) ON DELETE SET NULL ON UPDATE CASCADE);
        """
    private let start = Date(timeIntervalSince1970: 1_790_000_000)
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func devices(_ schema: String) throws -> (Device, Device) {
        let folder = LocalFolder(try sandbox.directory("Container"))
        return (
            try Device("desk", in: sandbox, folder: folder, schema: schema),
            try Device("phone", in: sandbox, folder: folder, schema: schema)
        )
    }

    /// Two lists, of which one has most items.
    private static func rows(_ count: Int) -> String {
        """
        INSERT INTO list (name) VALUES ('long'), ('short');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO item (name, list_id) SELECT 'item ' || i, iif(i % 500 = 0, 2, 1) FROM n
        """
    }

    @Test("is of few rows, however many there are, and of what a deletion takes along")
    func few() async throws {
        let (desk, phone) = try devices(Self.schema)
        try desk.edit(Self.rows(5_000))
        try await desk.enable(at: start)
        try await desk.sync(at: start)
        try await phone.enable(at: start)
        try await phone.sync(at: start)
        try await desk.sync(at: start + 60)
        try phone.edit("UPDATE item SET name = 'other' WHERE name = 'item 7'")
        try phone.edit("UPDATE list SET name = 'longest' WHERE name = 'long'")
        try await phone.sync(at: start + 120)
        let edited = try await desk.sync(at: start + 180)
        #expect(edited.updated == 2)
        #expect(edited.looked == 2)
        try phone.edit("DELETE FROM list WHERE name = 'short'")
        try await phone.sync(at: start + 240)
        let deleted = try await desk.sync(at: start + 300)
        #expect(deleted.deleted == 11)
        #expect(deleted.looked == 11)
    }

    @Test("shows a row that waited for another of a name, once that is called so")
    func names() async throws {
        let (desk, phone) = try devices(Self.words)
        try desk.edit("INSERT INTO word VALUES ('milk', 3), ('tea', 4)")
        for device in [desk, phone] {
            try await device.enable(at: start)
            try await device.sync(at: start)
        }
        try await phone.sync(at: start + 60)
        // One goes, while the other device refers to it.
        try desk.edit("DELETE FROM word WHERE spelling = 'milk'")
        try phone.edit("INSERT INTO sense (meaning, see) VALUES ('white', 3)")
        for (step, device) in [desk, phone, desk, phone].enumerated() {
            try await device.sync(at: start + 120 + Double(step))
        }
        #expect(try desk.rows("SELECT meaning, see FROM sense") == ["white|NULL"])
        #expect(try phone.rows("SELECT meaning, see FROM sense") == ["white|NULL"])
        try desk.edit("UPDATE word SET serial = 3 WHERE spelling = 'tea'")
        try await desk.sync(at: start + 180)
        try await phone.sync(at: start + 240)
        #expect(try phone.rows("SELECT meaning, see FROM sense") == ["white|3"])
        try await desk.sync(at: start + 300)
        #expect(try desk.rows("SELECT meaning, see FROM sense") == ["white|3"])
    }

    @Test(
        "has a row yield as long as another has any of its keys",
        arguments: ["b TEXT UNIQUE", "b TEXT", "b TEXT COLLATE NOCASE UNIQUE"]
    )
    func competitors(_ column: String) async throws {
        let index = "CREATE UNIQUE INDEX b ON thing (lower(trim(b))) WHERE b IS NOT NULL"
        let (desk, phone) = try devices(
            """
            CREATE TABLE thing (id INTEGER PRIMARY KEY, a TEXT UNIQUE, \(column));
            CREATE TABLE part (id INTEGER PRIMARY KEY, thing_id INTEGER REFERENCES thing(id));
            \(column == "b TEXT" ? index : "")
            """
        )
        for device in [desk, phone] {
            try await device.enable(at: start)
            try await device.sync(at: start)
        }
        try desk.edit("INSERT INTO thing (a) VALUES ('old')")
        try await desk.sync(at: start + 60)
        try desk.edit("INSERT INTO thing (a) VALUES ('young')")
        try await desk.sync(at: start + 120)
        try phone.edit("INSERT INTO thing (a, b) VALUES ('young', 'key')")
        try phone.edit("INSERT INTO part (thing_id) SELECT id FROM thing")
        try await phone.sync(at: start + 180)
        try await desk.sync(at: start + 240)
        let parents = "SELECT a FROM thing JOIN part ON thing_id = thing.id"
        for device in [desk, phone] { #expect(try device.rows(parents).isEmpty) }
        try desk.edit("UPDATE thing SET b = 'key' WHERE a = 'old'")
        try desk.edit("DELETE FROM thing WHERE a = 'young'")
        try await desk.sync(at: start + 300)
        try await phone.sync(at: start + 360)
        for device in [desk, phone] {
            #expect(try device.rows("SELECT a FROM thing") == ["old"])
            #expect(try device.rows(parents).isEmpty)
        }
        try desk.edit("UPDATE thing SET b = NULL WHERE a = 'old'")
        try await desk.sync(at: start + 420)
        try await phone.sync(at: start + 480)
        for device in [desk, phone] {
            #expect(try device.rows("SELECT a FROM thing ORDER BY a") == ["old", "young"])
            #expect(try device.rows(parents) == ["young"])
        }
    }

    @Test("lets a row take the name of one that goes, under what refers to it")
    func successor() async throws {
        let (desk, phone) = try devices(Self.words)
        try desk.edit("INSERT INTO word VALUES ('milk', 3), ('tea', 4)")
        try desk.edit("INSERT INTO sense (meaning, see) VALUES ('white', 3)")
        for device in [desk, phone] {
            try await device.enable(at: start)
            try await device.sync(at: start)
        }
        try await phone.sync(at: start + 60)
        try desk.edit(
            """
            PRAGMA defer_foreign_keys = ON; UPDATE sense SET see = 4;
            DELETE FROM word WHERE spelling = 'milk'; UPDATE word SET serial = 3 WHERE spelling = 'tea'
            """
        )
        try await desk.sync(at: start + 120)
        let outcome = try await phone.sync(at: start + 180)
        #expect(outcome.deleted == 1)
        #expect(try phone.rows("SELECT * FROM word") == ["tea|3"])
        #expect(try phone.rows("SELECT meaning, see FROM sense") == ["white|3"])
    }

    @Test("removes what refers to a row that its application removed alone")
    func orphans() async throws {
        let (desk, phone) = try devices(Self.schema)
        try desk.edit(Self.rows(3))
        for device in [desk, phone] {
            try await device.enable(at: start)
            try await device.sync(at: start)
        }
        // As applications do that do not have SQLite look after references.
        try desk.withClosedStore {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(
                path: desk.storePath.string,
                configuration: configuration
            )
            try queue.write { try $0.execute(sql: "DELETE FROM list WHERE name = 'long'") }
            try queue.close()
        }
        try await desk.sync(at: start + 60)
        #expect(try desk.rows("SELECT count(*) FROM item") == ["0"])
        try await phone.sync(at: start + 120)
        #expect(try phone.rows("SELECT count(*) FROM item") == ["0"])
    }

    @Test(
        "of very many rows is computed and written by parts, and ends as if it was not",
        arguments: [4, 40]
    )
    func parts(_ mostRows: Int) async throws {
        let (desk, phone) = try devices(Self.schema)
        try desk.edit(Self.rows(300))
        try phone.edit(
            "INSERT INTO list (id, name) VALUES (7, 'long'); INSERT INTO item VALUES (9, 'own', 7)"
        )
        phone.options.mostRows = mostRows
        for device in [desk, phone] {
            try await device.enable(at: start)
            try await device.sync(at: start)
        }
        try await desk.sync(at: start + 120)
        #expect(try phone.rows("SELECT count(*) FROM item") == ["301"])
        #expect(try phone.rows("SELECT name FROM list ORDER BY 1") == ["long", "short"])
        #expect(try phone.rows("PRAGMA foreign_key_check").isEmpty)
        #expect(try desk.content() == phone.content())
        desk.options.acceptsChanges = true
        phone.options.acceptsChanges = true
        try desk.edit("DELETE FROM list WHERE name = 'long'")
        try await desk.sync(at: start + 180)
        try await phone.sync(at: start + 240)
        #expect(try desk.content() == phone.content())
        #expect(try phone.planned() == 0)
    }

    @Test("keeps what an application writes between two parts")
    func betweenParts() async throws {
        let (desk, phone) = try devices(Self.schema)
        try desk.edit(Self.rows(60))
        for device in [desk, phone] { try await device.enable(at: start) }
        try await desk.sync(at: start)
        phone.options.mostRows = 20
        // The first part has given rows their numbers, and takes none that the application takes.
        let edits = Mutex([
            "UPDATE item SET name = 'edited' WHERE id = (SELECT min(id) FROM item)",
            "INSERT INTO item (id, name) VALUES (55, 'mine')",
            "DELETE FROM item WHERE id = (SELECT max(id) FROM item WHERE name <> 'mine')",
        ])
        let path = phone.storePath.string
        phone.options.didWrite = { _ in
            guard let edit = edits.withLock({ $0.popLast() }) else { return }
            // Another process: it would take the log away if this one had lost its locks.
            _ = try Tool.check("sqlite3", [path, edit])
        }
        // SQLite shares the locks of a process, which an application of its own would not lose.
        try phone.queue.close()
        try await phone.sync(at: start + 60)
        try phone.withClosedStore {}
        let left = edits.withLock { $0.count }
        #expect(left == 0)
        phone.options.didWrite = { _ in }
        for minute in 2..<5 {
            try await desk.sync(at: start + Double(minute) * 60)
            try await phone.sync(at: start + Double(minute) * 60 + 30)
        }
        #expect(try desk.content() == phone.content())
        #expect(try desk.rows("SELECT count(*) FROM item WHERE name = 'edited'") == ["1"])
        #expect(try desk.rows("SELECT count(*) FROM item WHERE name = 'mine'") == ["1"])
        #expect(try desk.rows("SELECT count(*) FROM item") == ["60"])
        #expect(try phone.planned() == 0)
    }

    @Test(
        "asks if another file is put in the store's place between two parts, and writes into neither"
    )
    func replacedBetweenParts() async throws {
        let (desk, phone) = try devices(Self.schema)
        try desk.edit(Self.rows(60))
        try phone.edit("INSERT INTO item (id, name) VALUES (1000, 'mine')")
        for device in [desk, phone] { try await device.enable(at: start) }
        try await desk.sync(at: start)
        try phone.queue.close()
        let path = phone.storePath.string
        let (older, gone) = (path + ".older", path + ".gone")
        _ = try Tool.check("sqlite3", [path, "VACUUM INTO '\(older)'"])
        phone.options.mostRows = 20
        let parts = Mutex(0)
        phone.options.didWrite = { _ in
            let part = parts.withLock { count in
                count += 1
                return count
            }
            guard part == 1 else { return }
            try FileManager.default.moveItem(atPath: path, toPath: gone)
            for suffix in ["-wal", "-shm"] {
                try FileManager.default.moveItem(atPath: path + suffix, toPath: gone + suffix)
            }
            try FileManager.default.moveItem(atPath: older, toPath: path)
        }
        await #expect(throws: SyncDecision.replaced("a.sqlite")) {
            try await phone.sync(at: start + 60)
        }
        let written = parts.withLock { $0 }
        #expect(written == 1)
        let count = "SELECT count(*) FROM item"
        #expect(try Tool.check("sqlite3", [path, count]) == "1\n")
        let before = try Tool.check("sqlite3", [gone, count])
        #expect(before != "61\n")
        // Whoever says that both count gets both.
        phone.options.rejoining = .merge
        try await phone.sync(at: start + 120)
        phone.options.rejoining = nil
        for minute in 3..<5 {
            try await desk.sync(at: start + Double(minute) * 60)
            try await phone.sync(at: start + Double(minute) * 60 + 30)
        }
        try phone.withClosedStore {}
        #expect(try desk.content() == phone.content())
        #expect(try desk.rows(count) == ["61"])
    }
}
