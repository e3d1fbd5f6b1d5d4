import Files
import Foundation
import Testing

@testable import Sync

@Suite("A parent that does not sync")
struct LeftOutParentTests {
    @Test("refuses a reference by value to a table without a key; the map may say that it is none")
    func leftOutByItself() throws {
        func refusals(_ rule: (inout SchemaRules) -> Void) throws -> [SyncRefusal] {
            try SchemaSandbox().schema(
                "CREATE TABLE code (k UNIQUE)",
                "CREATE TABLE item (id INTEGER PRIMARY KEY, b REFERENCES code(k))",
                change: rule
            ).refusals
        }
        let byValue = SyncRefusal.referenceToLeftOut(
            table: "item",
            column: "b",
            parent: "code",
            isByValue: true
        )
        #expect(try refusals { _ in } == [byValue])
        #expect(try refusals { $0["item"].references = ["b": .none] } == [])
        #expect(try refusals { $0["code"].identity = ["k"] } == [])
        #expect(try refusals { $0.exclude = ["code", "item"] } == [])
    }

    @Test("keeps what it refers to, and what that belongs to, until it is gone")
    func kept() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, list INTEGER REFERENCES list(id));
                CREATE TABLE mark (item INTEGER REFERENCES item(id), text TEXT);
                """
        )
        try pair.desk.edit("INSERT INTO list VALUES (1, 'food'), (2, 'more')")
        try pair.desk.edit("INSERT INTO item VALUES (1, 'milk', 1), (2, 'eggs', 1), (3, 'figs', 2)")
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.phone.edit("INSERT INTO mark VALUES (1, 'mine')")
        try pair.desk.edit("DELETE FROM item; DELETE FROM list")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 2)
        let rows = "SELECT i.name, l.name FROM item i JOIN list l ON l.id = i.list"
        #expect(try pair.phone.rows(rows) == ["milk|food"])
        #expect(try pair.phone.rows("SELECT name FROM list") == ["food"])
        #expect(try pair.phone.rows("PRAGMA foreign_key_check").isEmpty)
        let listed = try pair.phone.unshown
        #expect(Set(listed.map(\.why)) == ["kept"] && listed.count == 2)
        #expect(listed.contains { $0.title == "milk" && $0.reason.contains("'mark'") })
        // Taking it back brings it back everywhere; else it goes with what refers to it.
        let number = try #require(listed.first { $0.title == "milk" }?.number)
        let sidecar = try Sidecar(in: pair.phone.sidecarPath)
        let date = pair.start + 180
        #expect(try sidecar.takeConflict(number, at: date, program: "test 1") == .taken)
        try sidecar.close()
        try await pair.exchange(pair.phone, pair.desk, at: 4)
        try pair.expectEqual(rows, ["milk|food"])
        #expect(try pair.phone.unshown.isEmpty)
        try pair.desk.edit("DELETE FROM item; DELETE FROM list")
        try await pair.exchange(pair.desk, pair.phone, at: 5)
        #expect(try pair.phone.rows(rows) == ["milk|food"])
        try pair.phone.edit("DELETE FROM mark")
        try await pair.exchange(pair.phone, at: 6)
        #expect(
            try pair.phone.rows("SELECT name FROM item UNION ALL SELECT name FROM list").isEmpty
        )
        #expect(try pair.phone.unshown.isEmpty)
    }

    @Test("keeps nothing in a store whose application does not turn foreign keys on")
    func unenforced() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE mark (item INTEGER REFERENCES item(id), text TEXT);
                """,
            enforcesReferences: false
        )
        try pair.desk.edit("INSERT INTO item VALUES (1, 'milk'), (2, 'eggs')")
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try pair.phone.edit("INSERT INTO mark VALUES (1, 'mine'), (77, 'of a row that is gone')")
        try pair.desk.edit("DELETE FROM item WHERE id = 1")
        try await pair.exchange(pair.desk, pair.phone, at: 2)
        try pair.expectEqual("SELECT name FROM item", ["eggs"])
        #expect(try pair.phone.unshown.isEmpty)
    }
}
