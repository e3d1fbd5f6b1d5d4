import Changes
import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("What has failed elsewhere, in the container")
struct PublishedContainerFailuresTests {
    let scene: AccidentScene

    init() throws { scene = try AccidentScene() }

    private var desk: Device { scene.desk }
    private var phone: Device { scene.phone }

    private func path(_ folder: String) -> FilePath {
        scene.container.appending("a").appending(folder)
    }

    /// Moves files of a folder into another one.
    private func move(from folder: String, to other: String, _ isMoved: (Int) -> Bool) throws {
        try LocalFileSystem().createDirectories(path(other))
        for (index, name) in try scene.files(folder).enumerated() where isMoved(index) {
            try LocalFileSystem()
                .move(path(folder).appending(name), to: path(other).appending(name))
        }
    }

    @Test("10. Ensembles #3915cbd: the folder split into 'log' and 'log 2'")
    func splitFolder() async throws {
        try await scene.begin()
        for amount in 3...5 {
            try desk.edit("UPDATE item SET amount = \(amount) WHERE name = 'milk'")
            try await scene.exchange(desk)
            try phone.edit("INSERT INTO item (name) VALUES ('figs \(amount)')")
            // Not the desk, which is to hear of it only now.
            try await scene.exchange(phone)
        }
        try move(from: "log", to: "log 2") { !$0.isMultiple(of: 2) }
        try move(from: "info", to: "info 2") { $0.isMultiple(of: 2) }
        // Each device sees that its own files are gone, and sends again what it knows.
        scene.wait(hours: 2)
        try await scene.exchange(desk, phone)
        let tablet = try scene.device("tablet")
        try await scene.enable(tablet)
        try await scene.exchange(tablet, desk, phone, tablet)
        let items = [
            "figs 3|1|NULL", "figs 4|1|NULL", "figs 5|1|NULL", "milk|5|home", "tea|1|home",
        ]
        for device in [desk, phone, tablet] { #expect(try scene.items(device) == items) }
        // Somebody merges the folders again.
        try move(from: "log 2", to: "log") { _ in true }
        try move(from: "info 2", to: "info") { _ in true }
        try await scene.exchange(desk, phone, tablet)
        for device in [desk, phone, tablet] { #expect(try scene.items(device) == items) }
        let log = try scene.files("log")
        try await scene.exchange(desk, phone, tablet)
        #expect(try scene.files("log") == log)
    }

    @Test("14. sqlite-data #547: sending a parent fails; the child is not deleted")
    func parentNotSent() async throws {
        try await scene.begin()
        let before = try Set(scene.files("log"))
        try desk.edit("INSERT INTO list VALUES (2, 'work')")
        let real = desk.folder
        // A quota, say.
        desk.folder = InterruptedFolder(real: real) { _ in
            throw RemoteError.readOnly("container", reason: "no space is left in it")
        }
        #expect(try await scene.exchange(desk).trouble != nil)
        try desk.edit("INSERT INTO item (name, list_id) VALUES ('pens', 2)")
        #expect(try await scene.exchange(desk).trouble != nil)
        let items = ["milk|2|home", "pens|1|work", "tea|1|home"]
        #expect(try scene.items(desk) == items)
        #expect(try Set(scene.files("log")) == before)
        try await scene.exchange(phone)
        desk.folder = real
        try await scene.exchange(desk)
        // The parent's file is late.
        let sent = try scene.files("log").filter { !before.contains($0) }
        let parent = try #require(sent.first)
        let bytes = try File.contents(of: path("log").appending(parent), limit: 1 << 20)
        try scene.remove("log", parent)
        try await scene.exchange(phone, desk)
        #expect(try scene.items(desk) == items)
        #expect(try scene.items(phone) == ["milk|2|home", "tea|1|home"])
        try LocalFileSystem().write(bytes, to: path("log").appending(parent))
        try await scene.exchange(phone, desk)
        for device in [desk, phone] { #expect(try scene.items(device) == items) }
    }

    @Test("15. sqlite-data #315: a child is sent along with a parent that conflicts")
    func conflictingParent() async throws {
        try await scene.begin()
        try desk.edit(
            """
            UPDATE list SET name = 'house' WHERE id = 1;
            INSERT INTO item (name, list_id) VALUES ('pens', 1)
            """
        )
        try phone.edit("UPDATE list SET name = 'flat' WHERE id = 1")
        try await scene.exchange(desk, phone, desk, phone)
        for device in [desk, phone] {
            #expect(try scene.items(device) == ["milk|2|flat", "pens|1|flat", "tea|1|flat"])
        }
        let lost = try desk.inspect { try $0.listedCells().map(\.column.description) }
        #expect(lost == ["name"])
        #expect(try phone.inspect { try $0.listedCells() } == [])
    }

    // Not published: found by killing runs.

    @Test("a file that a killed run has sent, and that is gone since, keeps no run from its end")
    func sentAndGone() async throws {
        try await scene.begin()
        let before = try Set(scene.files("log"))
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        let real = desk.folder
        desk.folder = InterruptedFolder(real: real, after: { _ in throw Killed() })
        await #expect(throws: Killed.self) { try await scene.exchange(desk) }
        desk.folder = real
        let sent = try scene.files("log").filter { !before.contains($0) }
        #expect(sent.count == 1)
        for name in sent { try scene.remove("log", name) }
        try await scene.exchange(desk)
        scene.wait(hours: 2)
        try await scene.exchange(desk, phone)
        #expect(try scene.items(phone) == ["jam|1|NULL", "milk|2|home", "tea|1|home"])
    }

    @Test("a file that was sent by a clock that was put right since, and is gone, is made up for")
    func sentAheadOfTime() async throws {
        try await scene.begin()
        let before = try Set(scene.files("log"))
        desk.skew = 30 * 86_400
        try desk.edit("INSERT INTO item (name) VALUES ('jam')")
        try await scene.exchange(desk)
        desk.skew = 0
        for name in try scene.files("log") where !before.contains(name) {
            try scene.remove("log", name)
        }
        scene.wait(hours: 2)
        try await scene.exchange(desk, phone)
        #expect(try scene.items(phone) == ["jam|1|NULL", "milk|2|home", "tea|1|home"])
    }

    @Test("what killed uploads left goes after a day")
    func abandoned() async throws {
        try await scene.begin()
        let names = [PartialName.make(), PartialName.make()]
        for (name, age) in zip(names, [3600.0, 90_000]) {
            let path = scene.container.appending(name)
            try LocalFileSystem().write([1], to: path)
            try FileManager.default.setAttributes(
                [.modificationDate: scene.now - age],
                ofItemAtPath: path.string
            )
        }
        try await scene.exchange(desk)
        #expect(try FileInfo.ifPresent(scene.container.appending(names[0])) != nil)
        #expect(try FileInfo.ifPresent(scene.container.appending(names[1])) == nil)
    }

    @Test("a row like one that a killed run has seeded is another row")
    func seededTwice() async throws {
        try desk.edit("INSERT INTO item (name) VALUES ('milk'), ('tea')")
        try await scene.enable(desk)
        desk.options.passed = { if $0 == .published { throw Killed() } }
        await #expect(throws: Killed.self) { try await scene.exchange(desk) }
        desk.options.passed = { _ in }
        try desk.edit("INSERT INTO item (name) VALUES ('milk'), ('milk')")
        try await scene.exchange(desk)
        try desk.inspect { try $0.shadow.forgetLooks() }
        #expect(try await scene.exchange(desk).sentChanges == 0)
        try phone.edit("INSERT INTO item (name) VALUES ('milk')")
        try await scene.enable(phone)
        try await scene.exchange(phone, desk, phone)
        let items = ["milk|1|NULL", "milk|1|NULL", "milk|1|NULL", "tea|1|NULL"]
        for device in [desk, phone] { #expect(try scene.items(device) == items) }
    }

    @Test("a long value of which a killed run has fetched a part is fetched again")
    func cutBlob() async throws {
        try await scene.begin()
        try desk.edit("UPDATE unit SET note = hex(zeroblob(50000))")
        try await scene.exchange(desk)
        let blobs = try #require(
            try Directory.open(scene.container.appending("a")).names().map(\.description)
                .first { $0.hasPrefix("blob-") }
        )
        let name = try #require(try scene.files(blobs).first)
        let cut = phone.sidecarPath.appending("blobs")
        try LocalFileSystem().createDirectories(cut)
        try LocalFileSystem().write([], to: cut.appending(name))
        try await scene.exchange(phone)
        #expect(try phone.rows("SELECT length(note) FROM unit") == ["100000"])
        try LocalFileSystem().createDirectories(cut)
        try LocalFileSystem().write([1], to: cut.appending(name))
        try await scene.exchange(phone)
        #expect(try FileInfo.ifPresent(cut) == nil)
    }
}
