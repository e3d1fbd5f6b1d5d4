import Changes
import Files
import Foundation
import GRDB
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("What has failed elsewhere, with edits")
struct PublishedEditFailuresTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    private func expectEqual(_ items: [String]) throws {
        for device in [desk, phone] { #expect(try scene.items(device) == items) }
    }

    @Test("16. sqlite-data #274: one field edited on two devices offline")
    func oneField() async throws {
        try await scene.begin()
        try desk.edit("UPDATE item SET amount = 3 WHERE name = 'milk'")
        try await scene.exchange(desk)
        try phone.edit("UPDATE item SET amount = 4 WHERE name = 'milk'")
        try await scene.exchange(phone, desk, phone)
        try expectEqual(["milk|4|home", "tea|1|home"])
        #expect(try desk.conflicts == ["edited"])
        #expect(try phone.conflicts == [])
    }

    @Test("17. cr-sqlite #30: a change that a third device passes on keeps its author")
    func author() async throws {
        try await scene.begin()
        try desk.edit("UPDATE item SET amount = 3 WHERE name = 'milk'")
        try await scene.exchange(desk, phone)
        let id = try desk.ids()[0]
        for name in try scene.files("log") { try scene.remove("log", name) }
        phone.options.upkeep.files = 0
        phone.options.refills = true
        try await scene.exchange(phone)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        let amount = try #require(ColumnName("amount"))
        let authors = try tablet.inspect { access in
            var authors: Set<DeviceID> = []
            try access.states.forEach { row in
                if let cell = row.state.cell(amount), cell.value == .integer(3) {
                    authors.insert(cell.stamp.device)
                }
            }
            return authors
        }
        #expect(authors == [id])
    }

    @Test("18. corrosion #352: two devices delete one row")
    func twoDeletes() async throws {
        try await scene.begin()
        for device in [desk, phone] { try device.edit("DELETE FROM item WHERE name = 'tea'") }
        try await scene.exchange(desk, phone, desk, phone)
        try expectEqual(["milk|2|home"])
        #expect(try desk.conflicts + phone.conflicts == [])
        #expect(try await scene.exchange(desk).isQuiet)
    }

    @Test("19. verdant #320: older and newer schemas and baselines side by side")
    func schemas() async throws {
        try await scene.begin()
        try desk.edit(
            """
            ALTER TABLE item ADD COLUMN aisle TEXT DEFAULT '?'; CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO shop VALUES (1, 'corner'); UPDATE item SET aisle = '4' WHERE name = 'milk'
            """
        )
        desk.options.upkeep.files = 0
        phone.options.upkeep.files = 0
        phone.options.upkeep.deference = 0
        desk.options.upkeep.deference = 0
        try await scene.exchange(desk, phone)
        try phone.edit("UPDATE item SET amount = 9 WHERE name = 'milk'")
        try await scene.exchange(phone, desk)
        // The older one blanks no new column, and drops no new table.
        #expect(try desk.rows("SELECT amount, aisle FROM item WHERE name = 'milk'") == ["9|4"])
        #expect(try desk.rows("SELECT name FROM shop") == ["corner"])
        try phone.edit(
            "ALTER TABLE item ADD COLUMN aisle TEXT DEFAULT '?'; CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT)"
        )
        try phone.edit("INSERT INTO item (name) VALUES ('jam')")
        try await scene.exchange(phone, desk, phone)
        #expect(
            try phone.rows("SELECT name, aisle FROM item ORDER BY 1") == [
                "jam|?", "milk|4", "tea|?",
            ]
        )
        #expect(try phone.rows("SELECT name FROM shop") == ["corner"])
    }

    @Test("20. geodiff #62: remapped keys collide with keys further on")
    func collidingKeys() async throws {
        try await scene.begin()
        try desk.edit("INSERT INTO item VALUES (3, 'a', 1, 1), (4, 'b', 1, 1), (5, 'c', 1, 1)")
        try phone.edit("INSERT INTO item VALUES (3, 'x', 1, 1), (4, 'y', 1, 1), (6, 'z', 1, 1)")
        try await scene.exchange(desk, phone, desk)
        let all = ["a", "b", "c", "milk", "tea", "x", "y", "z"]
        for device in [desk, phone] {
            #expect(try device.rows("SELECT name FROM item ORDER BY 1") == all)
        }
    }

    @Test("21. geodiff #39: remapped parent, children follow")
    func remappedParent() async throws {
        try await scene.begin()
        try desk.edit(
            "INSERT INTO list VALUES (2, 'work'); INSERT INTO item VALUES (3, 'pens', 1, 2)"
        )
        try phone.edit(
            "INSERT INTO list VALUES (2, 'club'); INSERT INTO item VALUES (3, 'balls', 1, 2)"
        )
        try await scene.exchange(desk, phone, desk)
        try expectEqual(["balls|1|club", "milk|2|home", "pens|1|work", "tea|1|home"])
    }

    @Test("22. geodiff #210: UNIQUE in a rebase")
    func unique() async throws {
        let schema = "CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE, color TEXT)"
        let folder = LocalFolder(try scene.sandbox.directory("Tags"))
        let devices = try ["left", "right"].map {
            try Device($0, in: scene.sandbox, folder: folder, schema: schema)
        }
        let map = try SyncMap(
            json: Array(#"{"tables": {"tag": {"identity": ["name"]}}}"#.utf8),
            name: "map"
        )
        for device in devices {
            try await scene.enable(device, map: map)
            try await scene.exchange(device)
        }
        try devices[0].edit("INSERT INTO tag VALUES (1, 'new', 'red'), (2, 'old', 'blue')")
        try devices[1].edit("INSERT INTO tag VALUES (7, 'old', 'green'), (8, 'new', NULL)")
        for device in devices + devices { try await scene.exchange(device) }
        let names = "SELECT name FROM tag ORDER BY 1"
        for device in devices { #expect(try device.rows(names) == ["new", "old"]) }
        // Who renames one leaves no double behind.
        try devices[1].edit("UPDATE tag SET name = 'newest' WHERE name = 'new'")
        for device in devices.reversed() + devices { try await scene.exchange(device) }
        for device in devices { #expect(try device.rows(names) == ["newest", "old"]) }
        let all = "SELECT name, color FROM tag ORDER BY 1"
        #expect(try devices[0].rows(all) == devices[1].rows(all))
    }

    @Test("23. geodiff #146: two columns of one row")
    func twoColumns() async throws {
        try await scene.begin()
        try desk.edit("UPDATE item SET amount = 3 WHERE name = 'milk'")
        try phone.edit("UPDATE item SET name = 'oat milk' WHERE name = 'milk'")
        try await scene.exchange(desk, phone, desk)
        try expectEqual(["oat milk|3|home", "tea|1|home"])
        #expect(try desk.conflicts + phone.conflicts == [])
    }

    @Test("24. geodiff #248: an edit lost to a delete is listed")
    func lostToDelete() async throws {
        try await scene.begin()
        try phone.edit("UPDATE item SET amount = 8 WHERE name = 'tea'")
        try desk.edit("DELETE FROM item WHERE name = 'tea'")
        try await scene.exchange(desk, phone, desk)
        try expectEqual(["milk|2|home"])
        #expect(try phone.conflicts == ["deleted"])
    }

    @Test("24. As that, and a device that had heard of the edit made the row again")
    func lostToRevival() async throws {
        try await scene.begin()
        try desk.edit("UPDATE unit SET note = 'a thousand' WHERE name = 'kg'")
        try phone.edit("DELETE FROM unit WHERE name = 'kg'")
        let before = try scene.files("log")
        try await scene.exchange(phone)
        let deletion = try #require(Set(try scene.files("log")).subtracting(before).first)
        let file = scene.container.appending("a/log").appending(deletion)
        let away = scene.container.appending(deletion)
        try FileManager.default.moveItem(atPath: file.string, toPath: away.string)
        try await scene.exchange(desk, phone)
        try phone.edit("INSERT INTO unit VALUES ('kg', 1, 'new')")
        try await scene.exchange(phone, desk)
        // The phone sends the deletion again, since its file is gone.
        #expect(try desk.conflicts == ["deleted"])
        try FileManager.default.moveItem(atPath: away.string, toPath: file.string)
        try await scene.exchange(desk, phone)
        #expect(try desk.conflicts == ["deleted"])
        for device in [desk, phone] {
            #expect(try device.rows("SELECT * FROM unit") == ["kg|1.0|new"])
        }
    }

    @Test(
        "25. Actual #3786, #8486, Evolu #709: a clock an hour, a month, 40 years off",
        arguments: [3600.0, 2_592_000.0, 1_261_440_000.0, -1_261_440_000.0]
    )
    func clocks(_ skew: Double) async throws {
        phone.skew = skew
        try await scene.begin()
        try phone.edit("UPDATE item SET amount = 8 WHERE name = 'tea'")
        try await scene.exchange(phone, desk)
        try expectEqual(["milk|2|home", "tea|8|home"])
        // Who has seen that edit wins over it, whatever the clocks say.
        try desk.edit("UPDATE item SET amount = 9 WHERE name = 'tea'")
        try await scene.exchange(desk, phone)
        try expectEqual(["milk|2|home", "tea|9|home"])
        phone.skew = 0
        try phone.edit("UPDATE item SET amount = 10 WHERE name = 'tea'")
        try await scene.exchange(phone, desk)
        try expectEqual(["milk|2|home", "tea|10|home"])
    }

    @Test("26. Actual #628: the same change delivered by two ways")
    func twoWays() async throws {
        try await scene.begin()
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        desk.options.upkeep.files = 0
        desk.options.upkeep.deference = 0
        try await scene.exchange(desk)
        // The change file and the baseline both have it, and the phone reads both.
        try await scene.exchange(phone, desk, phone)
        try expectEqual(["jam|1|NULL", "milk|2|home", "tea|1|home"])
    }

    @Test("27. Joplin #883, #5904, #5822: the folder is emptied or changed; nothing local goes")
    func emptied() async throws {
        try await scene.begin()
        try scene.empty()
        for _ in 0..<2 { try await scene.exchange(desk, phone) }
        try expectEqual(["milk|2|home", "tea|1|home"])
        let other = LocalFolder(try scene.sandbox.directory("Other"))
        desk.folder = other
        await #expect(throws: SyncDecision.self) { try await scene.exchange(desk) }
        try expectEqual(["milk|2|home", "tea|1|home"])
    }

    @Test("28. Joplin #1358: a new device with little must not delete what others have")
    func newDevice() async throws {
        try await scene.begin()
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet, desk, phone, tablet)
        try expectEqual(["milk|2|home", "tea|1|home"])
        #expect(try scene.items(tablet) == ["milk|2|home", "tea|1|home"])
    }
}
