import Changes
import Files
import Foundation
import Testing

@testable import Sync

@Suite("A table or a column that a new schema may have renamed")
struct RenameTests {
    static let schema = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, qty INT);
        CREATE TABLE list (id INTEGER PRIMARY KEY, title TEXT);
        INSERT INTO item VALUES (1, 'milk', 5), (2, 'eggs', 12);
        """

    let pair: DevicePair

    init() throws { pair = try DevicePair(schema: Self.schema) }

    private var desk: Device { pair.desk }
    private var phone: Device { pair.phone }

    private func begin() async throws {
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, desk, at: 1)
    }

    @Test(
        "waits for a person, whose answer keeps each row and edit once",
        arguments: [
            (
                "ALTER TABLE item RENAME TO thing",
                SyncRefusal.renamed(table: "thing", column: nil, was: "item"),
                #"{"tables": {"thing": {"was": "item"}}}"#, "SELECT name, qty FROM thing ORDER BY 1"
            ),
            (
                "ALTER TABLE item RENAME COLUMN qty TO amount",
                SyncRefusal.renamed(table: "item", column: "amount", was: "qty"),
                #"{"tables": {"item": {"columns": {"amount": {"was": "qty"}}}}}"#,
                "SELECT name, amount FROM item ORDER BY 1"
            ),
            (
                """
                CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT, amount REAL);
                INSERT INTO n SELECT id, name, qty FROM item;
                DROP TABLE item; ALTER TABLE n RENAME TO item
                """,
                SyncRefusal.renamed(table: "item", column: "amount", was: "qty"),
                #"{"tables": {"item": {"columns": {"amount": {"was": "qty"}}}}}"#,
                "SELECT name, CAST(amount AS INTEGER) FROM item ORDER BY 1"
            ),
        ]
    )
    func asked(change: String, refusal: SyncRefusal, map: String, query: String) async throws {
        try await begin()
        try desk.edit(change)
        await #expect(throws: refusal) { try await pair.exchange(desk, at: 2) }
        #expect(refusal.outcome == .needsDecision)
        try phone.edit("UPDATE item SET qty = 6 WHERE id = 1")
        try await pair.exchange(phone, at: 3)
        try desk.publish(map, at: pair.start + 4 * 60)
        try await pair.exchange(desk, at: 5)
        // The other device has the answer before it asks by itself.
        try phone.edit(change)
        try await pair.exchange(phone, desk, phone, at: 6)
        try pair.expectEqual(query, ["eggs|12", "milk|6"])
    }

    @Test("is a new one if the map gives it its own name")
    func new() async throws {
        try await begin()
        try desk.edit("ALTER TABLE item RENAME TO thing")
        try desk.publish(#"{"tables": {"thing": {"was": "thing"}}}"#, at: pair.start + 2 * 60)
        try await pair.exchange(desk, phone, at: 3)
        #expect(try desk.rows("SELECT count(*) FROM thing") == ["2"])
        #expect(try phone.rows("SELECT count(*) FROM item") == ["2"])
    }

    @Test(
        "is not asked for if nothing like it is gone",
        arguments: [
            "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, qty INT)",
            "DROP TABLE list; CREATE TABLE place (id INTEGER PRIMARY KEY, street TEXT, town TEXT)",
            "ALTER TABLE item ADD COLUMN amount INT", "ALTER TABLE item DROP COLUMN qty",
            "ALTER TABLE item DROP COLUMN qty; ALTER TABLE item ADD COLUMN unit TEXT",
        ]
    )
    func unasked(change: String) async throws {
        try await begin()
        try desk.edit(change)
        try await pair.exchange(desk, phone, at: 2)
        #expect(try phone.rows("SELECT name, qty FROM item ORDER BY 1") == ["eggs|12", "milk|5"])
    }

    @Test("shows rows of older devices with the value that a default has when they are first shown")
    func computedDefaults() async throws {
        try await begin()
        try desk.edit(
            """
            CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT, qty INT,
                made TEXT NOT NULL DEFAULT (lower(hex(randomblob(8)))));
            INSERT INTO n (id, name, qty) SELECT * FROM item; DROP TABLE item; ALTER TABLE n RENAME TO item
            """
        )
        try await pair.exchange(desk, at: 2)
        try phone.edit("INSERT INTO item (name) VALUES ('figs')")
        try await pair.exchange(phone, desk, phone, desk, at: 3)
        let made = try desk.rows("SELECT name, made FROM item WHERE length(made) = 16 ORDER BY 1")
        #expect(made.count == 3)
        // The other device shows the same values, and keeps them.
        try phone.edit("ALTER TABLE item ADD COLUMN made TEXT NOT NULL DEFAULT ''")
        try await pair.exchange(phone, desk, phone, at: 8)
        try pair.expectEqual("SELECT name, made FROM item ORDER BY 1", made)
        try phone.edit("UPDATE item SET made = 'edited' WHERE name = 'figs'")
        try await pair.exchange(phone, desk, at: 12)
        try pair.expectEqual("SELECT made FROM item WHERE name = 'figs'", ["edited"])
    }
}
