import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Copying waiting backups")
struct CopyWaitingTests {
    private let scene: Scene
    private let other: LocalFolder

    init() throws {
        scene = try Scene()
        other = LocalFolder(try scene.sandbox.directory("Other"))
    }

    private var folder: BackupFolder {
        var folder = scene.folder()
        folder.outbox = Outbox(
            scene.sandbox.path("Cache/outbox"),
            limit: .init(),
            memory: folder.memory,
            timeZone: Scene.utc
        )
        return folder
    }

    private var target: BackupFolder {
        BackupFolder(
            other,
            memory: BackupMemory(catalog: BackupCatalog(scene.sandbox.path("Cache/other.json"))),
            timeZone: Scene.utc
        )
    }

    private func backUp(at date: Date, tag: String) async throws -> Backup {
        var options = scene.options(at: date)
        options.queues = true
        options.tags = [tag]
        return try await CreateBackup(
            of: scene.stores,
            to: folder,
            options: options,
            context: scene.context()
        ).run().backup
    }

    private func copy(_ names: [String]? = nil) async throws -> CopyBackups.Outcome {
        try await CopyBackups(
            from: folder,
            to: target,
            options: .init(date: Scene.morning + 3600),
            context: scene.context()
        ).run(names)
    }

    private func hide() throws {
        try scene.sandbox.directory("Cache")
        try LocalFileSystem().move(scene.remotePath, to: scene.sandbox.path("Cache/away"))
    }

    private func show() throws {
        try LocalFileSystem().move(scene.sandbox.path("Cache/away"), to: scene.remotePath)
    }

    @Test("Copying takes waiting backups with all others, each once, with their tags")
    func all() async throws {
        let first = try await backUp(at: Scene.morning, tag: "a")
        try hide()
        let second = try await backUp(at: Scene.morning + 60, tag: "b")
        #expect(second.isWaiting)
        try show()
        let outcome = try await copy()
        #expect(
            outcome.problems.isEmpty && outcome.copied.map(\.backup.id) == [first.id, second.id]
        )
        #expect(outcome.copied.allSatisfy { $0.copy?.isWaiting == false })
        let copies = try await target.list().backups
        #expect(copies.map(\.id) == [second.id, first.id])
        #expect(copies.map(\.tags) == [["b"], ["a"]])
        // It waits on, and its copy is known again once it has arrived.
        #expect(try await folder.outbox?.waiting().map(\.id) == [second.id])
        _ = try await UploadBackups(to: folder, context: scene.context()).run(at: Scene.morning)
        #expect(try await copy().copied.isEmpty)
    }

    @Test("Copying takes a waiting backup by name, and only these if the folder is away")
    func away() async throws {
        _ = try await backUp(at: Scene.morning, tag: "a")
        try hide()
        let second = try await backUp(at: Scene.morning + 60, tag: "b")
        let named = try await copy([second.name])
        #expect(named.copied.map(\.backup.id) == [second.id] && named.problems.isEmpty)
        #expect(scene.told.contains { $0.contains("only backups that wait") })
        let all = try await copy()
        #expect(all.items.map(\.wasThere) == [true])
        #expect(all.problems.map(\.kind) == [.notCopied])
        await #expect(throws: RemoteError.self) { try await copy(["no such"]) }
    }

    @Test("Copying records damage in the place of the backup")
    func damaged() async throws {
        try hide()
        let backup = try await backUp(at: Scene.morning, tag: "a")
        let path = try #require(backup.file.location)
        var bytes = try File.contents(of: path, limit: 1 << 30)
        for index in bytes.count / 3..<bytes.count / 3 + 64 { bytes[index] ^= 0xFF }
        try LocalFileSystem().write(bytes, to: path)
        #expect(try await copy().failure is MovingError)
        #expect(try await target.list().backups.isEmpty)
        #expect(try await folder.outbox?.waiting().first?.damage != nil)
    }
}
