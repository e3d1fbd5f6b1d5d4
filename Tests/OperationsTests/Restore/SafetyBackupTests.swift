import Files
import Foundation
import Remotes
import Sample
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("The backup that a restore makes of what it replaces")
struct SafetyBackupTests {
    private let scene: Scene
    private let day = 86_400.0

    init() throws {
        scene = try Scene()
    }

    private func remove(_ name: String) throws {
        _ = try GroceryStore(in: scene.stores).remove(name: name)
    }

    /// Backs up, loses an item, and restores.
    private func loseAndRestore() async throws -> (good: Backup, safety: Backup) {
        let good = try await scene.backUp().backup
        try remove("Apples")
        let safety = try #require(try await scene.restore().safetyBackup)
        return (good, safety)
    }

    private func prune(
        at date: Date,
        _ change: (inout PruneBackups.Options) -> Void
    ) async throws -> [String] {
        var options = PruneBackups.Options(policy: RetentionPolicy(), now: date)
        change(&options)
        return try await PruneBackups(
            in: scene.folder(),
            options: options,
            context: scene.context()
        ).run().removed.map(\.name)
    }

    @Test(
        "is never the latest: to restore twice gives the same, and undoing brings the old data back"
    )
    func neverLatest() async throws {
        let (good, safety) = try await loseAndRestore()
        #expect(safety.reason == "before restore of '\(good.displayName)'")
        #expect(try await scene.folder().find("latest").name == good.name)
        let undone = try await scene.newestSafety(now: Scene.morning + 3600)
        #expect(undone.name == safety.name)
        try await scene.restore { $0.backup.date = Scene.morning + 7200 }
        #expect(try scene.itemNames().contains("Apples"))
        try await scene.restore(safety.name) { $0.backup.date = Scene.morning + 7300 }
        #expect(try !scene.itemNames().contains("Apples"))
    }

    @Test("alone is no latest, and says so; without one there is nothing to undo")
    func alone() async throws {
        let (good, _) = try await loseAndRestore()
        try LocalFileSystem().remove(scene.remotePath.appending(good.name))
        let address = scene.remote.address
        await #expect(throws: BackupFolderError.onlySafetyBackups(address)) {
            try await scene.folder().find("latest")
        }
        let other = try Scene()
        try await other.backUp()
        await #expect(throws: BackupFolderError.nothingToUndo(other.remote.address)) {
            try await other.newestSafety(now: Scene.morning)
        }
    }

    @Test("is known as such on a machine that has not read its archive")
    func elsewhere() async throws {
        let elsewhere = Elsewhere(folder: scene.remote, isFetching: true)
        try await scene.backUp(to: elsewhere)
        try remove("Apples")
        let restore = RestoreBackup(
            from: scene.folder(elsewhere),
            options: .init(backup: scene.options(at: Scene.morning + 3600)),
            context: scene.context()
        )
        let good = try await scene.folder(elsewhere).find("latest")
        let safety = try #require(try await restore.run(good, to: scene.stores).safetyBackup)
        let stranger = BackupCatalog(scene.sandbox.path("Cache/of another.json"))
        let list = try await scene.folder(elsewhere, catalog: stranger).list().backups
        #expect(list.first?.name == safety.name && list.first?.isSafety == true)
        #expect(list.first?.timeSource == .name)
        #expect(try list.matching("latest", address: "").name == good.name)
    }

    @Test(
        "is no measure: neither for a backup without changes nor for a loss of rows, nor for a status"
    )
    func noMeasure() async throws {
        let (good, _) = try await loseAndRestore()
        let later = Scene.morning + 7200
        var options = scene.options(at: later)
        options.skipsUnchanged = true
        let outcome = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run()
        #expect(outcome.isUnchanged && outcome.backup.name == good.name)
        let status = await ShowStatus(of: scene.stores, in: scene.folder(), now: later).run()
        #expect(status.newest?.name == good.name && status.safetyBackups == 1)
        #expect(status.backups == 2)
    }

    @Test("is kept by its own rule alone, and no other counts it")
    func prune() async throws {
        let (good, safety) = try await loseAndRestore()
        #expect(try await prune(at: Scene.morning + day) { $0.policy.counts[.last] = 1 } == [])
        #expect(try await prune(at: Scene.morning + day) { $0.policy.counts[.daily] = 7 } == [])
        let later = Scene.morning + 8 * day
        let none = try await prune(at: later) {
            $0.policy.counts[.last] = 1
            $0.keepsSafety = .seconds(9 * 86_400)
        }
        #expect(none == [])
        #expect(try await prune(at: later) { $0.policy.counts[.last] = 1 } == [safety.name])
        #expect(try await scene.list().map(\.name) == [good.name])
    }

    @Test("stays if it is the only backup that there is")
    func lastOfAll() async throws {
        let (good, safety) = try await loseAndRestore()
        try LocalFileSystem().remove(scene.remotePath.appending(good.name))
        let removed = try await prune(at: Scene.morning + 30 * day) { $0.policy.counts[.last] = 1 }
        #expect(removed == [])
        #expect(try await scene.list().map(\.name) == [safety.name])
    }

    @Test("is made and kept though nothing can be noted beside it")
    func notesBroken() async throws {
        try await scene.backUp()
        try remove("Apples")
        try scene.sandbox.write("", to: "Remote/\(Annotations.subfolder)")
        let safety = try #require(try await scene.restore().safetyBackup)
        #expect(safety.isSafety)
        #expect(scene.told.contains { $0.contains("'\(Annotations.subfolder)'") })
        #expect(try await scene.list().map(\.isSafety) == [true, false])
    }
}
