import Files
import Foundation
import Mounts
import Remotes
import TestSupport
import Testing

@testable import Backups
@testable import Operations

/// The backups of several machines in one folder, whose archives are not on this one.
@Suite("A shared folder elsewhere")
struct SharedFolderTests {
    private let scene: Scene
    private let other: Scene

    init() throws {
        scene = try Scene()
        other = try Scene(sharing: scene)
    }

    /// The folder as a machine sees it that knows nothing of it.
    private func elsewhere(_ origin: Origin) -> BackupFolder {
        let name = scene.sandbox.path("Cache/elsewhere.json")
        var folder = BackupFolder(
            Elsewhere(folder: scene.remote, isFetching: true),
            staging: scene.remotePath,
            memory: BackupMemory(catalog: BackupCatalog(name)),
            timeZone: Scene.utc
        )
        folder.origin = origin
        return folder
    }

    @Test("The newest of a stores directory is found by looking into archives")
    func latest() async throws {
        let own = try await scene.backUp().backup
        let theirs = try await other.backUp(at: Scene.morning + 60).backup
        let now = Scene.morning + 3600
        let folder = elsewhere(Origin(of: scene.stores))
        let (choice, _) = try await ImpliedBackup.latest(in: folder, now: now) { _ in }
        #expect(choice.backup.name == own.name)
        #expect(choice.skipped.map(\.name) == [theirs.name])
        let (until, _) = try await ImpliedBackup.newest(
            in: folder,
            until: Scene.morning + 600,
            saying: "then"
        ) { _ in
        }
        #expect(until.backup.name == own.name)
        // One without any backup there would have to guess which of the others is meant.
        await #expect {
            try await ImpliedBackup.latest(
                in: elsewhere(Origin(id: "none", name: "none")),
                now: now
            ) { _ in }
        } throws: { error in
            guard case BackupFolderError.ofOthers(_, let names) = error else { return false }
            return names.count == 2
        }
    }

    @Test("The link of a mount leads to the newest of the stores directory too")
    func mountedLatest() async throws {
        let own = try await scene.backUp().backup
        _ = try await other.backUp(at: Scene.morning + 60)
        var folder = scene.folder()
        folder.origin = Origin(of: scene.stores)
        let mounted = try await MountedScene(of: folder, scene.context(), pace: .zero)
        let target = try await WorkThread.run { () throws in
            try mounted.folder.target(of: mounted.node("latest").inode)
        }
        #expect(target == Array(own.displayName.utf8))
    }

    @Test(
        "The restore of a stores directory is undone by what it replaced there, and by nothing else"
    )
    func undo() async throws {
        try await scene.backUp()
        let own = try #require(try await scene.restore().safetyBackup)
        try await other.backUp(at: Scene.morning + 60)
        var options = RestoreBackup.Options(backup: other.options(at: Scene.morning + 7200))
        options.acceptsLoss = { _ in true }
        let theirs = try await RestoreBackup(
            from: other.folder(),
            options: options,
            context: other.context()
        ).run(try await other.folder().find("latest"), to: other.stores).safetyBackup
        #expect(theirs != nil)
        let now = Scene.morning + 10_000
        let found = try await ImpliedBackup.newestSafety(
            in: elsewhere(Origin(of: scene.stores)),
            now: now
        ) { _ in }
        #expect(found.backup.name == own.name)
        await #expect(throws: BackupFolderError.self) {
            _ = try await ImpliedBackup.newestSafety(
                in: elsewhere(Origin(id: "none", name: "none")),
                now: now
            ) { _ in
            }
        }
    }
}
