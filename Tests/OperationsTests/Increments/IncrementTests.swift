import Files
import Foundation
import GRDB
import History
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Increments")
struct IncrementTests {
    private func chain(_ count: Int = 4) async throws -> (life: IncrementScene, backups: [Backup]) {
        let life = try IncrementScene(seed: 7)
        return (life, try await life.makeChain(count))
    }

    @Test("Increments are small, need few others, and restore what a whole backup has")
    func chained() async throws {
        let (life, backups) = try await chain(9)
        #expect(backups.map(\.isIncrement) == [false] + Array(repeating: true, count: 8))
        #expect(backups.allSatisfy { !$0.isIncrement || $0.size < backups[0].size / 20 })
        #expect(backups.map(\.needs.count) == [0, 1, 1, 2, 1, 2, 2, 3, 1])
        for backup in backups {
            #expect(try await life.differences(backup.name).isEmpty)
            // Directories are no files.
            let archive = try #require(backup.file.location)
            #expect(try ArchivedBackup(archive, name: backup.name, keys: .none).files == 2)
        }
        #expect(backups[1].name.hasSuffix(" Changes.zip"))
    }

    @Test("An unchanged directory gets no increment, whatever the earlier backup and the times are")
    func unchanged() async throws {
        let (life, backups) = try await chain(1)
        #expect(!backups[0].isIncrement)
        #expect(try await life.backUpAlone { $0.skipsUnchanged = true }.isUnchanged)
        let file = life.scene.stores.appending("d/f").string
        try Tool.check("touch", ["-d", "2030-01-01", file])
        #expect(try await life.backUpAlone { $0.skipsUnchanged = true }.isUnchanged)
        try Data("two".utf8).write(to: URL(filePath: file))
        let increment = try await life.backUpAlone { $0.skipsUnchanged = true }
        #expect(increment.backup.isIncrement && !increment.isUnchanged)
        #expect(try await life.backUpAlone { $0.skipsUnchanged = true }.isUnchanged)
        // Nor is a whole one.
        let whole = try await life.backUpAlone {
            $0.skipsUnchanged = true
            $0.increments = nil
        }
        #expect(whole.isUnchanged && whole.backup.name == increment.backup.name)
    }

    @Test(
        "Increments restore without this program, with unzip and Python",
        .enabled(if: Tool.isInstalled("unzip"), "unzip is not installed")
    )
    func withoutUs() async throws {
        let life = try IncrementScene(seed: 7)
        try life.makeStore("store0.sqlite", rows: 2500)
        try LocalFileSystem().createDirectories(life.scene.stores.appending("d/e"))
        try Data("one".utf8).write(to: URL(filePath: life.scene.stores.appending("d/f").string))
        // The 127th is the first that needs seven others.
        for number in 0..<127 {
            try life.write("store0.sqlite") {
                try $0.execute(sql: "UPDATE item SET name = 'n' WHERE id = \(number + 7)")
            }
            try await life.backUpAlone()
        }
        try FileManager.default.removeItem(atPath: life.scene.stores.appending("d/e").string)
        try Data("two".utf8).write(
            to: URL(filePath: life.scene.stores.appending("d/f").string)
        )
        let last = try await life.backUp()
        #expect(last.needs.count == 7)
        let target = try await unzip(last, of: life)
        let expected = try #require(life.expected[last.name])
        #expect(
            try IncrementScene.tree(target, withTimes: false)
                == IncrementScene.tree(expected, withTimes: false)
        )
        // In a wrong order the script refuses.
        let wrong = try life.scene.sandbox.directory("Wrong")
        for name in [last.needs[0].name, last.name] {
            let archive = life.scene.remotePath.appending(name).string
            try Tool.check("unzip", ["-q", "-o", archive, "-d", wrong.string])
        }
        #expect(throws: (any Error).self) {
            try Tool.check("python3", [wrong.appending(".grocerydude/apply.py").string])
        }
    }

    /// Restores a backup as its README says, and returns the directory.
    @Test(
        "Increments say without this program which names unzip lost, and an option keeps these",
        .enabled(if: Tool.isInstalled("unzip"), "unzip is not installed")
    )
    func lostNames() async throws {
        let life = try IncrementScene(seed: 10)
        let file = URL(filePath: life.scene.stores.appending("a\nb").string)
        try Data("one".utf8).write(to: file)
        _ = try await life.makeChain(1)
        try Data("two".utf8).write(to: file)
        let last = try await life.backUp()
        #expect(last.isIncrement)
        for isAsSaid in [false, true] {
            let target = try life.scene.sandbox.directory("Unzipped-\(isAsSaid)")
            for name in last.needs.map(\.name) + [last.name] {
                let archive = life.scene.remotePath.appending(name).string
                let options = isAsSaid ? ["-q", "-^", "-o"] : ["-q", "-o"]
                try Tool.check(
                    "unzip",
                    options + [archive, "-d", target.string],
                    environment: ["LC_ALL": "C.UTF-8"]
                )
            }
            let script = target.appending(".grocerydude/apply.py").string
            let applied = try Tool.run("python3", [script])
            guard isAsSaid else {
                #expect(applied.status == 1)
                #expect(applied.errors.contains("is missing"))
                #expect(applied.errors.split(separator: "\n").count == 1, "\(applied.errors)")
                let readme = try life.scene.sandbox.read("Unzipped-false/.grocerydude/README.txt")
                #expect(String(decoding: readme, as: UTF8.self).contains("unzip -^"))
                continue
            }
            #expect(applied.status == 0, "\(applied.errors)")
            let expected = try #require(life.expected[last.name])
            try FileManager.default.removeItem(atPath: target.appending(".grocerydude").string)
            #expect(
                try IncrementScene.tree(target, withTimes: false)
                    == IncrementScene.tree(expected, withTimes: false)
            )
        }
    }

    private func unzip(_ backup: Backup, of life: IncrementScene) async throws -> FilePath {
        let target = try life.scene.sandbox.directory("Unzipped-\(UUID().uuidString)")
        for name in backup.needs.map(\.name) + [backup.name] {
            let archive = life.scene.remotePath.appending(name).string
            try Tool.check("unzip", ["-q", "-o", archive, "-d", target.string])
            guard name.hasSuffix(" Changes.zip") else { continue }
            try Tool.check("python3", [target.appending(".grocerydude/apply.py").string])
        }
        try FileManager.default.removeItem(atPath: target.appending(".grocerydude").string)
        return target
    }

    @Test(
        "Increments restore a file in the place of a former directory, however long ago",
        .enabled(if: Tool.isInstalled("unzip"), "unzip is not installed")
    )
    func swapped() async throws {
        let life = try IncrementScene(seed: 8)
        let path = life.scene.stores.appending("x")
        try LocalFileSystem().createDirectories(path.appending("y"))
        _ = try await life.makeChain(1)
        try FileManager.default.removeItem(atPath: path.string)
        for number in 1..<6 {
            if number == 3 { try Data("now".utf8).write(to: URL(filePath: path.string)) }
            try life.makeStore("store0.sqlite", rows: 1)
            let backup = try await life.backUp()
            let expected = try #require(life.expected[backup.name])
            #expect(
                try await IncrementScene.tree(unzip(backup, of: life), withTimes: false)
                    == IncrementScene.tree(expected, withTimes: false)
            )
        }
    }

    @Test(
        "Increments leave out the '.grocerydude' directory that an unpacking by hand left",
        .enabled(if: Tool.isInstalled("unzip"), "unzip is not installed")
    )
    func unpackedByHand() async throws {
        let life = try IncrementScene(seed: 9)
        let left = life.scene.stores.appending(".grocerydude")
        try LocalFileSystem().createDirectories(left)
        try Data("0000".utf8).write(to: URL(filePath: left.appending("applied").string))
        _ = try await life.makeChain(1)
        let last = try await life.makeChain(2)[1]
        #expect(last.isIncrement)
        let target = try await unzip(last, of: life)
        let expected = try #require(life.expected[last.name])
        // A backup that needs no other has it.
        try FileManager.default.removeItem(atPath: expected.appending(".grocerydude").string)
        #expect(
            try IncrementScene.tree(target, withTimes: false)
                == IncrementScene.tree(expected, withTimes: false)
        )
        #expect(life.scene.told.contains { $0.contains("'.grocerydude' is left out") })
    }

    @Test("Increments find a base under another name or in the trash, or report it as missing")
    func needs() async throws {
        let (life, backups) = try await chain()
        let folder = life.scene.remotePath
        let renamed = folder.appending("renamed Stores.zip")
        try FileManager.default.moveItem(
            atPath: folder.appending(backups[0].name).string,
            toPath: renamed.string
        )
        for backup in backups.dropFirst() {
            #expect(try await life.differences(backup.name).isEmpty)
        }
        try FileManager.default.moveItem(
            atPath: renamed.string,
            toPath: folder.appending(backups[0].name).string
        )
        _ = try await life.scene.folder().remove(
            backups[0],
            at: life.date,
            keepingTrash: .seconds(60)
        )
        #expect(try await life.differences(backups[3].name).isEmpty)
        try FileManager.default.removeItem(
            atPath: folder.appending(Trash.subfolder).string
        )
        let error = await #expect(throws: BackupFolderError.self) {
            try await life.differences(backups[3].name)
        }
        #expect(error?.description.contains(backups[0].displayName) == true)
        // The next one is whole again.
        #expect(try await !life.backUp().isIncrement)
    }

    @Test("Increments keep their bases from being pruned and deleted")
    func pruned() async throws {
        let (life, backups) = try await chain()
        var policy = RetentionPolicy()
        policy.counts[.last] = 1
        var options = PruneBackups.Options(policy: policy, now: life.date + 1)
        let prune = PruneBackups(
            in: life.scene.folder(),
            options: options,
            context: life.scene.context()
        )
        let outcome = try await prune.run()
        #expect(outcome.removed.map(\.name) == [backups[1].name])
        let reasons = outcome.plan.keep.map(\.reasons)
        #expect(reasons.filter { $0.first?.hasPrefix("needed by") == true }.count == 2)
        #expect(try await life.differences(backups[3].name).isEmpty)

        let delete = DeleteBackup(from: life.scene.folder(), context: life.scene.context())
        await #expect(throws: BackupFolderError.self) {
            try await delete.run(backups[0], at: life.date, keepingTrash: .seconds(60))
        }
        #expect(try await life.scene.folder().list().backups.count == 3)
        try await delete.run(
            backups[0],
            at: life.date + 2,
            keepingTrash: .seconds(60),
            withDependants: true
        )
        #expect(try await life.scene.folder().list().backups.isEmpty)

        // One comes back alone: what it needs stays in the trash, however old.
        _ = try await life.scene.folder().trash.bringBack(backups[2].name)
        options.keepsTrash = .seconds(1)
        options.now = life.date + 1_000_000
        _ = try await PruneBackups(
            in: life.scene.folder(),
            options: options,
            context: life.scene.context()
        ).run()
        #expect(try await life.scene.folder().trashed().map(\.name) == [backups[0].name])
        #expect(try await life.differences(backups[2].name).isEmpty)
    }

    @Test("Increments are checked, copied with their bases, and reported if damaged")
    func checked() async throws {
        let (life, backups) = try await chain()
        let check = CheckBackups(
            in: life.scene.folder(),
            options: .init(),
            context: life.scene.context()
        )
        #expect(try await check.run(backups[3], at: life.date).isGood)

        let other = LocalFolder(try life.scene.sandbox.directory("Copies"))
        let copied = try await CopyBackups(
            from: life.scene.folder(),
            to: life.scene.folder(other),
            options: .init(date: life.date),
            context: life.scene.context()
        ).run([backups[3].name])
        #expect(
            Set(copied.copied.map(\.backup.name))
                == [backups[0].name, backups[2].name, backups[3].name]
        )
        let target = try life.scene.sandbox.directory("FromCopies")
        let folder = life.scene.folder(other)
        try await life.extract(folder.find(backups[3].name), from: folder, to: target)
        let expected = try #require(life.expected[backups[3].name])
        #expect(try IncrementScene.differences(target, expected).isEmpty)

        // A byte in the middle of the one between.
        let path = life.scene.remotePath.appending(backups[2].name)
        var bytes = try Data(contentsOf: URL(filePath: path.string))
        bytes[60] ^= 0xFF
        try bytes.write(to: URL(filePath: path.string))
        #expect(try await !check.run(backups[3], at: life.date).isGood)
        #expect(try await check.run(backups[1], at: life.date).isGood)
    }

    @Test("An increment leaves out the directory of archives; a file of another kind is a problem")
    func reservedDirectory() async throws {
        let life = try IncrementScene(seed: 43)
        try life.makeStore("store0.sqlite", rows: 10)
        try life.scene.sandbox.write("{}", to: "Stores/.grocerydude/manifest.json")
        #expect(try await life.backUpAlone().problems.isEmpty)
        try life.scene.sandbox.write("mine", to: "Stores/.grocerydude/mine")
        let problems = try await life.backUpAlone().problems
        #expect(problems.map(\.path) == [".grocerydude/mine"])
        #expect(problems.map(\.kind) == [.unreadable])
    }

    @Test("A new lineage begins if the state is gone or damaged, or much has changed")
    func renewed() async throws {
        let (life, _) = try await chain(2)
        let path = life.increments.statePath
        try Data("no database".utf8).write(to: URL(filePath: path.string))
        #expect(try await !life.backUp().isIncrement)
        #expect(try await life.backUp().isIncrement)
        try life.write("store0.sqlite") {
            try $0.execute(sql: "UPDATE item SET data = randomblob(200)")
        }
        #expect(try await !life.backUp().isIncrement)
        // A directory in the place of a file is nothing that can be unzipped over it.
        try FileManager.default.removeItem(atPath: life.scene.stores.appending("d/f").string)
        try LocalFileSystem().createDirectories(life.scene.stores.appending("d/f"))
        #expect(try await !life.backUp().isIncrement)
        for name in life.names { #expect(try await life.differences(name).isEmpty) }
    }

    @Test("Increments hold only the changed runs of a large file that is no store")
    func largeFiles() async throws {
        let life = try IncrementScene(seed: 19)
        let path = life.scene.stores.appending("media").string
        var bytes = Data(life.random.bytes(9 << 20))
        try bytes.write(to: URL(filePath: path))
        try await life.backUp()
        for offset in [5, 3 << 20, (9 << 20) - 2] {
            bytes[offset] ^= 0xFF
            try bytes.write(to: URL(filePath: path))
            let backup = try await life.backUp()
            #expect(backup.isIncrement && backup.size < 20_000)
        }
        bytes.removeLast(12_345)
        try bytes.write(to: URL(filePath: path))
        #expect(try await life.backUp().isIncrement)
        for name in life.names { #expect(try await life.differences(name).isEmpty) }
    }

    @Test("Increments stay in the trash for a day, whatever the policy says")
    func trash() async throws {
        let (life, backups) = try await chain(2)
        let folder = life.scene.folder()
        let delete = DeleteBackup(from: folder, context: life.scene.context())
        try await delete.run(backups[1], at: life.date, keepingTrash: .zero)
        try await delete.run(backups[0], at: life.date, keepingTrash: .zero)
        #expect(try await folder.trashed().count == 2)
        let hour: TimeInterval = 3600
        _ = try await folder.trash.empty(before: life.date + hour, now: life.date + 2 * hour)
        #expect(try await folder.trashed().count == 2)
        _ = try await folder.trash.empty(before: life.date + 30 * hour, now: life.date + 30 * hour)
        #expect(try await folder.trashed().isEmpty)
    }

    private static func report(_ path: FilePath) throws -> Row? {
        let queue = try DatabaseQueue(path: path.string)
        defer { try? queue.close() }
        return try queue.read {
            try Row.fetchOne($0, sql: "SELECT path, standing, content FROM report")
        }
    }

    @Test("An increment counts a store's rows again only if the store changed")
    func rows() async throws {
        let (life, _) = try await chain(1)
        func rows(_ backup: Backup) async throws -> Int64? {
            let archived = try await life.scene.folder().open(backup, holdingTo: nil) { _ in }
            return archived.header?.stores.first?.tables.first { $0.name == "item" }?.rows
        }
        try Data("1".utf8).write(to: URL(filePath: life.scene.stores.appending("note").string))
        #expect(try await rows(life.backUp()) == 2500)
        // The state's report is used as long as the store is unchanged.
        let row = try #require(try Self.report(life.increments.statePath))
        let content = String(decoding: row["content"] as Data, as: UTF8.self)
        let state = try BackupState(life.increments.statePath)
        try state.put(
            report: Array(content.replacing("2500", with: "2501").utf8),
            of: Array(row["path"] as Data),
            standing: row["standing"]
        )
        state.close()
        try Data("2".utf8).write(to: URL(filePath: life.scene.stores.appending("note").string))
        #expect(try await rows(life.backUp()) == 2501)
        life.increments.rereads = true
        #expect(try await rows(life.backUp()) == 2500)
        life.increments.rereads = false
        try life.makeStore("store0.sqlite", rows: 3)
        #expect(try await rows(life.backUp()) == 2503)
    }
}
