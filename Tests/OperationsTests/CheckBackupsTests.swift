import Files
import Foundation
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("Checking")
struct CheckBackupsTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func check(
        reading subset: DataSubset = .all,
        _ change: (inout CheckBackups.Options) -> Void = { _ in }
    ) async throws -> CheckBackups.Result {
        var options = CheckBackups.Options()
        change(&options)
        let checks = CheckBackups(
            in: scene.remote,
            catalog: scene.catalog,
            timeZone: Scene.utc,
            options: options,
            context: scene.context()
        )
        let backups = try await checks.all()
        return try await checks.run(
            try #require(try checks.find(["latest"], in: backups).first),
            reading: subset
        )
    }

    /// A backup with some large files, of which one byte was flipped in the middle of the data.
    private func backUpWithDamage(at share: Double) async throws {
        var random = Pseudorandom(seed: 7)
        for number in 1...3 {
            let bytes = random.bytes(3_000_000)
            try scene.sandbox.write(bytes, to: "Stores/\(number).bin")
        }
        let name = try await scene.backUp().backup.name
        var bytes = try scene.sandbox.read("Remote/\(name)")
        bytes[Int(Double(bytes.count) * share)] ^= 1
        try scene.sandbox.write(bytes, to: "Remote/\(name)")
    }

    @Test("finds a whole backup whole, and leaves nothing behind", arguments: [true, false])
    func whole(restores: Bool) async throws {
        try await scene.backUp()
        #expect(try await check { $0.restores = restores }.isGood)
        #expect(try scene.leftovers() == [])
    }

    @Test("finds a flipped bit", arguments: [true, false])
    func damage(restores: Bool) async throws {
        try await backUpWithDamage(at: 0.5)
        let result = try await check { $0.restores = restores }
        #expect(result.damage.count == 1)
        #expect(result.failure == nil)
        #expect(try scene.leftovers() == [])
    }

    @Test("in parts finds it in just one of them")
    func parts() async throws {
        try await backUpWithDamage(at: 0.7)
        var found = 0
        for part in 1...4 {
            let result = try await check(reading: .part(part, of: 4))
            found += result.damage.count
        }
        #expect(found == 1)
        #expect(try await !check(reading: .share(percent: 100)).isGood)
    }

    @Test("with a rehearsal finds what SQLite finds, and external data that is missing")
    func rehearsal() async throws {
        let path = scene.sandbox.path("Stores/broken.sqlite")
        let tool = try Tool.run(
            "sqlite3",
            [
                path.string,
                "PRAGMA foreign_keys=OFF; CREATE TABLE a(x PRIMARY KEY); CREATE TABLE b(y REFERENCES a); INSERT INTO b VALUES(1)",
            ]
        )
        try #require(tool.status == 0)
        try await scene.backUp()
        #expect(try await check().isGood)
        let result = try await check { $0.restores = true }
        #expect(result.damage.count == 1)
        #expect(result.damage.first?.contains("broken.sqlite") == true)
    }

    @Test("tells what cannot be checked from what is damaged")
    func failure() async throws {
        try await scene.backUp()
        let backup = try #require(try await scene.list().first)
        try LocalFileSystem().remove(scene.remotePath.appending(backup.name))
        let result = try await CheckBackups(
            in: scene.remote,
            catalog: scene.catalog,
            timeZone: Scene.utc,
            options: CheckBackups.Options(),
            context: scene.context()
        ).run(backup)
        #expect(result.damage.isEmpty)
        #expect(result.failure != nil)
    }

    @Test(
        "A part is written as in restic",
        arguments: [
            ("10%", DataSubset.share(percent: 10)), ("2.5%", .share(percent: 2.5)),
            ("1/7", .part(1, of: 7)), ("256/256", .part(256, of: 256)),
        ]
    )
    func subsets(text: String, subset: DataSubset) {
        #expect(DataSubset(text) == subset)
    }

    @Test("The part whose turn it is has a name of its own")
    func turns() {
        #expect(SubsetChoice("next/7") == .next(of: 7))
        #expect(SubsetChoice("1/7") == .subset(.part(1, of: 7)))
        #expect(SubsetChoice("next/7")?.description == "next/7")
        for text in ["next/0", "next/257", "next/", "next/1/7", "next", "first/7", ""] {
            #expect(SubsetChoice(text) == nil, "\(text)")
        }
    }

    @Test(
        "What is no part is none",
        arguments: ["", "0%", "101%", "0/7", "8/7", "1/257", "1/7x", "7"]
    )
    func noSubsets(text: String) {
        #expect(DataSubset(text) == nil)
    }
}

@Suite("Skipping a backup")
struct SkipUnchangedTests {
    private func backUp(
        _ scene: Scene,
        minute: Double,
        context: OperationContext? = nil,
        _ change: (inout CreateBackup.Options) -> Void = { _ in }
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options(at: Scene.morning + minute * 60)
        options.skipsUnchanged = true
        change(&options)
        return try await CreateBackup(
            of: scene.stores,
            to: scene.remote,
            catalog: scene.catalog,
            options: options,
            context: context ?? scene.context()
        ).run()
    }

    @Test("does not happen for one that is deleted while this run waits")
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
        "does not happen for an archive that was overwritten, though its name and size are the same"
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
            try await ListBackups(in: scene.remote, catalog: catalog, timeZone: Scene.utc)
                .run().backups.first?.isDamaged == true
        )
        #expect(try await !backUp(scene, minute: 1).isUnchanged)
        #expect(try await backUp(scene, minute: 2).isUnchanged)
    }

    @Test("does not happen for one that a check found damaged, nor for one from the future")
    func doubtful() async throws {
        let scene = try Scene()
        let log = RunLog(scene.sandbox.path("State/log.sqlite"))
        let backup = try await backUp(scene, minute: 0).backup
        try log.recordCheck(
            RunLog.Check(
                address: scene.remote.address,
                name: backup.name,
                size: backup.size,
                time: Scene.morning,
                depth: .data,
                damage: "segment 3"
            )
        )
        #expect(try await !backUp(scene, minute: 1) { $0.log = log }.isUnchanged)
        #expect(try await backUp(scene, minute: 2) { $0.log = log }.isUnchanged)
        #expect(try await !backUp(scene, minute: -60) { $0.log = log }.isUnchanged)
    }

    @Test("says of the backup that is there what was to be said of the new one")
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
        // What was said already is no news, and what is not said stays.
        #expect(try await !backUp(scene, minute: 2) { $0.tags = ["b"] }.isAnnotated)
        #expect(try await scene.list().first?.note == "before 2.0")
    }

    @Test("does not happen where the directory itself has other rights")
    func rootMode() async throws {
        let scene = try Scene()
        try Tool.check("chmod", ["755", scene.stores.string])
        #expect(try await !backUp(scene, minute: 0).isUnchanged)
        #expect(try await backUp(scene, minute: 1).isUnchanged)
        try Tool.check("chmod", ["700", scene.stores.string])
        #expect(try await !backUp(scene, minute: 2).isUnchanged)
        #expect(try await backUp(scene, minute: 3).isUnchanged)
    }

    @Test("happens where the content is the same, whatever the times, with and without a memory")
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

    @Test("does not happen where anything is different")
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

    @Test("does not happen for a newest backup that is damaged")
    func damaged() async throws {
        let scene = try Scene()
        let name = try await backUp(scene, minute: 0).backup.name
        let bytes = try scene.sandbox.read("Remote/\(name)")
        try scene.sandbox.write(Array(bytes.dropLast(10)), to: "Remote/\(name)")
        #expect(try await !backUp(scene, minute: 1).isUnchanged)
    }
}
