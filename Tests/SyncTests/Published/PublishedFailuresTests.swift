import Changes
import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Sync

/// Failures of other programs that synchronise stores, as they were published; none of them here.
///
/// The numbers are those of the list in Documentation/Design/Sync.md.
@Suite("What has failed elsewhere")
struct PublishedFailuresTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    private func path(_ folder: String, _ name: String) -> FilePath {
        scene.container.appending("a").appending(folder).appending(name)
    }

    private func content(_ folder: String, _ name: String) throws -> [UInt8] {
        try File.contents(of: path(folder, name), limit: 1 << 26)
    }

    private func put(_ bytes: [UInt8], _ folder: String, _ name: String) throws {
        try LocalFileSystem().write(bytes, to: path(folder, name))
    }

    /// Returns the files of the log that a device's exchange has added.
    private func sent(by device: Device) async throws -> [String] {
        let before = try Set(scene.files("log"))
        try await scene.exchange(device)
        return try scene.files("log").filter { !before.contains($0) }
    }

    /// Writes a baseline from a device.
    private func baseline(_ device: Device) async throws -> (index: String, part: String) {
        device.options.upkeep.files = 0
        device.options.upkeep.deference = 0
        try await scene.exchange(device)
        device.options.upkeep = UpkeepRules()
        let files = try scene.files("base")
        return (
            try #require(files.first { $0.hasSuffix(".base") }),
            try #require(files.first { $0.hasSuffix(".part") })
        )
    }

    @Test("1. Ensembles #168: a part of a baseline is missing; others go on, later it completes")
    func missingPart() async throws {
        try await scene.begin()
        let (_, part) = try await baseline(desk)
        let bytes = try content("base", part)
        try scene.remove("base", part)
        for name in try scene.files("log") { try scene.remove("log", name) }
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == [])
        // Not the desk, which would send again what is gone.
        try phone.edit("INSERT INTO item (name) VALUES ('jam')")
        try await scene.exchange(phone, tablet)
        // The phone, which has all of it, sends what is missing.
        #expect(try scene.items(tablet) == scene.items(phone))
        try put(bytes, "base", part)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == scene.items(phone))
    }

    @Test("2. Ensembles #226, #276, #287: a file was half uploaded; no device stops")
    func halfUploaded() async throws {
        try await scene.begin()
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        let name = try #require(try await sent(by: desk).first)
        let bytes = try content("log", name)
        try desk.edit("INSERT INTO item (name) VALUES ('figs')")
        try await scene.exchange(desk)
        // Not the desk, which would send it again.
        try put(Array(bytes.prefix(bytes.count / 2)), "log", name)
        try await scene.exchange(phone)
        #expect(try scene.items(phone) == ["figs|1|NULL", "milk|2|home", "tea|1|home"])
        #expect(try phone.inspect { try $0.files.waiting().map(\.name) } == [name])
        try put(bytes, "log", name)
        try await scene.exchange(phone)
        #expect(try scene.items(phone) == scene.items(desk))
        #expect(try phone.inspect { try $0.files.waiting() } == [])
    }

    @Test("3. Ensembles #203: a device with data joins; nothing of either is lost")
    func joining() async throws {
        try await scene.begin()
        let tablet = try scene.device("tablet")
        try tablet.edit(
            "INSERT INTO list VALUES (1, 'work'); INSERT INTO item VALUES (1, 'pens', 5, 1), (2, 'ink', 1, 1)"
        )
        try await scene.enable(tablet)
        try await scene.exchange(tablet, desk, phone)
        let all = ["ink|1|work", "milk|2|home", "pens|5|work", "tea|1|home"]
        for device in [desk, phone, tablet] { #expect(try scene.items(device) == all) }
    }

    @Test("4. Ensembles #196, #219: default data on both; one of each")
    func defaults() async throws {
        let rows = "INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (1, 'milk', 1, 1)"
        for device in [desk, phone] {
            try device.edit(rows)
            try await scene.enable(device)
        }
        try await scene.exchange(desk, phone, desk, phone)
        for device in [desk, phone] { #expect(try scene.items(device) == ["milk|1|home"]) }
    }

    @Test("5. Ensembles #198: deleted on one side, still in the other's baseline; it stays deleted")
    func deletedInBaseline() async throws {
        try await scene.begin()
        try phone.edit("DELETE FROM item WHERE name = 'tea'")
        // The desk's baseline has the tea; the delete is sent before anybody has read it.
        _ = try await baseline(desk)
        try await scene.exchange(phone, desk, phone)
        for device in [desk, phone] { #expect(try scene.items(device) == ["milk|2|home"]) }
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == ["milk|2|home"])
    }

    @Test("6. Ensembles #103, 21253f7: a late file, older than a baseline, counts")
    func lateFile() async throws {
        try await scene.begin()
        try phone.edit("INSERT INTO item (name) VALUES ('jam')")
        let name = try #require(try await sent(by: phone).first)
        let bytes = try content("log", name)
        try scene.remove("log", name)
        _ = try await baseline(desk)
        #expect(try !scene.items(desk).contains("jam|1|NULL"))
        try put(bytes, "log", name)
        try await scene.exchange(desk)
        #expect(try scene.items(desk) == scene.items(phone))
    }

    @Test("7. Ensembles d62fbf3: \"(1)\" copies do not jam the container")
    func copies() async throws {
        try await scene.begin()
        for name in try scene.files("log") {
            let bytes = try content("log", name)
            try put(bytes, "log", name.replacing(".changes", with: " (1).changes"))
            try put(bytes, "log", "\(name).sync-conflict-20261122-190000")
        }
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet, desk, phone)
        for device in [desk, phone, tablet] {
            #expect(try scene.items(device) == ["milk|2|home", "tea|1|home"])
            #expect(try device.inspect { try $0.files.waiting() } == [])
        }
        #expect(try desk.ids().count == 1)
    }

    @Test("8. Ensembles 590c753: a blob is gone, or late; its row waits, others do not")
    func lateBlob() async throws {
        try await scene.begin()
        let note = String(repeating: "n", count: 70_000)
        try desk.edit("INSERT INTO unit VALUES ('lb', 453, '\(note)'), ('oz', 28, NULL)")
        try await scene.exchange(desk)
        let folder = try #require(
            FileManager.default.contentsOfDirectory(
                atPath: scene.container.appending("a").string
            ).first { $0.hasPrefix("blob-") }
        )
        let name = try #require(scene.files(folder).first)
        let bytes = try content(folder, name)
        try scene.remove(folder, name)
        try await scene.exchange(phone)
        #expect(try phone.rows("SELECT name FROM unit ORDER BY 1") == ["kg", "oz"])
        try put(bytes, folder, name)
        try await scene.exchange(phone)
        #expect(
            try phone.rows("SELECT name, length(note) FROM unit WHERE name = 'lb'") == ["lb|70000"]
        )
    }

    @Test("9. Ensembles ff4ec07: one identity inserted by two at once; no empty row")
    func sameIdentity() async throws {
        try await scene.begin()
        try desk.edit("INSERT INTO unit VALUES ('lb', 453, NULL)")
        try phone.edit("INSERT INTO unit VALUES ('lb', 454, 'pound')")
        try await scene.exchange(desk, phone, desk)
        let rows = try desk.rows("SELECT * FROM unit WHERE name = 'lb'")
        #expect(rows.count == 1)
        #expect(rows[0] == "lb|454.0|pound")
        #expect(try phone.rows("SELECT * FROM unit WHERE name = 'lb'") == rows)
    }

    @Test("11. MagicalRecord #1264, Seam3 #66: deleted, installed again; no duplicates of defaults")
    func installedAgain() async throws {
        try await scene.begin()
        let again = try scene.device("phone again")
        try again.edit(
            """
            INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (1, 'milk', 2, 1), (2, 'tea', 1, 1);
            INSERT INTO unit VALUES ('kg', 1000, NULL)
            """
        )
        try await scene.enable(again)
        try await scene.exchange(again, desk)
        for device in [desk, again] {
            #expect(try scene.items(device) == ["milk|2|home", "tea|1|home"])
            #expect(try device.rows("SELECT name FROM list") == ["home"])
        }
    }

    @Test("29. Joplin #6850: half a file is read")
    func halfAFile() async throws {
        try await scene.begin()
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        let name = try #require(try await sent(by: desk).first)
        let bytes = try content("log", name)
        // As a program leaves it that makes room first, and has fetched the beginning only.
        let half =
            bytes.prefix(bytes.count / 2)
            + Array(repeating: 0, count: bytes.count - bytes.count / 2)
        try put(Array(half), "log", name)
        try await scene.exchange(phone)
        #expect(try scene.items(phone) == ["milk|2|home", "tea|1|home"])
        try put(bytes, "log", name)
        // Its size is the same: it is looked at again after an hour.
        scene.wait(hours: 1)
        try await scene.exchange(phone)
        #expect(try scene.items(phone) == scene.items(desk))
    }

    @Test("12. sqlite-data #418: deleted and inserted again with the same key")
    func insertedAgain() async throws {
        try await scene.begin()
        try desk.edit("DELETE FROM unit WHERE name = 'kg'")
        try await scene.exchange(desk, phone)
        #expect(try phone.rows("SELECT * FROM unit") == [])
        try desk.edit("INSERT INTO unit VALUES ('kg', 1, 'again')")
        try await scene.exchange(desk, phone, desk)
        #expect(try phone.rows("SELECT * FROM unit") == ["kg|1.0|again"])
        #expect(try desk.rows("SELECT * FROM unit") == ["kg|1.0|again"])
    }

    @Test("13. sqlite-data #424: child before its parent")
    func childFirst() async throws {
        try await scene.begin()
        try desk.edit("INSERT INTO list VALUES (2, 'work')")
        let name = try #require(try await sent(by: desk).first)
        let bytes = try content("log", name)
        try desk.edit("INSERT INTO item VALUES (9, 'pens', 1, 2)")
        try await scene.exchange(desk)
        try scene.remove("log", name)
        try await scene.exchange(phone)
        #expect(try !scene.items(phone).contains("pens|1|work"))
        try put(bytes, "log", name)
        try await scene.exchange(phone)
        #expect(try scene.items(phone) == scene.items(desk))
    }
}
