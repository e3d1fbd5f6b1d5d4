import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A selection of backups")
struct BackupSelectionTests {
    private func backup(_ name: String, size: Int64 = 1, tags: [String] = []) -> Backup {
        var backup = Backup(RemoteFile(name: name, size: size), timeZone: Scene.utc)
        backup.tags = tags
        return backup
    }

    @Test("A selection has the backups since a moment, and none whose time is unknown")
    func since() throws {
        let backups = [
            backup("[2026-Nov-21] 09.01 AM Stores.zip"),
            backup("[2026-Nov-20] 09.01 AM Stores.zip"), backup("B Stores.zip"),
        ]
        var selection = BackupSelection()
        selection.since = backups[0].time
        #expect(selection(backups) == [backups[0]])
        selection.since = .distantPast
        #expect(selection(backups) == [backups[0], backups[1]])
    }

    @Test("A selection has the backups with all tags of one list, as restic's")
    func tags() {
        let backups = [
            backup("1 Stores.zip", tags: ["a", "b"]), backup("2 Stores.zip", tags: ["c"]),
            backup("3 Stores.zip", tags: ["a"]), backup("4 Stores.zip"),
        ]
        var selection = BackupSelection()
        selection.tags = [["a", "b"], ["c"]]
        #expect(Set(selection(backups).map(\.name)) == Set(backups[0...1].map(\.name)))
        selection.tags = [["a"]]
        #expect(Set(selection(backups).map(\.name)) == [backups[0].name, backups[2].name])
        selection.tags = [[""]]
        #expect(selection(backups) == [backups[3]])
    }
}

/// Archives that say nothing of their time, in a folder of ours.
@Suite("The time of a foreign archive's file")
struct FileTimeTests {
    /// A scene with a backup, and a foreign archive whose file is newer and has the time of a moment.
    private func scene(at date: Date) async throws -> Scene {
        let scene = try Scene()
        try await scene.backUp()
        try foreign("Old Stores.zip", at: date, in: scene)
        return scene
    }

    private func foreign(_ name: String, at date: Date, in scene: Scene) throws {
        let path = try scene.sandbox.write(
            [80, 75, 5, 6] + [UInt8](repeating: 0, count: 18),
            to: "Remote/\(name)"
        )
        try Tool.check("touch", ["-d", "@\(Int(date.timeIntervalSince1970))", path.string])
    }

    @Test("A foreign archive without a time of its own has its file's time, and a list says so")
    func isShown() async throws {
        let moment = Date(timeIntervalSince1970: 1_000_000_000)
        let scene = try await scene(at: moment)
        for _ in 0..<2 {
            let catalog = scene.catalog
            let found = try await scene.folder(catalog: catalog).list().backups
            let old = try #require(found.first { $0.name == "Old Stores.zip" })
            #expect(old.time == moment && old.timeSource == .file && old.isForeign)
            #expect(found.first { $0.name != old.name }?.timeSource == .manifest)
            // What is remembered says the same.
            try await catalog.save()
        }
    }

    @Test(
        "A foreign archive with its file's time is not the latest while a backup has its own time"
    )
    func latest() async throws {
        let scene = try await scene(at: Scene.morning + 3600)
        let now = Scene.morning + 7200
        #expect(try await scene.folder().find("latest", now: now).timeSource == .manifest)
        // A list that is sorted by time shows it where its file's time is.
        let sorted = BackupSelection()(try await scene.list())
        #expect(sorted.map(\.timeSource) == [.file, .manifest])
        // Of files alone, the newest is all there is.
        let name = try #require(sorted.last?.name)
        try LocalFileSystem().remove(scene.remotePath.appending(name))
        try foreign("Older Stores.zip", at: Scene.morning, in: scene)
        #expect(try await scene.folder().find("latest", now: now).name == "Old Stores.zip")
    }

    @Test("A file's time does not count as the age of a backup")
    func age() async throws {
        let scene = try await scene(at: Scene.morning + 86_000)
        let status = await ShowStatus(
            of: scene.stores,
            in: scene.folder(),
            now: Scene.morning + 86_400
        ).run()
        #expect(status.newest?.timeSource == .manifest)
        #expect(status.age.map { $0 > .seconds(86_000) } ?? false)
        #expect(status.warnings.isEmpty)
    }

    @Test("A retention policy ignores a file's time")
    func prune() async throws {
        let scene = try await scene(at: Scene.morning - 1e8)
        try await scene.backUp(at: Scene.morning + 86_400)
        var policy = RetentionPolicy()
        policy.counts = [.last: 1]
        let options = PruneBackups.Options(policy: policy, now: Scene.morning + 90_000)
        let outcome = try await PruneBackups(
            in: scene.folder(),
            options: options,
            context: scene.context()
        ).run()
        #expect(outcome.removed.map(\.time) == [Scene.morning])
        #expect(try await scene.list().map(\.name).contains("Old Stores.zip"))
        // Nor does it take the place of one that a policy keeps.
        try foreign("Old Stores.zip", at: Scene.morning + 88_000, in: scene)
        let plan = try await PruneBackups(
            in: scene.folder(),
            options: options,
            context: scene.context()
        ).plan()
        #expect(plan.remove.isEmpty && plan.keep.count == 2)
    }
}

/// Archives that have no end yet.
@Suite("A truncated archive")
struct CutArchiveTests {
    @Test("A truncated archive is not ready and no good backup, but is not called damaged")
    func isNotReady() async throws {
        let scene = try Scene()
        let name = try await scene.backUp().backup.name
        let whole = try scene.sandbox.read("Remote/\(name)")
        for length in [3, 4, whole.count / 2, whole.count - 1] {
            try scene.sandbox.write(whole.prefix(length), to: "Remote/\(name)")
            let backup = try #require(try await scene.list().first)
            #expect(backup.isUnreadable && backup.trouble == .notReady, "\(length)")
            let warning = backup.warning(at: Scene.morning + 60)
            #expect(warning?.hasSuffix("is not ready: \(Backup.notReady)") ?? false, "\(length)")
        }
        // Of another beginning, it is none.
        try scene.sandbox.write("no zip at all", to: "Remote/\(name)")
        let backup = try #require(try await scene.list().first)
        #expect(backup.isUnreadable && backup.trouble == .damaged)
    }

    @Test("A command waits for a truncated archive until it is whole")
    func waiting() async throws {
        let scene = try Scene()
        let name = try await scene.backUp().backup.name
        let whole = try scene.sandbox.read("Remote/\(name)")
        try scene.sandbox.write(whole.prefix(100), to: "Remote/\(name)")
        let folder = scene.folder()
        let cut = try #require(try await folder.list().backups.first)
        let context = scene.context()
        await #expect(throws: RestoreError.self) {
            try await context.wait(for: cut, in: folder, atMost: .zero)
        }
        #expect(scene.told.isEmpty)
        await #expect(throws: RestoreError.self) {
            try await context.wait(for: cut, in: folder, atMost: .milliseconds(150))
        }
        // It is completed while somebody waits.
        let completing = scene.context(meanwhile: {
            try scene.sandbox.write(whole, to: "Remote/\(name)")
        })
        let found = try await completing.wait(for: cut, in: folder, atMost: .seconds(3600))
        #expect(!found.isUnreadable && found.timeSource == .manifest)
        #expect(scene.told.contains { $0.hasPrefix("waiting for '\(cut.displayName)'") })
        #expect(try await context.wait(for: found, in: folder, atMost: .zero) == found)
    }

    @Test("A command does not wait for a truncated archive that goes away")
    func goesAway() async throws {
        let scene = try Scene()
        let name = try await scene.backUp().backup.name
        try scene.sandbox.write("PK", to: "Remote/\(name)")
        let folder = scene.folder()
        let cut = try #require(try await folder.list().backups.first)
        let removing = scene.context(meanwhile: {
            try LocalFileSystem().remove(scene.remotePath.appending(name))
        })
        await #expect(throws: BackupFolderError.self) {
            try await removing.wait(for: cut, in: folder, atMost: .seconds(3600))
        }
    }
}
