import Files
import Foundation
import Remotes
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A folder that lists changes late")
struct LaggingFolderTests {
    private let scene: Scene
    private let lag = LaggingFolder.Lag()
    private let remote: LaggingFolder
    private let folder: BackupFolder

    init() throws {
        scene = try Scene()
        remote = LaggingFolder(folder: scene.remote, lag: lag)
        let memory = BackupMemory(catalog: scene.catalog)
        folder = BackupFolder(
            remote,
            staging: try scene.sandbox.directory("Staging"),
            memory: memory,
            timeZone: Scene.utc
        )
    }

    private func backUp(
        hour: Double,
        _ change: (inout CreateBackup.Options) -> Void = { _ in }
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options(at: Scene.morning + hour * 3600)
        change(&options)
        let context = scene.context()
        return try await CreateBackup(
            of: scene.stores,
            to: folder,
            options: options,
            context: context
        ).run()
    }

    private func prune(
        hour: Double,
        keepingLast count: Int,
        trash: Duration = .zero
    ) async throws
        -> PruneBackups.Outcome
    {
        var policy = RetentionPolicy()
        policy.counts[.last] = count
        var options = PruneBackups.Options(policy: policy, now: Scene.morning + hour * 3600)
        options.keepsTrash = trash
        return try await PruneBackups(in: folder, options: options, context: scene.context()).run()
    }

    private func freeze() async throws {
        try await lag.begin(remote, subfolders: [Trash.subfolder, Annotations.subfolder])
    }

    private func names() async throws -> [String] {
        try await scene.remote.list().map(\.name).sorted()
    }

    @Test("Each backup of a minute gets its own name in a folder that lists changes late")
    func naming() async throws {
        try await freeze()
        let made = try await [backUp(hour: 0), backUp(hour: 0), backUp(hour: 0)]
        #expect(try await names() == made.map(\.backup.name).sorted())
        #expect(Set(made.map(\.backup.name)).count == 3)
        #expect(lag.replaced.withLock { $0 } == 0)
    }

    @Test("No deleted backup overwrites a new one, or the reverse, in a folder that lists late")
    func undeleting() async throws {
        let first = try await backUp(hour: 0).backup
        let delete = DeleteBackup(from: folder, context: scene.context())
        try await delete.run(first, at: Scene.morning, keepingTrash: .seconds(86_400))
        // The root shows nothing for a while, and the trash the deleted one.
        try await freeze()
        let second = try await backUp(hour: 0).backup
        #expect(second.name != first.name)
        // Another machine made one under the name of the first.
        try await scene.remote.upload(
            scene.sandbox.write("theirs", to: "theirs"),
            as: first.name
        )
        await #expect(throws: BackupFolderError.self) { try await delete.undo(first.name) }
        #expect(try scene.sandbox.read("Remote/\(first.name)") == Array("theirs".utf8))
    }

    @Test("A prune does not count a deleted backup that is still listed as the last one left")
    func pruning() async throws {
        let old = try await backUp(hour: 0).backup
        let new = try await backUp(hour: 1).backup
        try await freeze()
        try await DeleteBackup(from: folder, context: scene.context())
            .run(new, at: Scene.morning + 7200, keepingTrash: .zero)
        let outcome = try await prune(hour: 3, keepingLast: 1)
        #expect(outcome.removed.isEmpty)
        #expect(outcome.problems.first?.reason == "what was to be kept is gone meanwhile")
        #expect(try await names().contains(old.name))
        lag.end()
        #expect(try await prune(hour: 3, keepingLast: 1).removed.isEmpty)
        #expect(try await names().contains(old.name))
    }

    @Test("A prune does not forget a pin that is not listed yet", arguments: [true, false])
    func pins(hasOlderNotes: Bool) async throws {
        let old = try await backUp(hour: 0).backup
        _ = try await backUp(hour: 1).backup
        if hasOlderNotes {
            _ = try await folder.notes.annotate(old, at: Scene.morning) { $0.note = "first" }
        }
        _ = try await folder.list()
        try await freeze()
        _ = try await PinBackup(in: folder, context: scene.context())
            .run(old.name, isPinned: true, at: Scene.morning + 7200)
        // The file with the older note is gone, and listed: that may be an error.
        let early = try? await prune(hour: 3, keepingLast: 1)
        #expect(early?.removed.isEmpty ?? hasOlderNotes)
        #expect(try await names().contains(old.name))
        lag.end()
        let outcome = try await prune(hour: 3, keepingLast: 1)
        #expect(outcome.plan.keep.last?.reasons == ["pinned"])
        #expect(try await names().contains(old.name))
        // Once it is listed, it can be taken away.
        _ = try await PinBackup(in: folder, context: scene.context())
            .run(old.name, isPinned: false, at: Scene.morning + 10_000)
        #expect(try await prune(hour: 3, keepingLast: 1).removed.map(\.name) == [old.name])
    }

    @Test("A prune keeps the annotations of a recovered backup that is not listed yet")
    func emptyingTrash() async throws {
        let old = try await backUp(hour: 0).backup
        _ = try await backUp(hour: 1).backup
        _ = try await folder.notes.annotate(old, at: Scene.morning) { $0.isPinned = true }
        try await folder.trash.put(old.name, at: Scene.morning)
        try await freeze()
        _ = try await DeleteBackup(from: folder, context: scene.context()).undo(old.name)
        _ = try await prune(hour: 300, keepingLast: 1)
        lag.end()
        let found = try await folder.list().backups.first { $0.name == old.name }
        #expect(found?.isPinned == true)
    }

    private func latest() async throws -> ImpliedBackup {
        try await ImpliedBackup.latest(in: folder, now: Scene.morning + 36_000) { _ in }.0
    }

    @Test("The backup just made is the latest one, even if no list shows it yet")
    func latestIsLate() async throws {
        let old = try await backUp(hour: 0).backup
        try await freeze()
        let new = try await backUp(hour: 1).backup
        #expect(try await latest().backup.id == new.id)
        #expect(try await folder.list().backups.map(\.id) == [new.id, old.id])
        let pinned = try await PinBackup(in: folder, context: scene.context())
            .run("latest", isPinned: true, at: Scene.morning + 7200)
        #expect(pinned.backup.id == new.id)
        #expect(await folder.losses.vanished() == nil)
    }

    @Test("What is known of a backup is known again if it comes back", arguments: [true, false])
    func comesBack(isDeleted: Bool) async throws {
        let catalog = BackupCatalog(scene.sandbox.path("Cache/known.json"), at: Scene.morning)
        let folder = BackupFolder(
            Elsewhere(folder: remote.folder, isFetching: true),
            staging: folder.staging,
            memory: BackupMemory(catalog: catalog),
            timeZone: Scene.utc
        )
        let made = try await CreateBackup(
            of: scene.stores,
            to: folder,
            options: scene.options(),
            context: scene.context()
        ).run().backup
        let before = try await folder.list().backups
        #expect(before.map(\.id) == [made.id] && before[0].timeSource == .manifest)
        let delete = DeleteBackup(from: folder, context: scene.context())
        if isDeleted {
            try await delete.run(made, at: Scene.morning, keepingTrash: .seconds(86_400))
        } else {
            let away = scene.sandbox.path("away")
            try LocalFileSystem().move(scene.remotePath.appending(made.name), to: away)
        }
        #expect(try await folder.list().backups.isEmpty)
        try await catalog.save()
        if isDeleted {
            _ = try await delete.undo(made.name)
        } else {
            let away = scene.sandbox.path("away")
            try LocalFileSystem().move(away, to: scene.remotePath.appending(made.name))
        }
        #expect(try await folder.list().backups == before)
        #expect(await folder.losses.vanished() == nil)
    }

    @Test("A deleted backup that is still listed is no reason to skip a backup")
    func skipping() async throws {
        let first = try await backUp(hour: 0).backup
        try await freeze()
        try await scene.remote.delete(first.name)
        let outcome = try await backUp(hour: 1) { $0.skipsUnchanged = true }
        #expect(!outcome.isUnchanged)
        #expect(try await names().contains(outcome.backup.name))
    }
}
