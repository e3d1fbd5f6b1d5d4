import Foundation
import Testing

@testable import Sync

@Suite("A number that is free")
struct FreeNumberTests {
    private static let schema = """
        CREATE TABLE status (id INTEGER PRIMARY KEY, text TEXT);
        CREATE TABLE reply (id INTEGER PRIMARY KEY, status_id INTEGER REFERENCES status(id));
        """
    private static let replies = """
        SELECT r.status_id, s.text FROM reply r JOIN status s ON s.id = r.status_id
        """

    @Test(
        "is kept, whatever it is",
        arguments: [
            0, -1, 1, 20, 1 << 53, (1 << 53) + 1, 672_077_601_305_968_640, .max, .min,
        ] as [Int64]
    )
    func kept(_ number: Int64) async throws {
        let pair = try DevicePair(schema: Self.schema)
        try pair.desk.edit(
            "INSERT INTO status VALUES (\(number), 'a'); INSERT INTO reply VALUES (5, \(number))"
        )
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 1)
        try pair.expectEqual(Self.replies, ["\(number)|a"])
    }

    @Test(
        "is all that another row gets instead of one that is taken",
        arguments: [0, -7, 3, .max] as [Int64]
    )
    func taken(_ number: Int64) async throws {
        let pair = try DevicePair(schema: Self.schema)
        for (device, text) in [(pair.desk, "desk"), (pair.phone, "phone")] {
            try device.edit(
                """
                INSERT INTO status VALUES (\(number), '\(text)'); INSERT INTO reply VALUES (NULL, \(number))
                """
            )
            try await device.enable(at: pair.start)
        }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, pair.phone, at: 1)
        for (device, text) in [(pair.desk, "desk"), (pair.phone, "phone")] {
            // Its own row has the number, the other one has another, and the references follow.
            #expect(try device.rows("SELECT text FROM status WHERE id = \(number)") == [text])
            let texts = try device.rows(
                "SELECT s.text FROM reply r JOIN status s ON s.id = status_id ORDER BY 1"
            )
            #expect(texts == ["desk", "phone"])
        }
    }
}
