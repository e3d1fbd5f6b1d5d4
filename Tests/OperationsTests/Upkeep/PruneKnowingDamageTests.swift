import Backups
import Files
import Foundation
import History
import Remotes
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

    private func pruning(_ log: RunLog?) -> PruneBackups {
        var options = PruneBackups.Options(policy: RetentionPolicy(), now: Scene.morning + 60)
        options.policy.counts[.last] = 1
        return PruneBackups(in: scene.folder(log: log), options: options, context: scene.context())
    }

    /// Backups of some days ago, and their names.
    private func backUp(daysAgo: [Double]) async throws -> [String] {
        var names: [String] = []
        for days in daysAgo {
            names.append(try await scene.backUp(at: Scene.morning - days * 86_400).backup.name)
        }
        return names
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

    @Test("does not count the newest if its file has lost its content, and kept its size and time")
    func emptied() async throws {
        let names = try await backUp(daysAgo: [3, 2, 1, 0])
        // The catalog knows all of them.
        let catalog = scene.catalog
        var options = PruneBackups.Options(policy: RetentionPolicy(), now: Scene.morning + 60)
        options.policy.counts[.last] = 1
        let folder = scene.folder(catalog: catalog)
        _ = try await folder.list()
        for name in names.suffix(2) {
            let path = scene.remotePath.appending(name)
            let info = try FileInfo(of: path)
            let file = try FileHandle(forWritingTo: URL(filePath: path.string))
            try file.write(contentsOf: Data(count: Int(info.size)))
            try file.close()
            try File.open(path).setModified(info.modified)
        }
        let pruned = try await PruneBackups(in: folder, options: options, context: scene.context())
            .run()
        #expect(pruned.removed.map(\.name) == [names[0]])
    }

    @Test("keeps, and does not count, what was found to be damaged")
    func foundDamaged() async throws {
        let names = try await backUp(daysAgo: [2, 1, 0])
        let log = RunLog(scene.sandbox.path("State/log.sqlite"))
        let newest = try #require(try await scene.list().first)
        try log.recordCheck(
            RunLog.Check(
                id: newest.key.rawValue,
                address: scene.remote.address,
                name: newest.name,
                time: Scene.morning,
                depth: .data,
                damage: "segment 3"
            )
        )
        let plan = try await pruning(log).plan()
        #expect(plan.keep.map(\.backup.name) == [names[2], names[1]])
        #expect(plan.keep.map(\.reasons) == [["damaged: segment 3"], ["last snapshot"]])
        #expect(plan.remove.map(\.backup.name) == [names[0]])
    }

    @Test(
        "keeps the last good backup though the log of the check that found a newer one damaged is lost"
    )
    func lostLog() async throws {
        let names = try await backUp(daysAgo: [1, 0])
        let newest = try #require(try await scene.list().first)
        // One byte of the data, so that a glance shows nothing.
        var bytes = try scene.sandbox.read("Remote/\(newest.name)")
        bytes[200] ^= 1
        try scene.sandbox.write(bytes, to: "Remote/\(newest.name)")
        let log = RunLog(scene.sandbox.path("State/log.sqlite"))
        func check(log: RunLog?) async throws -> CheckBackups.Result {
            let folder = scene.folder(log: log)
            let checks = CheckBackups(in: folder, options: .init(), context: scene.context())
            return try await checks.run(try await folder.find("latest"), at: Scene.morning)
        }
        #expect(try await check(log: log).damage.count == 1)
        try LocalFileSystem().remove(scene.sandbox.path("State"))
        try LocalFileSystem().remove(scene.sandbox.path("Cache"))
        let outcome = try await pruning(nil).run()
        #expect(outcome.removed.isEmpty)
        #expect(outcome.plan.keep.map(\.backup.name) == [names[1], names[0]])
        #expect(outcome.plan.keep.first?.reasons.first?.hasPrefix("damaged: ") == true)
        // A check that finds it whole again is believed; a lesser check does not clear it.
        bytes[200] ^= 1
        try scene.sandbox.write(bytes, to: "Remote/\(newest.name)")
        #expect(try await scene.list().first?.damage != nil)
        #expect(try await check(log: nil).isGood)
        #expect(try await scene.list().first?.damage == nil)
    }
}
