import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A hidden folder that is a link out of the remote folder")
struct LinkedSubfolderTests {
    private let scene: Scene
    private let backup: Backup
    /// A file behind the link that would be too old for any trash.
    private static let old = "outside/20200101T090100.123Z a Stores.zip"

    init() async throws {
        scene = try Scene()
        backup = try await scene.backUp().backup
        try scene.sandbox.write("mine", to: Self.old)
    }

    private func link(_ name: String) throws {
        try scene.sandbox.link("Remote/\(name)", to: scene.sandbox.path("outside").string)
    }

    private var delete: DeleteBackup {
        DeleteBackup(
            from: scene.folder(),
            context: scene.context()
        )
    }

    private func prune() async throws -> PruneBackups.Outcome {
        var policy = RetentionPolicy()
        policy.counts = [.last: 1]
        return try await PruneBackups(
            in: scene.folder(),
            options: .init(policy: policy, now: Scene.morning + 86_400),
            context: scene.context()
        ).run()
    }

    private func expectRefusal(of name: String, _ body: () async throws -> Void) async throws {
        let before = try scene.sandbox.contents(of: "outside")
        await #expect(throws: RemoteError.notASubfolder(scene.remote.address, name: name)) {
            try await body()
        }
        #expect(try scene.sandbox.contents(of: "outside") == before)
        #expect(try await scene.list().count >= 1)
    }

    @Test("instead of notes is not written through, and keeps no backup from being made")
    func notes() async throws {
        let name = Annotations.subfolder
        try link(name)
        let (delete, backup) = (delete, backup)
        try await expectRefusal(of: name) {
            _ = try await PinBackup(
                in: scene.folder(),
                context: scene.context()
            ).run("latest", isPinned: true, at: Scene.morning)
        }
        // Pins are not known.
        try await expectRefusal(of: name) {
            try await delete.run(backup, at: Scene.morning, keepingTrash: .zero)
        }
        try await scene.backUp(at: Scene.morning + 60)
        try await expectRefusal(of: name) { _ = try await prune() }
        #expect(try await scene.list().count == 2)
    }

    @Test("instead of the trash loses nothing to it, and keeps no backup from being made")
    func trash() async throws {
        let name = Trash.subfolder
        try link(name)
        let (delete, backup) = (delete, backup)
        let before = try scene.sandbox.contents(of: "outside")
        try await expectRefusal(of: name) {
            try await delete.run(backup, at: Scene.morning, keepingTrash: .seconds(60))
        }
        try await expectRefusal(of: name) { _ = try await scene.folder().trashed() }
        try await expectRefusal(of: name) { _ = try await delete.undo("a") }
        try await scene.backUp(at: Scene.morning + 60)
        #expect(scene.told.contains { $0.contains("warning: '\(name)'") })
        let outcome = try await prune()
        #expect(outcome.removed.isEmpty)
        #expect(outcome.problems.map(\.path) == [backup.name, name])
        #expect(try scene.sandbox.contents(of: "outside") == before)
        #expect(try await scene.list().count == 2)
    }
}
