import Backups
import Files
import Foundation
import History
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("Pruning and the log of checks")
struct PruneKnowingDamageTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func pruning(_ log: RunLog) -> PruneBackups {
        var options = PruneBackups.Options(policy: RetentionPolicy(), now: Scene.morning + 60)
        options.policy.counts[.last] = 1
        return PruneBackups(in: scene.folder(log: log), options: options, context: scene.context())
    }

    @Test("removes nothing while the log cannot be read")
    func unreadableLog() async throws {
        try await scene.backUp(at: Scene.morning - 86_400)
        try await scene.backUp()
        let log = RunLog(try scene.sandbox.directory("Cache/log.sqlite"))
        await #expect(throws: HistoryError.self) { try await pruning(log).run() }
        #expect(try await scene.list().count == 2)
    }

    @Test("notes damage beside the archives that only the log knows of")
    func onlyInLog() async throws {
        let old = try await scene.backUp(at: Scene.morning - 86_400).backup
        let new = try await scene.backUp().backup
        let log = RunLog(scene.sandbox.path("Cache/log.sqlite"))
        try log.recordCheck(
            RunLog.Check(
                id: new.key.rawValue,
                address: scene.folder().address,
                name: new.name,
                time: Scene.morning,
                depth: .data,
                damage: "cut"
            )
        )
        #expect(try await scene.list().allSatisfy { $0.damage == nil })
        #expect(try await pruning(log).run().removed.isEmpty)
        #expect(try await scene.list().map(\.name) == [new.name, old.name])
        #expect(try await scene.list().map(\.damage) == ["cut", nil])
    }
}
