import Files
import Foundation
import Remotes
import Sample
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// A directory whose names cannot be had on the disk (fsync(2)), after they were changed.
@Suite("A folder that cannot be synced")
struct NotSyncedTests {
    private let scene: Scene
    private let faulty: FaultyFileSystem
    private var remote: LocalFolder { LocalFolder(scene.remotePath, fileSystem: faulty) }

    init() async throws {
        scene = try Scene()
        faulty = FaultyFileSystem(failing: .callOf(.sync, 1), staysBroken: true)
    }

    private func deletion(from remote: any RemoteFolder) -> DeleteBackup {
        DeleteBackup(
            from: scene.folder(remote),
            context: scene.context()
        )
    }

    /// Expects that it was reported, once, as a problem.
    private func expectReported(_ problems: [Problem], of name: String) throws {
        try faulty.assertFaultWasMet()
        let problem = try #require(problems.first)
        #expect(problems.count == 1 && problem.kind == .notSynced && problem.path == name)
        let words = "the change of '\(name)' may be lost in a power failure: cannot sync"
        #expect(problem.description.hasPrefix(words), "\(problem)")
        #expect(scene.told.count { $0.contains(words) } == 1, "\(scene.told)")
    }

    @Test("has the backup, of which it is said that it may be lost")
    func backup() async throws {
        let outcome = try await scene.backUp(to: remote)
        try expectReported(outcome.problems, of: outcome.backup.name)
        #expect(try await scene.list().map(\.name) == [outcome.backup.name])
        try await scene.restore { $0.makesSafetyBackup = false }
        #expect(try scene.itemNames().count == 12)
    }

    @Test("is not relied on for what a restore replaces")
    func safetyBackup() async throws {
        try await scene.backUp()
        _ = try GroceryStore(in: scene.stores).remove(name: "Apples")
        // The first three are for the note beside it, which may be lost.
        let faulty = FaultyFileSystem(failing: .callOf(.sync, 4))
        let restore = RestoreBackup(
            from: scene.folder(LocalFolder(scene.remotePath, fileSystem: faulty)),
            options: RestoreBackup.Options(backup: scene.options(at: Scene.morning + 3600)),
            context: scene.context()
        )
        let backup = try await scene.folder().find("latest")
        let error = await #expect(throws: RestoreError.self) {
            try await restore.run(backup, to: scene.stores)
        }
        try faulty.assertFaultWasMet()
        #expect(
            error?.description.contains("your data is as it was: the present data cannot be")
                == true
        )
        #expect(error?.description.contains("power failure: cannot sync") == true)
        #expect(try scene.itemNames().count == 11)
        #expect(try scene.leftovers() == [])
    }

    @Test("has a deletion, of which it is said that it may be undone", arguments: [0, 60])
    func delete(trash: Int) async throws {
        let name = try await scene.backUp().backup.name
        // So that the first directory to be synced is one that was changed.
        try scene.sandbox.directory("Remote/\(Trash.subfolder)")
        let delete = deletion(from: remote)
        let problems = try await delete.run(
            try await scene.folder().find("latest"),
            at: Scene.morning,
            keepingTrash: .seconds(trash)
        ).problems
        try expectReported(problems, of: name)
        #expect(try await scene.list().isEmpty)
    }

    @Test("has what came back, of which it is said that it may be gone again")
    func undelete() async throws {
        let name = try await scene.backUp().backup.name
        let whole = deletion(from: scene.remote)
        try await whole.run(
            scene.folder().find(name),
            at: Scene.morning,
            keepingTrash: .seconds(60)
        )
        let (backup, _, problems) = try await deletion(from: remote).undo(name)
        #expect(backup.name == name)
        try expectReported(problems, of: name)
        #expect(try await scene.list().map(\.name) == [name])
    }

    @Test("has a prune though one in the trash cannot be removed, and then those after it")
    func trash() async throws {
        let name = try await scene.backUp().backup.name
        let old = "20261102T090100.000Z \(name)"
        for file in [old, "20261101T090100.000Z \(name)"] {
            try scene.sandbox.write("old", to: "Remote/\(Trash.subfolder)/\(file)")
        }
        let broken = FaultyFileSystem(failing: .callOf(.remove, 1))
        let delete = deletion(from: LocalFolder(scene.remotePath, fileSystem: broken))
        // A deletion has nothing to do with them.
        let problems = try await delete.run(
            try await scene.folder().find("latest"),
            at: Scene.morning,
            keepingTrash: .seconds(60)
        ).problems
        #expect(problems == [])
        #expect(try await scene.list().isEmpty)
        var policy = RetentionPolicy()
        policy.counts = [.last: 1]
        let prune = PruneBackups(
            in: scene.folder(LocalFolder(scene.remotePath, fileSystem: broken)),
            options: PruneBackups.Options(
                policy: policy,
                now: Scene.morning + 60
            ),
            context: scene.context()
        )
        let outcome = try await prune.run()
        try broken.assertFaultWasMet()
        #expect(outcome.problems.map(\.path) == ["\(Trash.subfolder)/\(old)"])
        #expect(try await scene.folder().trashed().map(\.deleted.description).count == 2)
        #expect(scene.told.contains { $0.contains("cannot remove") && $0.contains(old) })
    }

    @Test("has what was pruned, of which it is said that it may come back")
    func prune() async throws {
        let name = try await scene.backUp(at: Scene.morning - 86_400).backup.name
        try await scene.backUp()
        try scene.sandbox.directory("Remote/\(Trash.subfolder)")
        var policy = RetentionPolicy()
        policy.counts = [.last: 1]
        var options = PruneBackups.Options(
            policy: policy,
            now: Scene.morning + 60
        )
        options.keepsTrash = .seconds(60)
        let prune = PruneBackups(
            in: scene.folder(remote),
            options: options,
            context: scene.context()
        )
        let outcome = try await prune.run()
        #expect(outcome.removed.map(\.name) == [name])
        try expectReported(outcome.problems, of: name)
    }

    @Test("has a pin, of which it is said that it may be lost", arguments: [1, 2])
    func pin(sync: Int) async throws {
        let name = try await scene.backUp().backup.name
        try scene.sandbox.directory("Remote/\(Annotations.subfolder)")
        let faulty = FaultyFileSystem(failing: .callOf(.sync, sync))
        let folder = scene.folder(LocalFolder(scene.remotePath, fileSystem: faulty))
        let pin = PinBackup(in: folder, context: scene.context())
        let (backup, problems) = try await pin.run(name, isPinned: true, at: Scene.morning)
        try faulty.assertFaultWasMet()
        #expect(backup.isPinned)
        #expect(problems.map(\.kind) == [.notSynced] && problems.map(\.path) == [name])
        #expect(try await scene.list().map(\.isPinned) == [true])
        #expect(try scene.leftovers() == [])
        let undone = try await pin.run(name, isPinned: false, at: Scene.morning + 1)
        #expect(undone.problems.isEmpty)
        #expect(try await scene.list().map(\.isPinned) == [false])
    }

    @Test("has a backup with its tags, of which it is said that they may be lost")
    func tags() async throws {
        var options = scene.options()
        options.tags = ["a"]
        let faulty = FaultyFileSystem(failing: .callOf(.sync, 3))
        let outcome = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(LocalFolder(scene.remotePath, fileSystem: faulty)),
            options: options,
            context: scene.context()
        ).run()
        try faulty.assertFaultWasMet()
        #expect(outcome.problems.map(\.kind) == [.notSynced])
        #expect(try await scene.list().map(\.tags) == [["a"]])
    }

    @Test(
        "has a whole backup for an increment, of which it is said that it may be lost",
        arguments: 1...3
    )
    func consolidate(sync: Int) async throws {
        let life = try IncrementScene(seed: 29)
        let increment = try #require(try await life.makeChain(2).last)
        try life.scene.sandbox.directory("Remote/\(Trash.subfolder)")
        let faulty = FaultyFileSystem(failing: .callOf(.sync, sync))
        let outcome = try await ConsolidateBackup(
            in: life.scene.folder(LocalFolder(life.scene.remotePath, fileSystem: faulty)),
            options: .init(date: life.date, tool: "test"),
            context: life.scene.context()
        ).run(increment.name)
        try faulty.assertFaultWasMet()
        #expect(outcome.problems.map(\.kind) == [.notSynced])
        #expect(outcome.replaced?.name == increment.name)
        #expect(try await life.scene.list().map(\.name).contains(outcome.backup.name))
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: life.scene.remotePath.string)
                .contains { $0.hasSuffix(".partial") }
        )
    }

    @Test("has what was unpacked into it, of which it is said that it may be lost")
    func target() async throws {
        try await scene.backUp()
        try scene.sandbox.directory("Cache")
        let restore = scene.restoring(fileSystem: faulty)
        let target = scene.sandbox.path("Cache/Target")
        let outcome = try await restore.extract(try await scene.folder().find("latest"), to: target)
        try expectReported(outcome.problems, of: printable(target))
        #expect(try GroceryStore(in: target).items().count == 12)
    }
}
