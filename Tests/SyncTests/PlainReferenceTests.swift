import Changes
import Foundation
import Stores
import Testing

@testable import Sync

@Suite("Values that name no row")
struct PlainReferenceTests {
    /// A reference, a value in it, and whether SQLite finds the row that it names.
    struct Case: CustomTestStringConvertible, Sendable {
        var parent = "id INTEGER PRIMARY KEY, name TEXT"
        var key = "id"
        var column = "INTEGER"
        var value: String
        var names: Bool

        var testDescription: String { "\(value) in a column \(column) for (\(parent))" }
    }

    static let words = "id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE"
    static let cases: [Case] = [
        Case(value: "7", names: true), Case(value: "0", names: false),
        Case(value: "-1", names: false), Case(value: "9007199254740993", names: false),
        Case(value: "'seven'", names: false), Case(value: "x'37'", names: false),
        Case(column: "TEXT", value: "'7'", names: true),
        Case(column: "TEXT", value: "'7.5'", names: false),
        Case(column: "TEXT", value: "''", names: false),
        Case(column: "", value: "7.0", names: true), Case(column: "", value: "' 7'", names: true),
        Case(column: "", value: "x'37'", names: false),
        Case(column: "REAL", value: "7.25", names: false),
        Case(column: "INTEGER NOT NULL DEFAULT 0", value: "0", names: false),
        Case(parent: words, key: "name", column: "TEXT", value: "'KG'", names: true),
        Case(parent: words, key: "name", column: "TEXT", value: "'kg '", names: false),
        Case(
            parent: "id INTEGER PRIMARY KEY, name TEXT UNIQUE",
            key: "name",
            column: "TEXT",
            value: "'KG'",
            names: false
        ),
        Case(
            parent: "id TEXT PRIMARY KEY, name TEXT",
            column: "INTEGER",
            value: "7",
            names: true
        ),
        Case(
            parent: "id TEXT PRIMARY KEY, name TEXT",
            column: "",
            value: "7.0",
            names: false
        ),
    ]

    @Test("travel as they are; others follow the row that SQLite finds", arguments: cases)
    func value(_ test: Case) async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE unit (\(test.parent));
                CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT,
                    unit \(test.column) REFERENCES unit(\(test.key)) ON DELETE CASCADE);
                """,
            enforcesReferences: false
        )
        let (desk, phone) = (pair.desk, pair.phone)
        try desk.edit(
            "INSERT INTO unit VALUES (7, 'kg'); INSERT INTO item VALUES (1, 'milk', \(test.value))"
        )
        // Its own 7 is another row.
        if !test.parent.contains("id TEXT") { try phone.edit("INSERT INTO unit VALUES (7, 'mg')") }
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, desk, at: 1)
        let items = "SELECT typeof(unit), unit FROM item"
        #expect(try desk.rows(items) == desk.rows("SELECT typeof(unit), unit FROM item"))
        let joined = "SELECT u.name FROM item i JOIN unit u ON u.\(test.key) = i.unit"
        if test.names {
            for device in [desk, phone] {
                #expect(try device.rows(joined) == ["kg"], "\(device.name)")
            }
        } else {
            #expect(try phone.rows(items) == desk.rows(items))
        }
        try phone.edit("UPDATE item SET title = 'oat milk'; DELETE FROM unit WHERE name = 'kg'")
        try await pair.exchange(phone, desk, phone, at: 2)
        for device in [desk, phone] {
            let expected = test.names ? [] : ["oat milk"]
            #expect(try device.rows("SELECT title FROM item") == expected, "\(device.name)")
        }
        #expect(try await desk.sync(at: pair.start + 600).isQuiet)
    }

    @Test("stay where the numbers of the columns are another row's there")
    func compositeAndRoots() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE month (y INTEGER, m INTEGER, PRIMARY KEY (y, m));
                CREATE TABLE event (id INTEGER PRIMARY KEY, y INTEGER, m INTEGER,
                    FOREIGN KEY (y, m) REFERENCES month);
                CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
                    parent_id INTEGER NOT NULL DEFAULT 0 REFERENCES folder(id));
                """,
            enforcesReferences: false
        )
        let (desk, phone) = (pair.desk, pair.phone)
        try desk.edit(
            """
            INSERT INTO month VALUES (2026, 11);
            INSERT INTO event (y, m) VALUES (2026, 11), (2026, 12), (2026, NULL);
            INSERT INTO folder VALUES (1, 'bills', 0), (2, 'phone', 1)
            """
        )
        try phone.edit("INSERT INTO folder VALUES (1, 'car', 0), (2, 'lost', 91)")
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, desk, phone, at: 1)
        try pair.expectEqual(
            "SELECT y, m FROM event ORDER BY y, m",
            ["2026|NULL", "2026|11", "2026|12"]
        )
        try pair.expectEqual(
            """
            SELECT f.name, coalesce(p.name, f.parent_id) FROM folder f
            LEFT JOIN folder p ON p.id = f.parent_id ORDER BY 1
            """,
            ["bills|0", "car|0", "lost|91", "phone|bills"]
        )
        // Once it is deleted elsewhere, only what named it is without it.
        try phone.edit("DELETE FROM month")
        try await pair.exchange(phone, desk, at: 2)
        try pair.expectEqual(
            "SELECT y, m FROM event ORDER BY y, m",
            ["NULL|NULL", "2026|NULL", "2026|12"]
        )
    }

    @Test("stay where the row that has the number goes in the same exchange")
    func numberOfRemoved() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT,
                    parent_id INTEGER REFERENCES folder(id) ON DELETE CASCADE);
                CREATE TABLE unit (name TEXT PRIMARY KEY COLLATE NOCASE);
                INSERT INTO folder VALUES (1, 'old', 0); INSERT INTO unit VALUES ('milk');
                """,
            enforcesReferences: false
        )
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 1)
        try pair.desk.edit("DELETE FROM folder; INSERT INTO folder VALUES (2, 'new', 1)")
        try pair.desk.edit("DELETE FROM unit; INSERT INTO unit VALUES ('Milk')")
        try await pair.exchange(pair.desk, pair.phone, at: 2)
        try pair.expectEqual("SELECT name, parent_id FROM folder", ["new|1"])
        // A key that SQLite compares as equal takes the place of another.
        try pair.expectEqual("SELECT name FROM unit", ["Milk"])
        try pair.desk.edit("DELETE FROM unit")
        try await pair.exchange(pair.desk, pair.phone, at: 3)
        try pair.expectEqual("SELECT name FROM unit", [])
    }

    @Test("are found by the affinity and the collation of the key")
    func comparison() {
        func text(_ text: String) -> StoredValue { .text(StoredBytes(Array(text.utf8))) }
        func real(_ number: Double) -> StoredValue { .real(bits: number.bitPattern) }
        let rules: [(StoredValue, ColumnSchema.Affinity, StoredValue)] = [
            (text("1"), .integer, .integer(1)), (text(" +1.0 "), .integer, .integer(1)),
            (text("1e2"), .numeric, .integer(100)), (text("1.5"), .real, real(1.5)),
            (text("0x1"), .integer, text("0x1")), (text("1 2"), .integer, text("1 2")),
            (text(""), .integer, text("")), (real(2), .integer, .integer(2)),
            (real(2), .text, text("2.0")), (.integer(2), .text, text("2")),
            (real(1e300), .integer, real(1e300)), (real(2), .blob, .integer(2)),
            (text("2"), .blob, text("2")),
            (.blob(StoredBytes([0x32])), .integer, .blob(StoredBytes([0x32]))),
            (.null, .text, .null),
        ]
        for (value, affinity, expected) in rules {
            #expect(KeyComparison.folded(value, affinity) == expected, "\(value) \(affinity)")
        }
    }
}
