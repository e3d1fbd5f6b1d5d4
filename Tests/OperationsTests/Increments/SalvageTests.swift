import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Salvaging a damaged backup")
struct SalvageTests {
    private let life: IncrementScene

    init() throws {
        life = try IncrementScene(seed: 17)
    }

    private func salvage(
        _ backup: Backup,
        to name: String = "Rest"
    ) async throws -> (RestoreBackup.Outcome, FilePath) {
        let restore = RestoreBackup(
            from: life.scene.folder(),
            options: .init(backup: life.scene.options(at: life.date)),
            context: life.scene.context(),
            fileSystem: LocalFileSystem()
        )
        let target = life.scene.sandbox.path(name)
        return (try await restore.salvage(backup, to: target), target)
    }

    private func damage(_ backup: Backup, at share: Double) throws {
        let path = life.scene.remotePath.appending(backup.name).string
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[Int(Double(bytes.count) * share)] ^= 0xFF
        try bytes.write(to: URL(filePath: path))
    }

    @Test("gives all of a good one")
    func good() async throws {
        let backups = try await life.makeChain(4)
        let (outcome, target) = try await salvage(backups[3])
        #expect(outcome.problems.isEmpty)
        let expected = try #require(life.expected[backups[3].name])
        #expect(try IncrementScene.differences(target, expected).isEmpty)
        let files = try Contents(of: target, hashing: false).items.count { $0.kind == .file }
        #expect(outcome.files == files)
    }

    @Test("gives all but the damaged segment, and names it")
    func segment() async throws {
        try life.makeStore("store0.sqlite", rows: 16_000)
        let backups = try await life.makeChain(3)
        try damage(backups[0], at: 0.5)
        let (outcome, target) = try await salvage(backups[2])
        #expect(outcome.problems.map(\.path) == ["store0.sqlite"])
        #expect(outcome.problems.map(\.kind) == [.lost])
        let expected = try #require(life.expected[backups[2].name])
        #expect(
            try IncrementScene.differences(target, expected)
                == ["store0.sqlite", "store0.sqlite.damaged"]
        )
        let rest = try Data(
            contentsOf: URL(filePath: target.appending("store0.sqlite.damaged").string)
        )
        let whole = try Data(
            contentsOf: URL(filePath: expected.appending("store0.sqlite").string)
        )
        #expect(rest.count == whole.count)
        let size = 1 << 20
        let bad = stride(from: 0, to: whole.count, by: size).filter {
            rest[$0..<min($0 + size, rest.count)] != whole[$0..<min($0 + size, whole.count)]
        }
        #expect(bad.count == 1)
        #expect(rest[bad[0]..<bad[0] + size].allSatisfy { $0 == 0 })
    }

    @Test("gives what is whole in an increment of which the whole backup is gone")
    func missing() async throws {
        let backups = try await life.makeChain(2)
        try Data("new".utf8).write(
            to: URL(filePath: life.scene.stores.appending("d/new").string)
        )
        let last = try await life.backUp()
        try life.remove(backups[0].name)
        let (outcome, target) = try await salvage(last)
        #expect(outcome.problems.contains { $0.reason.contains(backups[0].displayName) })
        #expect(try life.scene.sandbox.read("Rest/d/new") == Array("new".utf8))
        #expect(try FileInfo.ifPresent(target.appending("store0.sqlite")) == nil)
    }

    @Test("goes to no directory that has something in it")
    func occupied() async throws {
        let backups = try await life.makeChain(1)
        try life.scene.sandbox.directory("Rest/mine")
        await #expect(throws: RestoreError.self) { _ = try await salvage(backups[0]) }
    }
}
