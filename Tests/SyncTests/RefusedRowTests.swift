import Changes
import Foundation
import GRDB
import Testing

@testable import Sync

@Suite("What a store refuses")
struct RefusedRowTests {
    /// A schema of which two edits, each right, would make a row that is wrong.
    static let tied = [
        "CREATE TABLE span (id INTEGER PRIMARY KEY, a INT, b INT, CHECK (a <= b))",
        "CREATE TABLE span (id INTEGER PRIMARY KEY, a INT CHECK (span.\"a\" <= [b]), b INT)",
        "CREATE TABLE span (id INTEGER PRIMARY KEY, a INT, b INT, c INT, CHECK (a <= c), CHECK (b >= c OR c IS NULL))",
        "CREATE TABLE span (id INTEGER PRIMARY KEY, a INT, b INT, UNIQUE (a, b))",
    ]

    @Test(
        "never comes of two edits of columns that have to fit: the later edit wins all",
        arguments: tied
    )
    func groups(_ schema: String) async throws {
        let pair = try DevicePair(schema: schema)
        let (desk, phone) = (pair.desk, pair.phone)
        try desk.edit("INSERT INTO span (id, a, b) VALUES (1, 2, 5)")
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, at: 1)
        try desk.edit("UPDATE span SET a = 5")
        try await pair.exchange(desk, at: 2)
        try phone.edit("UPDATE span SET b = 3")
        try await pair.exchange(phone, desk, at: 3)
        try pair.expectEqual("SELECT a, b FROM span", ["2|3"])
        #expect(try desk.conflicts.allSatisfy { $0 == "edited" })
        #expect(try !desk.conflicts.isEmpty)
        // What lost is taken back as a whole, too.
        let sidecar = try Sidecar(in: desk.sidecarPath)
        let number = try #require(try sidecar.conflicts().first?.number)
        let later = pair.start + 240
        #expect(try sidecar.takeConflict(number, at: later, program: "test 1") == .taken)
        try sidecar.close()
        try await pair.exchange(desk, phone, at: 5)
        try pair.expectEqual("SELECT a, b FROM span", ["5|5"])
        #expect(try desk.conflicts.isEmpty)
    }

    @Test(
        "never comes of a value that is taken back: those that have to fit it come with it",
        arguments: [
            (["lo = 15, hi = 20"], "hi"), (["lo = 15, hi = 20"], "lo"),
            (["hi = 20", "lo = 15"], "hi"), (["lo = 15, hi = 20", "hi = 30"], "lo"),
        ]
    )
    func taken(_ edits: [String], _ column: String) async throws {
        let pair = try DevicePair(
            schema: "CREATE TABLE span (id INTEGER PRIMARY KEY, lo INT, hi INT, CHECK (lo <= hi))"
        )
        let (desk, phone) = (pair.desk, pair.phone)
        try desk.edit("INSERT INTO span VALUES (1, 1, 10)")
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, at: 1)
        for (minutes, edit) in zip([2.0, 3.0], edits) {
            try desk.edit("UPDATE span SET \(edit)")
            try await pair.exchange(desk, phone, at: minutes)
        }
        let sidecar = try Sidecar(in: phone.sidecarPath)
        let replaced = try sidecar.conflicts(all: true).filter { $0.column == column }
        let number = try #require(replaced.map(\.number).min())
        let later = pair.start + 240
        #expect(try sidecar.takeConflict(number, at: later, program: "test 1") == .taken)
        try sidecar.close()
        try await pair.exchange(phone, desk, at: 5)
        try pair.expectEqual("SELECT lo, hi FROM span", ["1|10"])
        #expect(try phone.unshown.isEmpty)
    }

    @Test(
        "is nothing that a text in double quotes allows",
        arguments: [
            "k TEXT CHECK (k IN (\"a\", \"b\")), n TEXT)",
            "k TEXT, n TEXT, g TEXT AS (k || \"-\" || n) STORED)",
            "k TEXT DEFAULT \"a\", n TEXT NOT NULL DEFAULT \"x\")",
            "k TEXT, n TEXT); CREATE UNIQUE INDEX u ON t (k) WHERE n <> \"gone\"",
            "k TEXT, n TEXT); CREATE UNIQUE INDEX u ON t (coalesce(k, \"none\"), n)",
            """
            k TEXT, n TEXT); CREATE TABLE h (id INTEGER PRIMARY KEY, x TEXT);
            CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO h (x) VALUES ("new " || new.n); END
            """,
            """
            k TEXT, n TEXT); CREATE VIEW v AS SELECT * FROM t WHERE k = "a"; CREATE TRIGGER vt
            INSTEAD OF INSERT ON v BEGIN INSERT INTO t (k) VALUES ("a"); END
            """,
        ]
    )
    func quotedTexts(_ columns: String) async throws {
        let pair = try DevicePair(schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, \(columns)")
        for device in [pair.desk, pair.phone] { try await device.enable(at: pair.start) }
        try pair.desk.edit("INSERT INTO t (k, n) VALUES ('a', 'desk')")
        try pair.phone.edit("INSERT INTO t (k, n) VALUES ('b', 'phone')")
        try await pair.exchange(pair.desk, pair.phone, pair.desk, at: 1)
        try pair.expectEqual("SELECT k, n FROM t ORDER BY k", ["a|desk", "b|phone"])
    }

    @Test("is held with SQLite's words, keeps no other row, and appears once it is allowed")
    func words() async throws {
        let pair = try DevicePair(
            schema: "CREATE TABLE tally (day INTEGER, place TEXT UNIQUE, n INTEGER)"
        )
        let (desk, phone) = (pair.desk, pair.phone)
        let map = try SyncMap(
            json: Array(#"{"tables": {"tally": {"identity": ["day"]}}}"#.utf8),
            name: "map"
        )
        // A row without a name stays on its device, and no other device knows it.
        try phone.edit("INSERT INTO tally VALUES (NULL, 'home', 9)")
        for device in [desk, phone] {
            try await device.enable(at: pair.start, map: map)
            try await device.sync(at: pair.start)
        }
        try desk.edit("INSERT INTO tally VALUES (1, 'home', 1), (2, 'work', 2)")
        try await pair.exchange(desk, phone, at: 1)
        #expect(
            try phone.rows("SELECT day, place FROM tally ORDER BY 1") == ["NULL|home", "2|work"]
        )
        let unshown = try Sidecar(in: phone.sidecarPath).unshownRows()
        #expect(unshown.map(\.words) == ["UNIQUE constraint failed: tally.place"])
        try phone.edit("DELETE FROM tally WHERE day IS NULL")
        try await pair.exchange(phone, at: 2)
        #expect(try phone.rows("SELECT day, place FROM tally ORDER BY 1") == ["1|home", "2|work"])
    }

    @Test("keeps no other row, if an application adds rows to one that is to go, again and again")
    func children() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE item (id INTEGER PRIMARY KEY, list INT NOT NULL REFERENCES list (id))
                """
        )
        let (desk, phone) = (pair.desk, pair.phone)
        try desk.edit("INSERT INTO list VALUES (1, 'old')")
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, at: 1)
        try desk.edit("DELETE FROM list; INSERT INTO list VALUES (2, 'new')")
        try await pair.exchange(desk, at: 2)
        phone.options.passed = { [queue = phone.queue] step in
            guard step == .planned else { return }
            try queue.write { database in
                try database.execute(
                    sql: "INSERT INTO item (list) SELECT 1 WHERE (SELECT count(*) FROM item) < 2"
                )
            }
        }
        try await pair.exchange(phone, at: 3)
        phone.options.passed = { _ in }
        #expect(try phone.rows("SELECT name FROM list ORDER BY id") == ["old", "new"])
        let waiting = try phone.unshown.filter(\.waits)
        #expect(waiting.map(\.reason) == ["a change of it waits: rows of 'item' refer to it"])
        try await pair.exchange(phone, at: 4)
        #expect(try phone.rows("SELECT name FROM list") == ["new"])
        #expect(try phone.unshown.allSatisfy { !$0.waits })
    }

    @Test(
        "is found before, by the store's own indexes",
        arguments: [
            "low TEXT AS (lower(email)) STORED UNIQUE", "low TEXT AS (lower(email)) VIRTUAL UNIQUE",
            "low TEXT UNIQUE COLLATE NOCASE AS (email)", "low UNIQUE AS (length(email) * 1.0)",
        ]
    )
    func generated(_ column: String) async throws {
        let pair = try DevicePair(
            schema: "CREATE TABLE user (id INTEGER PRIMARY KEY, email TEXT, \(column))"
        )
        for device in [pair.desk, pair.phone] {
            try await device.enable(at: pair.start)
            try await device.sync(at: pair.start)
        }
        try pair.desk.edit("INSERT INTO user (email) VALUES ('anna@x')")
        try pair.phone.edit("INSERT INTO user (email) VALUES ('Anna@x')")
        try await pair.exchange(pair.desk, at: 1)
        try await pair.exchange(pair.phone, pair.desk, pair.phone, at: 2)
        try pair.expectEqual("SELECT email FROM user", ["anna@x"])
        #expect(try pair.phone.inspect { try $0.dirty.refusals() }.isEmpty)
    }
}
