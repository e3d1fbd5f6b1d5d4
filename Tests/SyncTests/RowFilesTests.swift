import Changes
import Files
import Foundation
import GRDB
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("Files that texts name, in a directory of the map")
struct RowFilesTests {
    static let schema = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, photo TEXT)"
    static let query = "SELECT name, photo FROM item ORDER BY name"

    let pair: DevicePair
    let map: SyncMap

    init() throws {
        pair = try DevicePair(schema: Self.schema)
        map = try SyncMap(json: Array(#"{"files": {"item.photo": "photos"}}"#.utf8), name: "map")
    }

    private var desk: Device { pair.desk }
    private var phone: Device { pair.phone }

    private func path(_ name: String, of device: Device) -> FilePath {
        device.stores.appending("photos").pushing(FilePath(name))
    }

    private func write(_ text: String, to name: String, of device: Device) throws {
        let path = path(name, of: device)
        try LocalFileSystem().createDirectories(path.removingLastComponent())
        try LocalFileSystem().write(Array(text.utf8), to: path)
    }

    private func content(_ name: String, of device: Device) throws -> String? {
        let path = path(name, of: device)
        guard try FileInfo.ifPresent(path)?.kind == .file else { return nil }
        return String(decoding: try File.contents(of: path, limit: 1 << 20), as: UTF8.self)
    }

    private func begin() async throws {
        for device in [desk, phone] { try await device.enable(at: pair.start, map: map) }
        try await pair.exchange(desk, phone, desk, at: 1)
    }

    private func add(_ name: String, _ photo: String) throws {
        try desk.edit("INSERT INTO item (name, photo) VALUES (?, ?)", [name, photo])
    }

    @Test("come with the rows that name them, and stay when these go")
    func travel() async throws {
        try write("white", to: "milk.jpg", of: desk)
        try write("brown", to: "Früh/1/tea.jpg", of: desk)
        try add("milk", "milk.jpg")
        try add("tea", "Früh/1/tea.jpg")
        try await begin()
        try pair.expectEqual(Self.query, ["milk|milk.jpg", "tea|Früh/1/tea.jpg"])
        #expect(try content("milk.jpg", of: phone) == "white")
        #expect(try content("Früh/1/tea.jpg", of: phone) == "brown")
        try phone.edit("DELETE FROM item WHERE name = 'milk'")
        try await pair.exchange(phone, desk, at: 2)
        try pair.expectEqual(Self.query, ["tea|Früh/1/tea.jpg"])
        for device in [desk, phone] { #expect(try content("milk.jpg", of: device) == "white") }
        #expect(try await desk.sync(at: pair.start + 300).isQuiet)
        #expect(try await phone.sync(at: pair.start + 300).isQuiet)
    }

    @Test("follow their rows if they come later")
    func later() async throws {
        try await begin()
        try add("milk", "milk.jpg")
        try await pair.exchange(desk, phone, at: 2)
        try pair.expectEqual(Self.query, ["milk|milk.jpg"])
        #expect(try content("milk.jpg", of: phone) == nil)
        #expect(try await desk.sync(at: pair.start + 150).isQuiet)
        try write("white", to: "milk.jpg", of: desk)
        try await pair.exchange(desk, phone, at: 3)
        #expect(try content("milk.jpg", of: phone) == "white")
        try pair.expectEqual(Self.query, ["milk|milk.jpg"])
        for device in [phone, desk, phone] {
            #expect(try await device.sync(at: pair.start + 600).isQuiet)
        }
    }

    @Test(
        "never replace a file of another content, whose row waits, and comes once the file is away"
    )
    func taken() async throws {
        try await begin()
        try write("white", to: "milk.jpg", of: desk)
        try write("mine", to: "milk.jpg", of: phone)
        try add("milk", "milk.jpg")
        try await pair.exchange(desk, phone, phone, at: 2)
        #expect(try phone.rows(Self.query) == [])
        #expect(try content("milk.jpg", of: phone) == "mine")
        let sidecar = try Sidecar(in: phone.sidecarPath)
        let reasons = try sidecar.unshownRows().map(\.reason)
        try sidecar.close()
        let reason =
            "'photos/milk.jpg' is here with other content: move it away, and run 'grocerydude sync'"
        #expect(reasons == ["a file of it cannot be written: \(reason)"])
        try LocalFileSystem().move(
            path("milk.jpg", of: phone),
            to: path("mine.jpg", of: phone)
        )
        try await pair.exchange(phone, at: 3)
        try pair.expectEqual(Self.query, ["milk|milk.jpg"])
        #expect(try content("milk.jpg", of: phone) == "white")
    }

    @Test("whose name is taken keep a row as it is, which is listed with the reason")
    func takenByEdit() async throws {
        try await begin()
        try desk.edit("INSERT INTO item (name) VALUES ('milk')")
        try await pair.exchange(desk, phone, at: 2)
        try write("white", to: "milk.jpg", of: desk)
        try write("mine", to: "milk.jpg", of: phone)
        try desk.edit("UPDATE item SET name = 'oat milk', photo = 'milk.jpg'")
        try await pair.exchange(desk, phone, phone, at: 3)
        #expect(try phone.rows(Self.query) == ["milk|NULL"])
        #expect(try waiting(phone) == [Self.taken])
        try LocalFileSystem().remove(path("milk.jpg", of: phone))
        try await pair.exchange(phone, at: 4)
        try pair.expectEqual(Self.query, ["oat milk|milk.jpg"])
        #expect(try phone.unshown.isEmpty)
    }

    @Test("of two contents under one name are listed, and an edit of another column is written")
    func others() async throws {
        try await begin()
        try add("milk", "milk.jpg")
        try await pair.exchange(desk, phone, at: 2)
        try write("mine", to: "milk.jpg", of: phone)
        try write("white", to: "milk.jpg", of: desk)
        try await pair.exchange(desk, phone, at: 3)
        #expect(try waiting(phone) == [Self.taken])
        try desk.edit("UPDATE item SET name = 'oat milk'")
        try await pair.exchange(desk, phone, at: 4)
        try pair.expectEqual(Self.query, ["oat milk|milk.jpg"])
        #expect(try waiting(phone) == [Self.taken])
        #expect(try content("milk.jpg", of: phone) == "mine")
        try LocalFileSystem().remove(path("milk.jpg", of: phone))
        try await pair.exchange(phone, at: 5)
        #expect(try content("milk.jpg", of: phone) == "white")
        #expect(try phone.unshown.isEmpty)
    }

    @Test("are written through no link, which is named as the reason")
    func linked() async throws {
        try LocalFileSystem().createDirectories(phone.root.appending("disk"))
        try FileManager.default.createSymbolicLink(
            atPath: phone.stores.appending("photos").string,
            withDestinationPath: "../disk"
        )
        try await begin()
        let words =
            "'photos' is a symbolic link, through which no file is written: put a directory in its place"
        #expect(try troubles(phone) == [words])
        try write("white", to: "milk.jpg", of: desk)
        try add("milk", "milk.jpg")
        try await pair.exchange(desk, phone, at: 2)
        #expect(try phone.rows(Self.query) == [])
        #expect(try phone.unshown.map(\.reason) == ["a file of it cannot be written: \(words)"])
        #expect(try Directory.open(phone.root.appending("disk")).names().isEmpty)
        try LocalFileSystem().remove(phone.stores.appending("photos"))
        try await pair.exchange(phone, at: 3)
        try pair.expectEqual(Self.query, ["milk|milk.jpg"])
        #expect(try troubles(phone) == [])
    }

    @Test("are named if they are too long to travel, as long as a row names them")
    func long() async throws {
        try write("", to: "film.mp4", of: desk)
        let film = try #require(
            FileHandle(forWritingAtPath: path("film.mp4", of: desk).string)
        )
        try film.truncate(atOffset: BlobReference.maximumSize + 1)
        try film.close()
        try add("film", "film.mp4")
        try await begin()
        try pair.expectEqual(Self.query, ["film|film.mp4"])
        let words = "'photos/film.mp4' is longer than 1 GiB, so its row travels without it"
        #expect(try troubles(desk) == [words])
        #expect(try troubles(phone) == [])
        try desk.edit("DELETE FROM item")
        try await pair.exchange(desk, at: 2)
        #expect(try troubles(desk) == [])
    }

    private func troubles(_ device: Device) throws -> [String] {
        let sidecar = try Sidecar(in: device.sidecarPath)
        defer { try? sidecar.close() }
        return try SyncOverview(of: sidecar, device.store).fileTroubles
    }

    @Test("stay those of the row, though they are gone here and another column is edited")
    func offloaded() async throws {
        let pair = try DevicePair(
            schema: String(Self.schema.dropLast()) + ", UNIQUE (name, photo))"
        )
        let (desk, phone) = (pair.desk, pair.phone)
        try write("white", to: "milk.jpg", of: desk)
        try desk.edit("INSERT INTO item VALUES (1, 'milk', 'milk.jpg')")
        for device in [desk, phone] { try await device.enable(at: pair.start, map: map) }
        try await pair.exchange(desk, phone, at: 1)
        try LocalFileSystem().remove(path("milk.jpg", of: phone))
        try phone.edit("UPDATE item SET name = 'oat milk'")
        try await pair.exchange(phone, desk, at: 2)
        try pair.expectEqual(Self.query, ["oat milk|milk.jpg"])
        let isFile = try desk.inspect { access in
            var found = false
            try access.states.forEach { row in
                found = row.state.cells.contains { $0.value.isFile }
            }
            return found
        }
        #expect(isFile)
    }

    @Test(
        "that are missing where a store joins do not make its rows others",
        arguments: [nil, .content, .copy, .again] as [JoinMatch?]
    )
    func joining(_ match: JoinMatch?) async throws {
        for name in ["milk", "tea"] {
            try write(name, to: "\(name).jpg", of: desk)
            for device in [desk, phone] {
                try device.edit(
                    "INSERT INTO item (name, photo) VALUES (?, ?)",
                    [name, "\(name).jpg"]
                )
            }
        }
        try await desk.enable(at: pair.start, map: map)
        try await pair.exchange(desk, at: 1)
        let enrolment = Enrolment(in: phone.container())
        let look = try await enrolment.look()
        let preview = try await JoinPreview(
            of: phone.store,
            joining: phone.container(),
            look,
            excluded: [],
            match: match,
            at: pair.start + 120,
            options: phone.options
        )
        // Without a word on how rows match, a person is asked.
        #expect(preview.fileless == (match == nil ? 2 : 0))
        #expect(preview.tables["item"]?.alike == (match == nil ? 0 : 2))
        if match == nil { return }
        let sidecar = try Sidecar(in: phone.sidecarPath)
        try enrolment.enrol(
            sidecar,
            as: phone.name,
            look,
            map: SyncMap(),
            match: match,
            at: pair.start + 120,
            program: "test 1"
        )
        try sidecar.close()
        try await pair.exchange(phone, desk, phone, at: 3)
        try pair.expectEqual(Self.query, ["milk|milk.jpg", "tea|tea.jpg"])
        #expect(try content("tea.jpg", of: phone) == "tea")
    }

    private static let taken = """
        a change of it waits: 'photos/milk.jpg' is here with other content: move it away, and run \
        'grocerydude sync'
        """

    /// Returns the reasons of the rows that wait, as the state of the store has them.
    private func waiting(_ device: Device) throws -> [String] {
        let sidecar = try Sidecar(in: device.sidecarPath)
        defer { try? sidecar.close() }
        return try SyncOverview(of: sidecar).waitingRows.map(\.reason)
    }

    @Test("are none if a text leads out, through a link, or to a part of a store, or is too long")
    func outside() async throws {
        try desk.edit("PRAGMA user_version = 3")
        try write("secret", to: "../secret", of: desk)
        try write("secret", to: "../elsewhere/secret", of: desk)
        try write("a page", to: "other.sqlite-wal", of: desk)
        try write("fine", to: "fine", of: desk)
        try FileManager.default.createSymbolicLink(
            atPath: path("link", of: desk).string,
            withDestinationPath: "../elsewhere"
        )
        try FileManager.default.createSymbolicLink(
            atPath: path("alias", of: desk).string,
            withDestinationPath: "../secret"
        )
        let names = [
            "../secret", "/etc/passwd", "link/secret", "alias", "other.sqlite-wal", "", "a//b",
            "fine", "data:image/png;base64,iVBO/" + String(repeating: "a", count: 256),
            String(repeating: "a/", count: 2000) + "a",
        ]
        for name in names { try add("x", name) }
        try await begin()
        #expect(
            try phone.rows("SELECT photo FROM item ORDER BY photo")
                == desk.rows("SELECT photo FROM item ORDER BY photo")
        )
        let found = try Directory.open(phone.stores.appending("photos")).names()
        #expect(found.map(\.description) == ["fine"])
        #expect(try FileInfo.ifPresent(phone.stores.appending("secret")) == nil)
    }

    @Test("are sent for rows that were there when the map begins to name the column")
    func mapped() async throws {
        try write("white", to: "milk.jpg", of: desk)
        try add("milk", "milk.jpg")
        for device in [desk, phone] { try await device.enable(at: pair.start) }
        try await pair.exchange(desk, phone, desk, at: 1)
        #expect(try content("milk.jpg", of: phone) == nil)
        let sidecar = try Sidecar(in: desk.sidecarPath)
        try sidecar.publish(map, at: pair.start + 120, program: "test 1")
        try sidecar.close()
        try await pair.exchange(desk, at: 2)
        // Another device's map has files written here: a person is asked.
        let question = SyncDecision.newMap(
            leavesOut: [],
            identifies: [],
            writesFilesIn: ["photos"]
        )
        #expect("\(question)" == "the group has a new map, which writes files in 'photos'")
        await #expect(throws: question) { try await pair.exchange(phone, at: 3) }
        phone.options.acceptsChanges = true
        try await pair.exchange(phone, at: 4)
        try pair.expectEqual(Self.query, ["milk|milk.jpg"])
        #expect(try content("milk.jpg", of: phone) == "white")
        // Without the rule, the name is a text again.
        let second = try Sidecar(in: desk.sidecarPath)
        try second.publish(SyncMap(), at: pair.start + 300, program: "test 1")
        try second.close()
        try await pair.exchange(desk, phone, desk, at: 6)
        try add("tea", "milk.jpg")
        try await pair.exchange(desk, phone, at: 7)
        try pair.expectEqual(Self.query, ["milk|milk.jpg", "tea|milk.jpg"])
    }

    @Test(
        "name no file outside, whatever a change file says",
        arguments: ["../a", "/a", "a-wal", "a/../b"]
    )
    func hostile(name: String) throws {
        let files = ColumnFiles(directory: try RelativePath("photos"), form: .path)
        #expect(files.file(named: Array(name.utf8)) == nil)
        #expect(files.file(named: Array("a/b".utf8)) != nil)
    }
}
