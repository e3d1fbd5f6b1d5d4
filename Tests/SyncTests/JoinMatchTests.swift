import Changes
import Files
import Foundation
import GRDB
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("A store that joins a group")
struct JoinMatchTests {
    static let schema = """
        CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount INTEGER DEFAULT 1,
            list_id INTEGER REFERENCES list(id) ON DELETE CASCADE);
        CREATE TABLE tag (id TEXT PRIMARY KEY, name TEXT, item_id INTEGER REFERENCES item(id));
        CREATE TABLE flag (id TEXT PRIMARY KEY);
        """

    let scene: AccidentScene
    private let desk: Device
    private let phone: Device

    init() throws {
        scene = try AccidentScene()
        let folder = LocalFolder(scene.container)
        desk = try Device("a desk", in: scene.sandbox, folder: folder, schema: Self.schema)
        phone = try Device("a phone", in: scene.sandbox, folder: folder, schema: Self.schema)
        for device in [desk, phone] { device.options.machine = device.name }
    }

    /// The desk has edited and deleted since; the phone has what both had at first, and a row of its own.
    private func begin() async throws {
        let rows = """
            INSERT INTO list VALUES (1, 'home');
            INSERT INTO item VALUES (1, 'milk', 2, 1), (2, 'tea', 1, 1), (3, 'salt', 1, 1);
            """
        for device in [desk, phone] {
            try device.edit(rows)
            try device.edit("INSERT INTO tag VALUES (?, 'dairy', 1)", ["\(device.name) 1"])
            try device.edit("INSERT INTO flag VALUES (?)", [device.name])
        }
        try await scene.enable(desk)
        try await scene.exchange(desk)
        try desk.edit("UPDATE item SET amount = 5 WHERE id = 1; DELETE FROM item WHERE id = 3")
        try await scene.exchange(desk)
        try phone.edit("INSERT INTO item VALUES (9, 'figs', 1, 1)")
    }

    private func preview(_ match: JoinMatch?) async throws -> JoinPreview {
        try await JoinPreview(
            of: phone.store,
            joining: phone.container(),
            Enrolment(in: phone.container()).look(),
            excluded: [],
            match: match,
            at: scene.now,
            options: phone.options
        )
    }

    private func join(_ match: JoinMatch?) async throws -> JoinPreview {
        let before = try scene.sandbox.contents(of: "Container")
        let enrolment = Enrolment(in: phone.container())
        let look = try await enrolment.look()
        let preview = try await preview(match)
        #expect(try scene.sandbox.contents(of: "Container") == before)
        #expect(try !Sidecar.isThere(in: phone.sidecarPath))
        let sidecar = try Sidecar(in: phone.sidecarPath)
        try enrolment.enrol(
            sidecar,
            as: "phone",
            look,
            map: SyncMap(),
            match: match,
            at: scene.now,
            program: "test 1"
        )
        try sidecar.close()
        try await scene.exchange(phone, desk, phone)
        return preview
    }

    private func names(_ device: Device) throws -> [String] {
        try device.rows("SELECT name, amount FROM item ORDER BY 1, 2")
    }

    @Test("finds rows by their first content: a deleted one goes, and is counted before")
    func byID() async throws {
        try await begin()
        let preview = try await join(nil)
        let item = try #require(preview.tables["item"])
        #expect(item == .init(alike: 2, onlyHere: 1, onlyThere: 0, deletedThere: 1))
        #expect(preview.tables["tag"] == .init(alike: 0, onlyHere: 1, onlyThere: 1))
        #expect(preview.deletions == 1)
        for device in [desk, phone] {
            #expect(try names(device) == ["figs|1", "milk|5", "tea|1"])
            #expect(try device.rows("SELECT count(*) FROM tag") == ["2"])
        }
    }

    @Test("finds rows by their content, where they have keys too")
    func byContent() async throws {
        try await begin()
        let preview = try await join(.content)
        #expect(preview.tables["tag"] == .init(alike: 1, onlyHere: 0, onlyThere: 0))
        #expect(preview.tables["flag"] == .init(alike: 0, onlyHere: 1, onlyThere: 1))
        for device in [desk, phone] {
            #expect(try names(device) == ["figs|1", "milk|5", "tea|1"])
            #expect(try device.rows("SELECT id FROM tag") == ["a desk 1"])
            #expect(try device.rows("SELECT count(*) FROM flag") == ["2"])
        }
    }

    @Test("finds rows of keys alone by what they refer to, whatever else is alike")
    func links() async throws {
        let schema = """
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE tag (k TEXT PRIMARY KEY);
            CREATE TABLE has (item_id INTEGER REFERENCES item(id), tag TEXT REFERENCES tag(k), qty INT,
                PRIMARY KEY (item_id, tag));
            INSERT INTO tag VALUES ('red'), ('blue'), ('green');
            """
        let rows = [
            """
            INSERT INTO item VALUES (1, 'apple'), (2, 'pear');
            INSERT INTO has VALUES (1, 'red', 1), (2, 'blue', 1);
            """,
            """
            INSERT INTO item VALUES (1, 'sky'), (2, 'sea'), (3, 'apple');
            INSERT INTO has VALUES (1, 'blue', 1), (2, 'green', 1), (3, 'red', 1);
            """,
        ]
        for (device, rows) in zip([desk, phone], rows) {
            try device.edit("DROP TABLE flag; DROP TABLE tag; DROP TABLE item; DROP TABLE list")
            try device.edit(schema + rows)
        }
        try await scene.enable(desk)
        try await scene.exchange(desk)
        _ = try await join(.content)
        for device in [desk, phone] {
            let links = try device.rows(
                "SELECT name, tag FROM has JOIN item ON id = item_id ORDER BY 1"
            )
            #expect(links == ["apple|red", "pear|blue", "sea|green", "sky|blue"])
        }
    }

    @Test("that took part before finds rows without keys by their content, and leaves others")
    func again() async throws {
        try await begin()
        // What both have had since the seed, and one of it twice.
        for device in [desk, phone] {
            try device.edit("INSERT INTO item VALUES (20, 'jam', 4, 1), (21, 'jam', 4, 1)")
        }
        try await scene.exchange(desk)
        let unmatched = try await preview(nil)
        #expect(unmatched.tables["item"]?.doubled == 2)
        let preview = try await join(.again)
        let item = try #require(preview.tables["item"])
        #expect(item == .init(alike: 4, onlyHere: 1, onlyThere: 0, deletedThere: 1))
        for device in [desk, phone] {
            #expect(try names(device) == ["figs|1", "jam|4", "jam|4", "milk|5", "tea|1"])
            // Equal but for their keys: two rows.
            #expect(try device.rows("SELECT count(*) FROM tag") == ["2"])
        }
    }

    @Test("finds rows by their numbers, if it was a copy")
    func byCopy() async throws {
        try await begin()
        // Edited before it took part: the content shows nothing.
        try phone.edit("UPDATE item SET name = 'green tea' WHERE id = 2")
        let preview = try await join(.copy)
        let item = try #require(preview.tables["item"])
        var expected = JoinPreview.Table(alike: 2, onlyHere: 1, onlyThere: 0, deletedThere: 1)
        // Nobody knows whether the values here are edits: the group's stay, and these are listed.
        expected.yielding = 2
        #expect(item == expected)
        #expect(try names(desk).count == 3 && names(desk) == names(phone))
    }

    @Test("and was a copy leaves the rows that both stores have added since")
    func addedSince() async throws {
        try await begin()
        try desk.edit("INSERT INTO item VALUES (9, 'rice', 1, 1)")
        // They have the same number, and all but the name alike.
        try desk.edit("INSERT INTO item VALUES (12, 'cake', 1, 1)")
        try phone.edit("INSERT INTO item VALUES (12, 'rolls', 1, 1)")
        try await scene.exchange(desk)
        _ = try await join(.copy)
        try await scene.exchange(desk, phone)
        for device in [desk, phone] {
            #expect(
                try names(device) == ["cake|1", "figs|1", "milk|5", "rice|1", "rolls|1", "tea|1"]
            )
        }
    }

    @Test("takes rows without a key for new ones, if keys alone count")
    func byKey() async throws {
        try await begin()
        let preview = try await join(.key)
        #expect(preview.tables["item"] == .init(alike: 0, onlyHere: 4, onlyThere: 2))
        #expect(try names(desk).count == 6 && names(desk) == names(phone))
    }

    @Test("can be tried without a change")
    func dryRun() async throws {
        try await begin()
        _ = try await join(nil)
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        try await scene.exchange(desk)
        try phone.edit("UPDATE item SET amount = 8 WHERE name = 'tea'")
        let files = try scene.sandbox.contents(of: "Container")
        for _ in 0..<2 {
            let sidecar = try Sidecar(in: phone.sidecarPath)
            defer { try? sidecar.close() }
            let scratch = try ScratchDirectory(in: phone.options.scratch)
            let copy = try sidecar.copy(to: scratch.path.appending("copy"))
            defer { try? copy.close() }
            var options = phone.options
            options.isDryRun = true
            let outcome = try await StoreExchange(
                of: phone.store,
                sidecar: copy,
                container: phone.container(),
                now: scene.now,
                options: options
            ).run()
            #expect(outcome.sentChanges == 1 && outcome.takenChanges == 1 && outcome.inserted == 1)
        }
        #expect(try phone.ids().count == 1)
        #expect(try scene.sandbox.contents(of: "Container") == files)
        #expect(try !names(phone).contains("jam|1"))
        try await scene.exchange(phone, desk)
        #expect(try names(phone).contains("jam|1") && names(desk).contains("tea|8"))
    }
}
