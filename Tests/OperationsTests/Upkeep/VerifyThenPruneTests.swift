import Backups
import Files
import Foundation
import History
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("Verifying and then pruning")
struct VerifyThenPruneTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func run(_ backup: Backup) async throws -> (PruneBackups.VerifiedOutcome, checks: Int) {
        let log = RunLog(scene.sandbox.path("Log.sqlite"))
        let folder = scene.folder(log: log)
        let check = CheckBackups(
            in: folder,
            options: CheckBackups.Options(),
            context: scene.context()
        )
        var options = PruneBackups.Options(
            policy: RetentionPolicy(),
            now: Scene.morning + 60
        )
        options.policy.counts[.last] = 1
        let prune = PruneBackups(
            in: folder,
            options: options,
            context: scene.context()
        )
        let outcome = try await prune.run(
            verifying: backup,
            with: check,
            at: Scene.morning + 60
        )
        return (outcome, try log.lastChecks(of: [backup.key.rawValue]).count)
    }

    @Test("removes older backups once the newest is whole")
    func whole() async throws {
        let old = try await scene.backUp(at: Scene.morning - 86_400).backup
        let new = try await scene.backUp().backup
        let (outcome, checks) = try await run(new)
        guard case .pruned(let pruned) = outcome else {
            Issue.record("nothing was pruned: \(outcome)")
            return
        }
        #expect(pruned.removed.map(\.name) == [old.name] && checks == 1)
        #expect(try await scene.list().map(\.name) == [new.name])
    }

    @Test("removes nothing if the newest is damaged")
    func damaged() async throws {
        try await scene.backUp(at: Scene.morning - 86_400)
        let new = try await scene.backUp().backup
        let bytes = [UInt8](repeating: 0, count: Int(new.size))
        try scene.sandbox.write(bytes, to: "Remote/\(new.name)")
        let (outcome, checks) = try await run(new)
        guard case .damaged(let damage) = outcome else {
            Issue.record("damage was not found: \(outcome)")
            return
        }
        #expect(!damage.isEmpty && checks == 1)
        #expect(try await scene.list().count == 2)
    }

    @Test("removes nothing if the newest cannot be checked")
    func missing() async throws {
        try await scene.backUp(at: Scene.morning - 86_400)
        let new = try await scene.backUp().backup
        try LocalFileSystem().remove(scene.sandbox.path("Remote/\(new.name)"))
        await #expect(throws: FileError.self) { try await run(new) }
        #expect(try await scene.list().count == 1)
    }
}
