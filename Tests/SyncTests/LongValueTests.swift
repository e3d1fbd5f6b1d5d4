import Files
import Foundation
import Remotes
import SystemPackage
import Testing

@testable import Sync

@Suite("Long values")
struct LongValueTests {
    @Test("stay where they were written, though their files have gone out and may not be missing")
    func staying() async throws {
        let scene = try AccidentScene()
        let schema = """
            CREATE TABLE page (id TEXT PRIMARY KEY, body TEXT NOT NULL UNIQUE, data BLOB NOT NULL,
                json TEXT CHECK (json_valid(json)), size INTEGER DEFAULT 0);
            """
        let folder = LocalFolder(scene.container)
        let desk = try Device("a desk", in: scene.sandbox, folder: folder, schema: schema)
        let phone = try Device("a phone", in: scene.sandbox, folder: folder, schema: schema)
        for device in [desk, phone] {
            device.options.machine = device.name
            try await scene.enable(device)
            try await scene.exchange(device)
        }
        func insert(_ id: String, on device: Device) throws {
            try device.edit(
                """
                INSERT INTO page (id, body, data, json) VALUES ('\(id)', hex(randomblob(50000)),
                    randomblob(90000), json_quote(hex(randomblob(60000))))
                """
            )
        }
        func pages(_ device: Device) throws -> [String] {
            try device.rows(
                "SELECT id, length(body), length(data), json_valid(json), size FROM page ORDER BY id"
            )
        }
        try insert("desk", on: desk)
        try await scene.exchange(desk, phone)
        // Now the desk has something to write, and nothing of its own long values but the store.
        try insert("phone", on: phone)
        try await scene.exchange(phone)
        let outcome = try await scene.exchange(desk)
        #expect(outcome.inserted == 1 && outcome.deleted == 0 && outcome.updated == 0)
        try phone.edit("UPDATE page SET size = 7 WHERE id = 'desk'")
        try await scene.exchange(phone)
        #expect(try await scene.exchange(desk).deleted == 0)
        #expect(try pages(desk).map { $0.prefix(4) } == ["desk", "phon"])
        #expect(try pages(desk).first?.hasSuffix("|100000|90000|1|7") == true)
        #expect(try pages(desk) == pages(phone))
        #expect(try desk.inspect { try $0.count("SELECT count(*) FROM held") } == 0)
    }

    /// A desk and a phone, each with the page that the desk wrote.
    private func begin(
        with schema: String = "CREATE TABLE page (id TEXT PRIMARY KEY, body TEXT)"
    ) async throws -> (AccidentScene, desk: Device, phone: Device) {
        let scene = try AccidentScene()
        let folder = LocalFolder(scene.container)
        let desk = try Device("a desk", in: scene.sandbox, folder: folder, schema: schema)
        let phone = try Device("a phone", in: scene.sandbox, folder: folder, schema: schema)
        try desk.edit("INSERT INTO page (id, body) VALUES ('a', \(Self.long))")
        for device in [desk, phone] {
            device.options.machine = device.name
            try await scene.enable(device)
            try await scene.exchange(device)
        }
        return (scene, desk, phone)
    }

    private static let long = "hex(zeroblob(50000))"

    private func blobs(_ scene: AccidentScene) throws -> [FilePath] {
        let group = scene.container.appending("a")
        return try FileManager.default.contentsOfDirectory(atPath: group.string)
            .filter { $0.hasPrefix("blob-") }
            .flatMap { folder in
                try FileManager.default.contentsOfDirectory(atPath: "\(group)/\(folder)")
                    .map { group.appending(folder).appending($0) }
            }
    }

    @Test("go from the container a month after the last row let go of them, and come back with one")
    func removal() async throws {
        let (scene, desk, phone) = try await begin()
        scene.wait(hours: 24 * 90)
        try await scene.exchange(desk, phone)
        // A row refers to it: it stays, however old.
        let blob = try #require(try blobs(scene).first)
        try phone.edit("UPDATE page SET body = 'short'")
        try await scene.exchange(phone)
        for _ in 0..<4 {
            scene.wait(hours: 24 * 8)
            try await scene.exchange(desk, phone)
            #expect(try blobs(scene) == [blob])
        }
        scene.wait(hours: 24 * 8)
        try await scene.exchange(desk)
        #expect(try blobs(scene).isEmpty)
        try desk.edit("INSERT INTO page VALUES ('b', \(Self.long))")
        try await scene.exchange(desk, phone)
        #expect(try blobs(scene) == [blob])
        #expect(try phone.rows("SELECT id, length(body) FROM page") == ["a|5", "b|100000"])
    }

    @Test("stay while a file of the container cannot be read, which may refer to them")
    func unread() async throws {
        let (scene, desk, phone) = try await begin()
        try desk.edit("UPDATE page SET body = 'short'")
        try await scene.exchange(desk, phone)
        let log = scene.container.appending("a").appending("log")
        let late = log.appending("00000000-0000000009-0000000000000000.changes")
        try LocalFileSystem().write(Array("cut".utf8), to: late)
        for _ in 0..<8 {
            scene.wait(hours: 24 * 8)
            try await scene.exchange(desk)
        }
        #expect(try blobs(scene).count == 1)
        try LocalFileSystem().remove(late)
        scene.wait(hours: 24 * 8)
        try await scene.exchange(desk)
        #expect(try blobs(scene).isEmpty)
    }

    @Test("are sent again by the device that made them, if they are gone")
    func gone() async throws {
        let (scene, desk, phone) = try await begin()
        let blob = try #require(try blobs(scene).first)
        try LocalFileSystem().remove(blob)
        let tablet = try Device(
            "a tablet",
            in: scene.sandbox,
            folder: LocalFolder(scene.container),
            schema: "CREATE TABLE page (id TEXT PRIMARY KEY, body TEXT)"
        )
        tablet.options.machine = tablet.name
        try await scene.enable(tablet)
        try await scene.exchange(tablet, phone, tablet)
        #expect(try tablet.rows("SELECT id FROM page").isEmpty)
        try await scene.exchange(desk, tablet)
        #expect(try blobs(scene) == [blob])
        #expect(try tablet.rows("SELECT id, length(body) FROM page") == ["a|100000"])
    }

    @Test(
        "stay the key of a row that another device edits, and keep no other row",
        arguments: ["", " WITHOUT ROWID"]
    )
    func keys(_ rowIDs: String) async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE clip (content TEXT PRIMARY KEY, used INT)\(rowIDs);
                CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT,
                    clip TEXT NOT NULL REFERENCES clip (content) ON DELETE CASCADE)
                """
        )
        let (desk, phone) = (pair.desk, pair.phone)
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, at: 1)
        try desk.edit(
            """
            INSERT INTO clip VALUES (\(Self.long), 1), ('short', 2);
            INSERT INTO note SELECT used, 'note', content FROM clip
            """
        )
        try await pair.exchange(desk, phone, at: 2)
        try phone.edit("UPDATE clip SET used = used + 2; UPDATE note SET text = 'edited'")
        try await pair.exchange(phone, desk, phone, at: 3)
        try pair.expectEqual(
            "SELECT typeof(content), length(content), used FROM clip ORDER BY 2",
            ["text|5|4", "text|100000|3"]
        )
        try pair.expectEqual(
            "SELECT text, length(clip) FROM note ORDER BY 2",
            ["edited|5", "edited|100000"]
        )
    }

    @Test("go with a row whose key gets another form")
    func moved() async throws {
        let schema = "CREATE TABLE page (id TEXT PRIMARY KEY COLLATE NOCASE, body TEXT)"
        let (scene, desk, phone) = try await begin(with: schema)
        try phone.edit("UPDATE page SET id = 'A'")
        try await scene.exchange(phone, desk)
        #expect(try desk.rows("SELECT id, length(body) FROM page") == ["A|100000"])
    }

    @Test("stay in a reference that names no row")
    func plain() async throws {
        let pair = try DevicePair(
            schema: """
                CREATE TABLE page (id TEXT PRIMARY KEY);
                CREATE TABLE link (id INTEGER PRIMARY KEY, page TEXT REFERENCES page (id), n INT)
                """,
            enforcesReferences: false
        )
        let (desk, phone) = (pair.desk, pair.phone)
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, at: 1)
        try desk.edit("INSERT INTO link VALUES (1, \(Self.long), 1)")
        try await pair.exchange(desk, phone, at: 2)
        try phone.edit("UPDATE link SET n = 2")
        try await pair.exchange(phone, desk, at: 3)
        try pair.expectEqual("SELECT length(page), n FROM link", ["100000|2"])
    }

    @Test("come again if a column gets the bytes of another, or its own as another type")
    func sameBytes() async throws {
        let (scene, desk, phone) = try await begin(
            with: "CREATE TABLE page (id TEXT PRIMARY KEY, body, b)"
        )
        let types = "SELECT typeof(body), typeof(b), length(body), length(b) FROM page"
        try desk.edit("UPDATE page SET body = CAST(body AS BLOB)")
        try await scene.exchange(desk, phone)
        #expect(try phone.rows(types) == ["blob|null|100000|NULL"])
        try desk.edit("UPDATE page SET b = body")
        try await scene.exchange(desk, phone)
        #expect(try phone.rows(types) == ["blob|blob|100000|100000"])
    }
}
