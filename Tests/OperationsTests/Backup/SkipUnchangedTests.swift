import Files
import Foundation
import Remotes
import History
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Skipping an unchanged backup")
struct SkipUnchangedTests {
    private func backUp(
        _ scene: Scene,
        minute: Double,
        to remote: (any RemoteFolder)? = nil,
        context: OperationContext? = nil,
        log: RunLog? = nil,
        _ change: (inout CreateBackup.Options) -> Void = { _ in }
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options(at: Scene.morning + minute * 60)
        options.skipsUnchanged = true
        change(&options)
        let catalog = scene.catalog
        let outcome = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(remote, catalog: catalog, log: log),
            options: options,
            context: context ?? scene.context()
        ).run()
        try await catalog.save()
        return outcome
    }

    @Test("A backup is not skipped if the earlier one is deleted while this run waits")
    func deletedMeanwhile() async throws {
        let scene = try Scene()
        let name = try await backUp(scene, minute: 0).backup.name
        let lock = HeldLock(try await FileLock.acquire(scene.remotePath, wait: .zero) { _ in })
        let context = scene.context(lockWait: .seconds(60)) {
            try lock.release { try LocalFileSystem().remove(scene.remotePath.appending(name)) }
        }
        let outcome = try await backUp(scene, minute: 1, context: context)
        #expect(!outcome.isUnchanged)
        #expect(try await scene.list().map(\.name) == [outcome.backup.name])
    }

    @Test(
        "A backup is not skipped if another machine deletes the earlier one during the comparison"
    )
    func deletedElsewhere() async throws {
        let scene = try Scene()
        let remote = Elsewhere(folder: scene.remote)
        let name = try await backUp(scene, minute: 0, to: remote).backup.name
        #expect(try await backUp(scene, minute: 1, to: remote).isUnchanged)
        let context = scene.context {
            // Its lock is not ours.
            try LocalFileSystem().remove(scene.remotePath.appending(name))
        }
        #expect(try await !backUp(scene, minute: 2, to: remote, context: context).isUnchanged)
        #expect(try await scene.list().count == 1)
    }

    @Test("A backup is not skipped if the earlier archive has rotted without a write")
    func rotten() async throws {
        let scene = try Scene()
        let backup = try await backUp(scene, minute: 0).backup
        let path = try #require(backup.file.location).string
        try Tool.check("touch", ["-r", path, scene.sandbox.path("times").string])
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.write(contentsOf: Data(count: Int(backup.size)))
        try file.close()
        try Tool.check("touch", ["-r", scene.sandbox.path("times").string, path])
        #expect(try await !backUp(scene, minute: 1).isUnchanged)
    }

    @Test(
        "A backup is not skipped if the earlier archive was overwritten with the same name and size"
    )
    func overwritten() async throws {
        let scene = try Scene()
        let backup = try await backUp(scene, minute: 0).backup
        let catalog = scene.catalog
        _ = catalog.content(of: backup, in: scene.remote.address)
        try await catalog.save()
        try scene.sandbox.write(
            [UInt8](repeating: 0, count: Int(backup.size)),
            to: "Remote/\(backup.name)"
        )
        #expect(
            try await scene.folder(catalog: catalog).list().backups.first?.isUnreadable == true
        )
        #expect(try await !backUp(scene, minute: 1).isUnchanged)
        #expect(try await backUp(scene, minute: 2).isUnchanged)
    }

    @Test(
        "A backup is not skipped if a check found the earlier one damaged, or it is from the future"
    )
    func doubtful() async throws {
        let scene = try Scene()
        let log = RunLog(scene.sandbox.path("State/log.sqlite"))
        let backup = try await backUp(scene, minute: 0).backup
        try log.recordCheck(
            RunLog.Check(
                id: backup.key.rawValue,
                address: scene.remote.address,
                name: backup.name,
                time: Scene.morning,
                depth: .data,
                damage: "segment 3"
            )
        )
        #expect(try await !backUp(scene, minute: 1, log: log).isUnchanged)
        #expect(try await backUp(scene, minute: 2, log: log).isUnchanged)
        #expect(try await !backUp(scene, minute: -60, log: log).isUnchanged)
    }

    @Test("A skipped backup reports about the existing one what the new one would have reported")
    func annotates() async throws {
        let scene = try Scene()
        let first = try await backUp(scene, minute: 0) { $0.tags = ["a"] }
        let outcome = try await backUp(scene, minute: 1) {
            $0.tags = ["a", "b"]
            $0.note = "before 2.0"
        }
        #expect(outcome.isUnchanged && outcome.isAnnotated)
        let listed = try #require(try await scene.list().first)
        #expect(listed.name == first.backup.name)
        #expect(listed.tags == ["a", "b"])
        #expect(listed.note == "before 2.0")
        // A tag that it has is no news, and a note that is not given stays.
        #expect(try await !backUp(scene, minute: 2) { $0.tags = ["b"] }.isAnnotated)
        #expect(try await scene.list().first?.note == "before 2.0")
    }

    @Test("A backup is not skipped if the directory itself has other permissions")
    func rootMode() async throws {
        let scene = try Scene()
        try Tool.check("chmod", ["755", scene.stores.string])
        #expect(try await !backUp(scene, minute: 0).isUnchanged)
        #expect(try await backUp(scene, minute: 1).isUnchanged)
        try Tool.check("chmod", ["700", scene.stores.string])
        #expect(try await !backUp(scene, minute: 2).isUnchanged)
        #expect(try await backUp(scene, minute: 3).isUnchanged)
    }

    @Test(
        "A backup is skipped if the content is the same, whatever the times, with and without a memory"
    )
    func same() async throws {
        let scene = try Scene()
        try scene.sandbox.write("milk", to: "Stores/list.txt")
        #expect(try await !backUp(scene, minute: 0).isUnchanged)
        try scene.sandbox.write("milk", to: "Stores/list.txt")
        let outcome = try await backUp(scene, minute: 1)
        #expect(outcome.isUnchanged)
        #expect(try await scene.list().map(\.name) == [outcome.backup.name])
        #expect(try scene.leftovers() == [])
        try LocalFileSystem().remove(scene.sandbox.path("Cache"))
        #expect(try await backUp(scene, minute: 2).isUnchanged)
    }

    @Test("A backup is not skipped if anything is different")
    func different() async throws {
        let scene = try Scene()
        try scene.sandbox.write("milk", to: "Stores/list.txt")
        #expect(try await !backUp(scene, minute: 0).isUnchanged)
        let changes: [() throws -> Void] = [
            { try scene.sandbox.write("bread", to: "Stores/list.txt") },
            { try scene.sandbox.directory("Stores/new") },
            {
                try File.open(scene.stores.appending("list.txt")).setMode(0o600)
            },
            { try File.open(scene.stores.appending("list.txt")).setMode(0o640) },
            {
                try LocalFileSystem().move(
                    scene.stores.appending("list.txt"),
                    to: scene.stores.appending("other.txt")
                )
            },
            { try LocalFileSystem().remove(scene.stores.appending("other.txt")) },
        ]
        for (index, change) in changes.enumerated() {
            try change()
            let outcome = try await backUp(scene, minute: Double(index + 1))
            // The file may have had one of the modes already.
            #expect(!outcome.isUnchanged || index == 2, "\(index)")
            #expect(try await backUp(scene, minute: Double(index) + 1.5).isUnchanged, "\(index)")
        }
    }

    @Test("A backup is not skipped if the newest backup is damaged")
    func damaged() async throws {
        let scene = try Scene()
        let name = try await backUp(scene, minute: 0).backup.name
        let bytes = try scene.sandbox.read("Remote/\(name)")
        try scene.sandbox.write(Array(bytes.dropLast(10)), to: "Remote/\(name)")
        #expect(try await !backUp(scene, minute: 1).isUnchanged)
    }
}
