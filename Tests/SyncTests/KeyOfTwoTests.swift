import Foundation
import Testing

@testable import Sync

@Suite("A text key that two devices change, unseen by each other")
struct KeyOfTwoTests {
    private let pair: DevicePair
    private let content = KeyChangeTests.unitContent

    init() throws { pair = try DevicePair(schema: KeyChangeTests.units, enforcesReferences: true) }

    private func begin() async throws {
        try pair.desk.edit(KeyChangeTests.unitRows)
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
    }

    @Test(
        "is that of one row if both give it another one; the later one stays",
        arguments: [true, false]
    )
    func renamedByBoth(isPhoneLater: Bool) async throws {
        try await begin()
        try pair.desk.edit(
            """
            UPDATE unit SET name = 'kilogram' WHERE name = 'kg';
            INSERT INTO item (name, unit) VALUES ('i4', 'kilogram')
            """
        )
        try pair.phone.edit("UPDATE unit SET name = 'kilo', factor = 7 WHERE name = 'kg'")
        let (first, last) = isPhoneLater ? (pair.desk, pair.phone) : (pair.phone, pair.desk)
        try await pair.exchange(first, at: 2)
        try await pair.exchange(last, first, last, first, at: 3)
        let name = isPhoneLater ? "kilo" : "kilogram"
        try pair.expectEqual(
            content,
            ["g|gram|1|i3", "\(name)|kilo|7|i1,i2,i4", "x|unused|0|NULL"]
        )
        // The edits of both go on to be edits of one row.
        try await pair.edit(
            desk: "UPDATE unit SET note = 'edited' WHERE name = '\(name)'",
            phone: "INSERT INTO item (name, unit) VALUES ('i5', '\(name)')",
            at: 4
        )
        try pair.expectEqual(
            content,
            ["g|gram|1|i3", "\(name)|edited|7|i1,i2,i4,i5", "x|unused|0|NULL"]
        )
    }

    @Test("is another row's if the row at it is one that the other device has inserted since")
    func renamedAfterInsert() async throws {
        try await begin()
        try await pair.edit(
            desk: "UPDATE unit SET name = 'kilogram' WHERE name = 'kg'",
            phone: "SELECT 1",
            at: 2
        )
        try pair.phone.edit(
            "INSERT INTO unit VALUES ('kg', 'other', 5); INSERT INTO item (name, unit) VALUES ('i4', 'kg')"
        )
        try await pair.phone.sync(at: pair.start + 180)
        try pair.phone.edit("UPDATE unit SET name = 'keg' WHERE name = 'kg'")
        try await pair.phone.sync(at: pair.start + 240)
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 5)
        try pair.expectEqual(
            content,
            [
                "g|gram|1|i3", "keg|other|5|i4", "kilogram|kilo|1000|i1,i2", "x|unused|0|NULL",
            ]
        )
    }

    @Test("that a new row of another device has as well makes them one; what is replaced is listed")
    func renamedOntoNew() async throws {
        try await begin()
        try await pair.edit(
            desk: "UPDATE unit SET note = 'by the desk' WHERE name = 'kg'",
            phone: "SELECT 1",
            at: 2
        )
        try pair.desk.edit("UPDATE unit SET name = 'K' WHERE name = 'kg'")
        try pair.phone.edit("INSERT INTO unit VALUES ('K', 'by the phone', 7)")
        try await pair.exchange(pair.desk, at: 3)
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 4)
        try pair.expectEqual("SELECT note FROM unit WHERE name = 'K'", ["by the phone"])
        let sidecar = try Sidecar(in: pair.desk.sidecarPath)
        #expect(try sidecar.conflicts().contains { $0.lost == "by the desk" })
        try sidecar.close()
    }

    @Test("is followed by the rows whose own keys contain it, and by edits and rows of the other")
    func joinRows() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE list (name TEXT PRIMARY KEY);
                CREATE TABLE entry (list TEXT REFERENCES list(name) ON UPDATE CASCADE ON DELETE CASCADE,
                    item TEXT, qty INTEGER, PRIMARY KEY (list, item));
                """,
            enforcesReferences: true
        )
        try pair.desk.edit(
            """
            INSERT INTO list VALUES ('Shop'), ('Home');
            INSERT INTO entry VALUES ('Shop', 'eggs', 2), ('Shop', 'milk', 1), ('Shop', 'tea', 4), ('Home', 'jam', 3)
            """
        )
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, at: 1)
        try await pair.edit(
            desk: "UPDATE list SET name = 'Market' WHERE name = 'Shop'",
            phone: """
                INSERT INTO entry VALUES ('Shop', 'jam', 9); UPDATE entry SET qty = 20 WHERE item = 'eggs';
                DELETE FROM entry WHERE item = 'tea'
                """,
            at: 2
        )
        try pair.expectEqual(
            "SELECT * FROM entry ORDER BY 1, 2",
            ["Home|jam|3", "Market|eggs|20", "Market|jam|9", "Market|milk|1", "Market|tea|4"]
        )
        // The deletion is listed, for its row has another key.
        #expect(try pair.phone.conflicts.contains("renamed"))
        for device in [pair.desk, pair.phone] { #expect(try device.unshown.isEmpty) }
    }
}
