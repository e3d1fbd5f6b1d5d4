import Archives
import Changes
import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("A container that grows")
struct CompactionTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    /// Lets a device write a baseline at its next run.
    private func crowd(_ device: Device) {
        device.options.upkeep.files = 0
        device.options.upkeep.deference = 0
    }

    private func edit(_ device: Device, _ count: Int) async throws {
        for number in 0..<count {
            try device.edit("UPDATE item SET amount = \(number + 100) WHERE name = 'milk'")
            try await scene.exchange(device)
        }
    }

    @Test(
        "gets a baseline, from which a new device learns all, deletes too"
    )
    func baseline() async throws {
        try await scene.begin()
        try await edit(desk, 3)
        try desk.edit("DELETE FROM item WHERE name = 'tea'")
        crowd(desk)
        try await scene.exchange(desk, phone)
        let index = try #require(scene.files("base").first { $0.hasSuffix(".base") })
        #expect(try scene.files("base").count == 2)
        // Files that are there are read though it covers them: only without them it is all there is to read.
        for name in try scene.files("log") { try scene.remove("log", name) }
        // A device that begins with the tea as well: it stays deleted.
        let tablet = try scene.device("tablet")
        try tablet.edit(
            "INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (5, 'tea', 1, 1)"
        )
        try await scene.enable(tablet)
        let outcome = try await scene.exchange(tablet)
        #expect(outcome.takenFiles == 1)
        #expect(try scene.items(tablet) == ["milk|102|home"])
        // The baseline is not written again for the files that it covers.
        try await scene.exchange(phone, desk)
        #expect(try scene.files("base").filter { $0.hasSuffix(".base") } == [index])
    }

    @Test("loses files that a baseline covers after a week, and none before")
    func deletion() async throws {
        try await scene.begin()
        try await edit(desk, 3)
        try await edit(phone, 3)
        let before = try scene.files("log")
        crowd(desk)
        try await scene.exchange(desk)
        desk.options.upkeep = UpkeepRules()
        try await scene.exchange(phone, desk)
        scene.wait(hours: 6 * 24)
        try await scene.exchange(desk, phone)
        #expect(try scene.files("log") == before)
        scene.wait(hours: 2 * 24)
        try await scene.exchange(desk)
        #expect(try scene.files("log").count < before.count)
        #expect(try !scene.files("log").isEmpty)
        try await scene.exchange(phone)
        #expect(try scene.files("log").isEmpty)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet, desk, phone)
        #expect(try scene.items(tablet) == scene.items(desk))
        #expect(try scene.items(phone) == scene.items(desk))
    }

    @Test("has baselines of two devices, of which one covers the other: both are believed")
    func twoBaselines() async throws {
        try await scene.begin()
        for device in [desk, phone] {
            device.options.refills = true
            try await scene.exchange(device)
            device.options.refills = false
        }
        try desk.edit("UPDATE item SET amount = 7 WHERE name = 'milk'")
        for _ in 0..<3 {
            scene.wait(hours: 8 * 24)
            try await scene.exchange(desk, phone)
        }
        for device in [desk, phone] {
            #expect(try device.inspect { try $0.files.waiting().map(\.name) } == [])
        }
        #expect(try scene.items(phone) == ["milk|7|home", "tea|1|home"])
    }

    @Test("keeps all files while a part of a baseline is missing; when it comes, it counts")
    func missingPart() async throws {
        try await scene.begin()
        try await edit(phone, 2)
        try await edit(desk, 2)
        crowd(desk)
        try await scene.exchange(desk)
        desk.options.upkeep = UpkeepRules()
        let part = try #require(scene.files("base").first { $0.hasSuffix(".part") })
        let path = scene.container.appending("a").appending("base").appending(part)
        let bytes = try File.contents(of: path, limit: 1 << 20)
        try scene.remove("base", part)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        #expect(try await scene.exchange(tablet).takenFiles > 1)
        #expect(try scene.items(tablet) == ["milk|101|home", "tea|1|home"])
        scene.wait(hours: 9 * 24)
        let log = try scene.files("log")
        try await scene.exchange(phone)
        #expect(try scene.files("log") == log)
        try LocalFileSystem().write(bytes, to: path)
        try await scene.exchange(phone)
        scene.wait(hours: 9 * 24)
        try await scene.exchange(phone)
        #expect(try scene.files("log") != log)
    }

    @Test("is filled again by a device whose files are gone")
    func lost() async throws {
        try await scene.begin()
        try await edit(desk, 2)
        for name in try scene.files("log") { try scene.remove("log", name) }
        scene.wait(hours: 2)
        try await scene.exchange(desk)
        #expect(try scene.files("base").count == 2)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == ["milk|101|home", "tea|1|home"])
        // Once is enough.
        scene.wait(hours: 2)
        try await scene.exchange(desk, phone)
        scene.wait(hours: 2)
        try await scene.exchange(desk, phone)
        #expect(try scene.files("base").count <= 4)
    }

    @Test("was emptied and begun again by a new device: whoever fills it makes one group of both")
    func begunAgain() async throws {
        try await scene.begin()
        try scene.empty()
        // Weeks later, so that nobody takes both beginnings for one.
        scene.wait(hours: 24 * 30)
        let tablet = try scene.device("tablet")
        try tablet.edit("INSERT INTO list VALUES (7, 'garden')")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        desk.options.refills = true
        try await scene.exchange(desk)
        desk.options.refills = false
        try phone.edit("UPDATE item SET amount = 9 WHERE name = 'tea'")
        try await scene.exchange(phone, tablet, desk, phone)
        for device in [desk, phone, tablet] {
            #expect(try scene.items(device) == ["milk|2|home", "tea|9|home"])
            #expect(try device.rows("SELECT name FROM list ORDER BY 1") == ["garden", "home"])
        }
    }

    @Test("was begun by two, of whom one comes long after: who joined in between knows both")
    func begunTwice() async throws {
        desk.options.passed = { if $0 == .captured { throw CancellationError() } }
        try desk.edit("INSERT INTO list VALUES (1, 'home')")
        try await scene.enable(desk)
        await #expect(throws: CancellationError.self) { try await scene.exchange(desk) }
        desk.options.passed = { _ in }
        try await scene.enable(phone)
        try await scene.exchange(phone)
        scene.wait(hours: 24 * 90)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet, desk, tablet, phone)
        for device in [phone, tablet] {
            #expect(try device.rows("SELECT name FROM list") == ["home"])
        }
    }

    @Test("was emptied: nothing local goes, edits wait, and one device fills it again")
    func emptied() async throws {
        try await scene.begin()
        try scene.empty()
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        let outcome = try await scene.exchange(desk)
        #expect(!outcome.hasContainer)
        #expect(try scene.items(desk).count == 3)
        desk.options.refills = true
        try await scene.exchange(desk)
        desk.options.refills = false
        try await scene.exchange(phone, desk)
        #expect(try scene.items(phone) == scene.items(desk))
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == scene.items(desk))
    }

    @Test("gets long values again, which a device has in its store")
    func blobs() async throws {
        try await scene.begin()
        let note = String(repeating: "n", count: 70_000)
        try phone.edit("INSERT INTO unit VALUES ('lb', 453, '\(note)')")
        try await scene.exchange(phone, desk)
        try scene.empty()
        desk.options.refills = true
        try await scene.exchange(desk)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try tablet.rows("SELECT length(note) FROM unit WHERE name = 'lb'") == ["70000"])
    }

    @Test("was reset by another device: who had it before asks, and can join")
    func reset() async throws {
        try await scene.begin()
        try scene.empty()
        scene.wait(hours: 48)
        let tablet = try scene.device("tablet")
        try tablet.edit("INSERT INTO item (name) VALUES ('figs')")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        await #expect(throws: SyncDecision.otherGroup("a")) { try await scene.exchange(desk) }
        #expect(try scene.items(desk) == ["milk|2|home", "tea|1|home"])
        for device in [desk, phone] {
            device.options.rejoining = .merge
            try await scene.exchange(device)
            device.options.rejoining = nil
        }
        scene.wait(hours: 2)
        try await scene.exchange(desk, phone, tablet, desk, phone, tablet)
        let all = ["figs|1|NULL", "milk|2|home", "tea|1|home"]
        for device in [desk, phone, tablet] { #expect(try scene.items(device) == all) }
    }

    @Test("has many small files of a device as one, and each edit once")
    func bundle() async throws {
        try await scene.begin()
        try await edit(desk, 6)
        try await scene.exchange(phone)
        scene.wait(hours: 49)
        desk.options.upkeep.bundledFiles = 4
        try await scene.exchange(desk)
        #expect(try await scene.exchange(phone).takenChanges == 0)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet)
        #expect(try scene.items(tablet) == ["milk|105|home", "tea|1|home"])
        try await scene.exchange(desk)
        scene.wait(hours: 24 * 8)
        let before = try scene.files("log").count
        try await scene.exchange(desk)
        #expect(try scene.files("log").count <= before - 6)
        let watch = try scene.device("watch")
        try await scene.enable(watch)
        try await scene.exchange(watch)
        #expect(try scene.items(watch) == scene.items(desk))
    }

    @Test("is left by a device that is forgotten, which comes back under a new id")
    func forgotten() async throws {
        try await scene.begin()
        let id = try phone.ids()[0]
        let sidecar = try Sidecar(in: desk.sidecarPath)
        #expect(try Forgetting(in: sidecar).forget(id, at: scene.now, program: "test 1"))
        #expect(try !Forgetting(in: sidecar).forget(id, at: scene.now, program: "test 1"))
        try sidecar.close()
        try phone.edit("INSERT INTO item (name) VALUES ('jam')")
        try await scene.exchange(desk, phone, desk)
        #expect(try phone.ids().count == 2)
        #expect(try scene.items(desk).contains("jam|1|NULL"))
        try phone.edit("INSERT INTO item (name) VALUES ('figs')")
        try await scene.exchange(phone, desk, phone)
        #expect(try phone.ids().count == 2)
        #expect(try scene.items(desk) == scene.items(phone))
        for (device, other) in [(desk, "phone"), (phone, "desk")] {
            let devices = try scene.overview(of: device).devices
            #expect(devices.map(\.title) == [other])
        }
    }
}
