import Changes
import Foundation
import Stores
import Testing

@testable import Sync

/// SQLite gives a new row the number after the greatest one, which a deleted row may have had
/// (https://www.sqlite.org/autoinc.html).
@Suite("A number that is used again")
struct ReusedNumberTests {
    private static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT, color TEXT DEFAULT 'none');
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT,
            list_id INTEGER REFERENCES list(id) ON DELETE CASCADE);
        CREATE TABLE seat (id INTEGER PRIMARY KEY AUTOINCREMENT, place TEXT UNIQUE, guest TEXT);
        """
    private static let items =
        "SELECT item.name, list.name FROM item JOIN list ON list.id = list_id ORDER BY 1"

    /// Returns two devices with three lists and an item in each.
    private func devices() async throws -> DevicePair {
        let pair = try DevicePair(schema: Self.schema)
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try pair.desk.edit(
            """
            INSERT INTO list (name) VALUES ('home'), ('party'), ('garden'), ('trip');
            INSERT INTO item (name, list_id) VALUES ('milk', 1), ('cake', 2), ('seeds', 3), ('map', 4),
                ('soil', 3), ('rope', 4);
            """
        )
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 1)
        return pair
    }

    @Test(
        "is another row's, and no row of the deleted one comes below it",
        arguments: [false, true]
    )
    func deleted(_ isSentBetween: Bool) async throws {
        let pair = try await devices()
        try pair.phone.edit("INSERT INTO item (name, list_id) VALUES ('rake', 3), ('tent', 4)")
        try await pair.exchange(pair.phone, at: 2)
        try pair.desk.edit("DELETE FROM list WHERE id > 2")
        if isSentBetween { try await pair.exchange(pair.desk, at: 3) }
        try pair.desk.edit(
            "INSERT INTO list (name) VALUES ('work'), ('books'), ('music');"
                + "INSERT INTO item (name, list_id) VALUES ('pens', 3), ('novel', 4), ('ink', 3), ('poem', 4)"
        )
        for minute in 4..<7 {
            try await pair.exchange(pair.desk, pair.phone, at: Double(minute))
        }
        #expect(try pair.desk.content() == pair.phone.content())
        let below = try pair.desk.rows(Self.items)
        #expect(below.contains("pens|work") && below.contains("novel|books"), "\(below)")
        for item in ["rake|work", "rake|books", "tent|work", "tent|books", "tent|music"] {
            #expect(!below.contains(item), "\(below)")
        }
    }

    @Test("is the former row's if its values are the same, as after an undo")
    func undone() async throws {
        let pair = try await devices()
        let ids = try pair.phone.rows("SELECT id FROM list WHERE name = 'party'")
        let list = try #require(TableName("list"))
        let id = try pair.desk.inspect { try $0.shadow.id(at: .rowID(2), in: list) }
        try pair.desk.edit("DELETE FROM list WHERE id = 2")
        try await pair.exchange(pair.desk, pair.phone, at: 2)
        try pair.desk.edit(
            "INSERT INTO list (id, name) VALUES (2, 'party'); INSERT INTO item VALUES (2, 'cake', 2)"
        )
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 3)
        #expect(try pair.desk.inspect { try $0.shadow.id(at: .rowID(2), in: list) } == id)
        try pair.expectEqual("SELECT id FROM list WHERE name = 'party'", ids)
        try pair.expectEqual("SELECT count(*) FROM item", ["6"])
    }

    @Test("that an application chooses is another row's, with AUTOINCREMENT too")
    func chosen() async throws {
        let pair = try await devices()
        try pair.desk.edit(
            "INSERT INTO seat (place, guest) VALUES ('A1', 'Ada'), ('A2', 'Bob'), ('A3', 'Cleo')"
        )
        try await pair.exchange(pair.desk, pair.phone, at: 2)
        try pair.desk.edit("DELETE FROM seat WHERE id = 2")
        try await pair.exchange(pair.desk, at: 3)
        try pair.phone.edit("UPDATE seat SET guest = 'Bert' WHERE id = 2")
        try pair.desk.edit("INSERT INTO seat (id, place, guest) VALUES (2, 'B7', 'Dora')")
        for minute in 4..<7 {
            try await pair.exchange(pair.desk, pair.phone, at: Double(minute))
        }
        #expect(try pair.desk.content() == pair.phone.content())
        let guests = try pair.desk.rows("SELECT place, guest FROM seat WHERE place = 'B7'")
        #expect(guests == ["B7|Dora"])
    }

    @Test("that sync freed is another row's, and the row that yielded stays itself")
    func freed() async throws {
        let pair = try await devices()
        for (device, guest) in [(pair.desk, "Ada"), (pair.phone, "Bob")] {
            try device.edit("INSERT INTO seat (place, guest) VALUES ('A1', '\(guest)')")
        }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, pair.phone, at: 2)
        let seat = try #require(TableName("seat"))
        #expect(try pair.desk.inspect { try $0.held.has(of: seat) })
        // The number of the row that yielded is free on one device.
        for (device, place) in [(pair.desk, "D"), (pair.phone, "P")] {
            try device.edit(
                """
                INSERT OR IGNORE INTO seat (id, place, guest) VALUES (1, '\(place)1', 'new on \(place)');
                INSERT OR IGNORE INTO seat (id, place, guest) VALUES (2, '\(place)2', 'new on \(place)')
                """
            )
        }
        for minute in 3..<7 {
            try await pair.exchange(pair.desk, pair.phone, at: Double(minute))
        }
        #expect(try pair.desk.content() == pair.phone.content())
        let guests = try pair.desk.rows("SELECT guest FROM seat ORDER BY place")
        // A1 is one of the first two; each new row is there, once.
        #expect(guests.count(where: { $0.hasPrefix("new") }) == guests.count - 1, "\(guests)")
        #expect(guests.contains("new on D") && guests.contains("new on P"), "\(guests)")
        // The other first row is kept, and comes back if the place is free.
        try pair.desk.edit("DELETE FROM seat WHERE place = 'A1'")
        for minute in 7..<10 {
            try await pair.exchange(pair.desk, pair.phone, at: Double(minute))
        }
        let back = try pair.desk.rows("SELECT guest FROM seat WHERE place = 'A1'")
        #expect(back.count == 1, "\(back)")
    }

    @Test("after a write that failed is the application's row, not the planned one")
    func failedWrite() async throws {
        struct Refused: Error {}
        let pair = try await devices()
        try pair.desk.edit("INSERT INTO list (name, color) VALUES ('work', 'red')")
        try await pair.exchange(pair.desk, at: 2)
        pair.phone.options.willWrite = { _ in throw Refused() }
        await #expect(throws: Refused.self) { try await pair.phone.sync(at: pair.start + 180) }
        pair.phone.options.willWrite = { _ in }
        try pair.phone.edit("INSERT INTO list (name, color) VALUES ('books', 'blue')")
        try await expectBoth(pair)
    }

    @Test("after a run that was killed is the application's row, not the planned one")
    func killedWrite() async throws {
        struct Killed: Error {}
        let pair = try await devices()
        try pair.desk.edit(
            "INSERT INTO list (name, color) VALUES ('work', 'red'), ('trip 2', 'red')"
        )
        try await pair.exchange(pair.desk, at: 2)
        pair.phone.options.passed = { if $0 == .planned { throw Killed() } }
        await #expect(throws: Killed.self) { try await pair.phone.sync(at: pair.start + 180) }
        pair.phone.options.passed = { _ in }
        try pair.phone.edit(
            "INSERT INTO list (name, color) VALUES ('books', 'blue'), ('music', 'red')"
        )
        try await expectBoth(pair)
        try pair.expectEqual("SELECT count(*) FROM list", ["8"])
    }

    /// Expects that the list of each device is there, on both.
    private func expectBoth(_ pair: DevicePair) async throws {
        for minute in 4..<7 {
            try await pair.exchange(pair.phone, pair.desk, at: Double(minute))
        }
        #expect(try pair.desk.content() == pair.phone.content())
        try pair.expectEqual(
            "SELECT name, color FROM list WHERE name IN ('books', 'work') ORDER BY 1",
            ["books|blue", "work|red"]
        )
    }

    @Test("after a run that was killed between its commit and its record loses no edit or deletion")
    func killedRecord() async throws {
        struct Killed: Error {}
        let pair = try await devices()
        let names = (1...10).map { "('list \($0)', 'red')" }.joined(separator: ", ")
        try pair.desk.edit("INSERT INTO list (name, color) VALUES \(names)")
        try await pair.exchange(pair.desk, at: 2)
        pair.phone.options.passed = { if $0 == .written { throw Killed() } }
        await #expect(throws: Killed.self) { try await pair.phone.sync(at: pair.start + 180) }
        pair.phone.options.passed = { _ in }
        try pair.phone.edit(
            """
            UPDATE list SET color = 'blue' WHERE name = 'list 4';
            DELETE FROM list WHERE name IN ('list 1', 'list 7', 'list 10')
            """
        )
        for minute in 4..<7 {
            try await pair.exchange(pair.phone, pair.desk, at: Double(minute))
        }
        #expect(try pair.desk.content() == pair.phone.content())
        try pair.expectEqual("SELECT count(*) FROM list WHERE color = 'red'", ["6"])
        try pair.expectEqual("SELECT name FROM list WHERE color = 'blue'", ["list 4"])
    }

    @Test("by two stores that were one, and are merged, leaves both rows")
    func merged() async throws {
        let scene = try AccidentScene()
        try await scene.begin()
        let (desk, phone) = (scene.desk, scene.phone)
        let disk = try phone.save()
        try desk.edit("INSERT INTO item (name, list_id) VALUES ('bread', 1), ('jam', 1)")
        try desk.edit("UPDATE item SET name = 'green tea' WHERE name = 'tea'")
        try await scene.exchange(desk, phone)
        try phone.putBackStore(disk)
        // It gets the number of the bread.
        try phone.edit("INSERT INTO item (name, list_id) VALUES ('salt', 1)")
        phone.options.rejoining = .merge
        try await scene.exchange(phone)
        phone.options.rejoining = nil
        try await scene.exchange(desk, phone)
        for device in [desk, phone] {
            let names = try device.rows("SELECT name FROM item ORDER BY 1")
            #expect(names.filter { $0 != "tea" } == ["bread", "green tea", "jam", "milk", "salt"])
        }
    }
}
