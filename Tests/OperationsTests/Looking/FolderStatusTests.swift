import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("The status of a folder of backups")
struct FolderStatusTests {
    private func status(
        _ scene: Scene,
        catalog: BackupCatalog? = nil,
        at offset: TimeInterval = 3600
    ) async -> Status {
        await ShowStatus(
            of: scene.stores,
            in: scene.folder(catalog: catalog),
            now: Scene.morning + offset
        ).run()
    }

    @Test("A partial backup is not the newest good one, and the status reports it")
    func partial() async throws {
        let scene = try Scene(withStore: false)
        try Fixtures.copy("stores/core-data", into: scene.sandbox, as: "Stores")
        let missing = "Stores/.Model_SUPPORT/_EXTERNAL_DATA/5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"
        try scene.sandbox.write("the third", to: missing)
        let whole = try await scene.backUp().backup
        try LocalFileSystem().remove(scene.sandbox.path(missing))
        let partial = try await scene.backUp(at: Scene.morning + 1800).backup
        let status = await status(scene)
        #expect(status.newest?.name == whole.name && status.age == .seconds(3600))
        #expect(status.newestPartial?.name == partial.name)
        #expect(!status.isFresh(within: .seconds(3000)))
        // A machine that has neither made nor read it knows it too.
        let list = try await scene.folder(catalog: BackupCatalog(scene.sandbox.path("Cache/new")))
            .list().backups
        #expect(list.map(\.isPartial) == [true, false])
        #expect(list.newestGood(at: Scene.morning + 3600)?.name == whole.name)
        // The last complete one is kept, whatever a policy counts.
        var options = PruneBackups.Options(policy: RetentionPolicy(), now: Scene.morning + 3600)
        options.policy.counts[.last] = 1
        let plan = try await PruneBackups(
            in: scene.folder(),
            options: options,
            context: scene.context()
        ).plan()
        #expect(plan.keep.map(\.reasons) == [["last snapshot"], ["newest complete"]])
    }

    @Test("The status does not report a backup that this machine deleted while other runs went on")
    func deletedMeanwhile() async throws {
        let scene = try Scene()
        func catalog(_ hours: Double) -> BackupCatalog {
            BackupCatalog(scene.sandbox.path("Cache/catalog"), at: Scene.morning + hours * 3600)
        }
        let name = try await scene.backUp().backup.name
        _ = try await scene.backUp(at: Scene.morning + 60)
        let (missing, knowing, deleting) = (catalog(1), catalog(1), catalog(1))
        for catalog in [missing, knowing] { _ = try await scene.folder(catalog: catalog).list() }
        try await DeleteBackup(from: scene.folder(catalog: deleting), context: scene.context()).run(
            try await scene.folder(catalog: deleting).find(name),
            at: Scene.morning + 3600,
            keepingTrash: .zero
        )
        try await deleting.save()
        // One run misses it, and another remembers it after it is gone.
        _ = try await scene.folder(catalog: missing).list()
        try await missing.save()
        try await knowing.save()
        for hours in [2.0, 4, 48] {
            let catalog = catalog(hours)
            let status = await status(scene, catalog: catalog, at: hours * 3600)
            try await catalog.save()
            #expect(status.warnings.filter { $0.contains("gone") } == [])
        }
    }

    @Test("The status reports backups that others removed, for a while, and no other backups")
    func vanished() async throws {
        let scene = try Scene()
        let day = 86_400.0
        /// What a run of some day knows.
        func catalog(_ days: Double) -> BackupCatalog {
            BackupCatalog(scene.sandbox.path("Cache/catalog"), at: Scene.morning + days * day)
        }
        func warnings(_ days: Double) async throws -> [String] {
            let catalog = catalog(days)
            let status = await status(scene, catalog: catalog, at: days * day)
            try await catalog.save()
            return status.warnings.filter { $0.contains("gone") }
        }
        var names: [String] = []
        for minute in 0..<5 {
            names.append(
                try await scene.backUp(at: Scene.morning + Double(minute) * 60).backup.name
            )
        }
        #expect(try await warnings(1) == [])
        // By our own hands, and by those of another machine of ours.
        let ours = catalog(1)
        try await DeleteBackup(from: scene.folder(catalog: ours), context: scene.context()).run(
            try await scene.folder(catalog: ours).find(names[0]),
            at: Scene.morning,
            keepingTrash: .zero
        )
        try await ours.save()
        let theirs = BackupCatalog(scene.sandbox.path("Cache/theirs"))
        try await DeleteBackup(from: scene.folder(catalog: theirs), context: scene.context()).run(
            try await scene.folder(catalog: theirs).find(names[1]),
            at: Scene.morning,
            keepingTrash: .seconds(60)
        )
        // Another name is no loss.
        try LocalFileSystem().move(
            scene.remotePath.appending(names[4]),
            to: scene.remotePath.appending("Mine Stores.zip")
        )
        #expect(try await warnings(2) == [])
        for name in names[2...3] {
            try LocalFileSystem().move(
                scene.remotePath.appending(name),
                to: scene.sandbox.path("Cache").appending(name)
            )
        }
        let gone = names[2...3].map { "'\(BackupName.display($0))'" }.joined(separator: ", ")
        let warning = "2 backups are gone since 2026-11-23: \(gone)"
        #expect(try await warnings(3) == [warning])
        #expect(try await warnings(31) == [warning])
        // One comes back, and the other is forgotten.
        try LocalFileSystem().move(
            scene.sandbox.path("Cache").appending(names[2]),
            to: scene.remotePath.appending(names[2])
        )
        #expect(try await warnings(31.1).first?.hasPrefix("1 backup is gone") == true)
        #expect(try await warnings(33) == [])
    }

    @Test("The status says once that the backups would be lost with the stores")
    func sameFileSystem() async throws {
        let scene = try Scene()
        let words = "are on the same file system as the stores"
        try await scene.backUp()
        #expect(scene.all.count { $0.contains(words) } == 1)
        try await scene.backUp(at: Scene.morning + 60)
        #expect(scene.all.count { $0.contains(words) } == 1)
        let status = await status(scene)
        #expect(status.remarks.count == 1 && status.remarks.allSatisfy { $0.contains(words) })
        #expect(status.warnings == [])
        // It is brought elsewhere.
        try scene.sandbox.write("", to: "Remote/.dropbox")
        #expect(await self.status(scene).remarks == [])
    }

    @Test(
        "The status warns of stores in a directory that another program synchronises",
        arguments: [
            ("Box/.stfolder/x", "Box", "Syncthing"), ("Box/.dropbox", "Box", "Dropbox"),
            ("Dropbox (Work)/x", "Dropbox (Work)", "Dropbox"),
            ("OneDrive - Work/x", "OneDrive - Work", "OneDrive"),
            ("Library/Mobile Documents/x", "Library/Mobile Documents", "iCloud Drive"),
            ("Box/.sync_0123456789ab.db", "Box", "Nextcloud"),
            ("Box/.owncloudsync.log", "Box", "ownCloud"),
        ]
    )
    func synchronised(mark: String, place: String, program: String) async throws {
        let scene = try Scene()
        try scene.sandbox.write("", to: mark)
        let stores = try scene.sandbox.directory("\(place)/App/Stores")
        try scene.sandbox.write(scene.closedStore(), to: "\(place)/App/Stores/a.db")
        let words = "which \(program) synchronises"
        let status = await ShowStatus(of: stores, in: scene.folder(), now: Scene.morning).run()
        #expect(status.warnings.count == 1 && status.warnings.allSatisfy { $0.contains(words) })
        _ = try await CreateBackup(
            of: stores,
            to: scene.folder(),
            options: scene.options(),
            context: scene.context()
        ).run()
        #expect(scene.told.contains { $0.hasPrefix("warning: ") && $0.contains(words) })
        // A home with Dropbox's settings is not synchronised.
        try scene.sandbox.write("", to: "Home/.dropbox/settings")
        let home = try scene.sandbox.directory("Home/Stores")
        let other = await ShowStatus(of: home, in: scene.folder(), now: Scene.morning).run()
        #expect(other.warnings == [])
    }
}
