import History
import Files
import Foundation
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A backup's identity")
struct BackupFolderTests {
    private let scene: Scene
    private let log: RunLog

    init() throws {
        scene = try Scene()
        log = RunLog(scene.sandbox.path("State/log.sqlite"))
    }

    /// A backup that is tagged, pinned and checked, as it is listed.
    private func backUp() async throws -> Backup {
        var options = scene.options()
        options.tags = ["weekly"]
        let context = scene.context()
        let folder = scene.folder(log: log)
        let name = try await CreateBackup(
            of: scene.stores,
            to: folder,
            options: options,
            context: context
        ).run().backup.name
        let pinned = try await PinBackup(in: folder, context: context)
            .run(name, isPinned: true, at: Scene.morning).backup
        let checks = CheckBackups(in: folder, options: .init(), context: context)
        #expect(try await checks.run(pinned, at: Scene.morning).isGood)
        return try await list(folder)
    }

    /// Writes an archive with a changed byte to the folder.
    private func damage(_ name: String, as copy: String) throws {
        var bytes = try scene.sandbox.read("Remote/\(name)")
        bytes[200] ^= 1
        try scene.sandbox.write(bytes, to: "Remote/\(copy)")
    }

    private func list(_ folder: BackupFolder) async throws -> Backup {
        let listing = try await folder.list()
        try await folder.memory.catalog.save()
        return try #require(listing.backups.first)
    }

    private func expectSame(_ backup: Backup, as first: Backup) {
        #expect(backup.id == first.id && backup.time == first.time)
        #expect(backup.tags == ["weekly"] && backup.isPinned)
        #expect(backup.checks.last?.depth == .data)
    }

    @Test(
        "A renamed backup keeps its identity, and with it tags, pin and checks",
        arguments: [true, false]
    )
    func renamed(hasMemory: Bool) async throws {
        let first = try await backUp()
        let name = "before the move Stores.zip"
        try await scene.remote.move(first.name, to: scene.remote, as: name)
        if !hasMemory { try LocalFileSystem().remove(scene.sandbox.path("Cache")) }
        let backup = try await list(scene.folder(log: log))
        #expect(backup.name == name)
        expectSame(backup, as: first)
    }

    @Test("A backup moved to another folder keeps its identity, and with it tags, pin and checks")
    func moved() async throws {
        let first = try await backUp()
        let other = try scene.sandbox.directory("Cache/Other")
        try LocalFileSystem().move(
            scene.remotePath.appending(first.name),
            to: other.appending(first.name)
        )
        // Seen to be gone first.
        #expect(try await scene.folder(log: log).list().backups.isEmpty)
        let folder = scene.folder(LocalFolder(other), log: log)
        expectSame(try await list(folder), as: first)
        // A change there begins with what was said before.
        _ = try await folder.notes.annotate(list(folder), at: Scene.morning) { $0.note = "moved" }
        try LocalFileSystem().remove(scene.sandbox.path("Cache/catalog.json"))
        let backup = try await list(folder)
        #expect(backup.note == "moved" && backup.tags == ["weekly"] && backup.isPinned)
    }

    @Test("A copy shares a backup's identity, but its damage is its own")
    func copied() async throws {
        let first = try await backUp()
        let copy = "copy Stores.zip"
        try damage(first.name, as: copy)
        let folder = scene.folder(log: log)
        let checks = CheckBackups(in: folder, options: .init(), context: scene.context())
        let damaged = try await checks.run(try await folder.find(copy), at: Scene.morning + 60)
        #expect(damaged.damage.count == 1)
        for log in [log, nil] {
            let backups = try await scene.folder(log: log).list().backups
            #expect(Set(backups.map(\.id)) == [first.id])
            #expect(backups.first { $0.name == copy }?.damage != nil)
            // Only while a check is remembered that found it whole: they may have changed names.
            #expect((backups.first { $0.name == first.name }?.damage == nil) == (log != nil))
        }
        // That the first one is whole says nothing of the copy.
        _ = try await checks.run(try await folder.find(first.name), at: Scene.morning + 120)
        #expect(try await folder.list().backups.first { $0.name == copy }?.damage != nil)
        // Its pin is that of both, and goes with the last of them.
        try await scene.remote.delete(first.name)
        #expect(try await folder.list().backups.map(\.isPinned) == [true])
    }

    @Test("The damage of a deleted copy goes with it, and comes back with it")
    func deletedCopy() async throws {
        let first = try await backUp()
        let copy = "copy Stores.zip"
        try damage(first.name, as: copy)
        let folder = scene.folder(log: log)
        let checks = CheckBackups(in: folder, options: .init(), context: scene.context())
        _ = try await checks.run(try await folder.find(copy), at: Scene.morning + 60)
        let damaged = try await folder.find(copy)
        _ = try await folder.remove(
            damaged,
            at: Scene.morning + 120,
            keepingTrash: .seconds(86_400)
        )
        for log in [log, nil] {
            let backups = try await scene.folder(log: log).list().backups
            #expect(backups.map(\.name) == [first.name] && backups.first?.damage == nil)
        }
        _ = try await folder.trash.bringBack(copy)
        for log in [log, nil] {
            let backups = try await scene.folder(log: log).list().backups
            #expect(backups.first { $0.name == copy }?.damage != nil)
        }
    }

    @Test("A damaged backup keeps its damage if it is renamed and a good copy takes its name")
    func mended() async throws {
        let first = try await backUp()
        let good = try scene.sandbox.read("Remote/\(first.name)")
        try damage(first.name, as: first.name)
        let folder = scene.folder(log: log)
        let checks = CheckBackups(in: folder, options: .init(), context: scene.context())
        func check(_ name: String, at seconds: Double) async throws -> Bool {
            let backup = try await folder.find(name)
            return try await checks.run(backup, at: Scene.morning + seconds).isGood
        }
        func damaged() async throws -> Set<String> {
            Set(try await folder.list().backups.filter { $0.damage != nil }.map(\.name))
        }
        #expect(try await !check(first.name, at: 60))
        let bad = "bad Stores.zip"
        try await scene.remote.move(first.name, to: scene.remote, as: bad)
        try scene.sandbox.write(good, to: "Remote/\(first.name)")
        #expect(try await damaged() == [first.name, bad])
        #expect(try await check(first.name, at: 120))
        #expect(try await damaged() == [bad])
        #expect(try await !check(bad, at: 180))
        // Once it is good as well, so are both.
        try scene.sandbox.write(good, to: "Remote/\(bad)")
        #expect(try await check(bad, at: 240))
        #expect(try await damaged() == [])
    }

    @Test("A damaged backup keeps its damage if it is renamed and another backup takes its name")
    func nameTaken() async throws {
        let first = try await backUp()
        var bytes = try scene.sandbox.read("Remote/\(first.name)")
        bytes[200] ^= 1
        try scene.sandbox.write(bytes, to: "Remote/\(first.name)")
        let folder = scene.folder(log: log)
        let checks = CheckBackups(in: folder, options: .init(), context: scene.context())
        let damaged = try await folder.find(first.name)
        #expect(try await checks.run(damaged, at: Scene.morning + 60).damage.count == 1)
        let renamed = "renamed Stores.zip"
        try await scene.remote.move(first.name, to: scene.remote, as: renamed)
        #expect(try await scene.backUp().backup.name == first.name)
        for log in [log, nil] {
            let backups = try await scene.folder(log: log).list().backups
            #expect(backups.first { $0.name == renamed }?.damage != nil)
            #expect(backups.first { $0.name == first.name }?.damage == nil)
        }
    }

    @Test("A backup's identity is random, and that of a foreign archive comes from its directory")
    func identities() async throws {
        let first = try await scene.backUp().backup
        let second = try await scene.backUp(at: Scene.morning + 60).backup
        #expect(first.id != nil && first.id != second.id)
        let zip = try Fixtures.read("archives/Info-ZIP.zip")
        for name in ["a Stores.zip", "b Stores.zip"] {
            try scene.sandbox.write(zip, to: "Remote/\(name)")
        }
        let foreign = try await scene.list().filter { $0.name.count < 20 }
        #expect(foreign.count == 2 && Set(foreign.map(\.id)).count == 1)
        #expect(foreign.first?.id?.rawValue.hasPrefix("sha256:") == true)
    }
}
