import Files
import Foundation
import GRDB
import History
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Archives
@testable import Backups
@testable import Operations

@Suite("Increments and accidents")
struct IncrementAccidentTests {
    private let life: IncrementScene

    init() throws {
        life = try IncrementScene(seed: 23)
    }

    private func edit(_ text: String) throws {
        try life.write("store0.sqlite") {
            try $0.execute(sql: "UPDATE item SET name = '\(text)' WHERE id = 77")
        }
    }

    private func expectAllRestore() async throws {
        for name in life.names { #expect(try await life.differences(name).isEmpty) }
    }

    @Test("An increment does not trust times of a file that changed recently or in the future")
    func grain() throws {
        let sandbox = try Sandbox()
        let info = try FileInfo(of: sandbox.write("1", to: "file"))
        let last = Double(max(info.modified, info.changed)) / 1_000_000_000
        for (later, tells) in [(-10.0, false), (0, false), (1.9, false), (2.1, true)] {
            let standing = info.standing(at: Date(timeIntervalSince1970: last + later))
            #expect((standing != nil) == tells, "\(later) s later")
        }
    }

    @Test("A state older than the last backups costs bytes, and loses no data")
    func staleState() async throws {
        _ = try await life.makeChain(2)
        try life.keepState()
        for number in 0..<2 {
            try edit("lost \(number)")
            try await life.backUp()
        }
        try life.putBackState()
        for number in 0..<3 {
            try edit("after \(number)")
            #expect(try await life.backUp().isIncrement)
        }
        try await expectAllRestore()
    }

    @Test(
        "A file that was removed, made again and removed again stays away in a restore",
        arguments: ["", "link", "d"]
    )
    func comesAndGoes(kind: String) async throws {
        let path = life.scene.stores.appending("lock").string
        func make(_ text: String) throws {
            switch kind {
            case "link":
                try FileManager.default.createSymbolicLink(
                    atPath: path,
                    withDestinationPath: text
                )
            case "d":
                try LocalFileSystem().createDirectory(FilePath(path))
                try Data(text.utf8).write(to: URL(filePath: path + "/f"))
            default: try Data(text.utf8).write(to: URL(filePath: path))
            }
        }
        try make("one")
        _ = try await life.makeChain(1)
        for number in 0..<6 {
            if number.isMultiple(of: 2) {
                try FileManager.default.removeItem(atPath: path)
            } else {
                try make("again \(number)")
            }
            #expect(try await life.backUp().isIncrement)
            // The base of every second one is the whole one.
            try edit("\(number)")
            #expect(try await life.backUp().isIncrement)
        }
        try await expectAllRestore()
    }

    @Test("A file that became a link and was then removed stays away in a restore")
    func becameLink() async throws {
        let path = life.scene.stores.appending("current").string
        try Data("one".utf8).write(to: URL(filePath: path))
        _ = try await life.makeChain(1)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "none")
        #expect(try await life.backUp().isIncrement)
        try FileManager.default.removeItem(atPath: path)
        #expect(try await life.backUp().isIncrement)
        try await expectAllRestore()
    }

    @Test("A base is read before the first increment, and no increment is made on a damaged base")
    func damagedBase() async throws {
        let whole = try #require(try await life.makeChain(1).first)
        let path = try #require(whole.file.location)
        let file = try FileHandle(forUpdating: URL(filePath: path.string))
        // In the middle is the store.
        try file.seek(toOffset: UInt64(whole.size / 2))
        try file.write(contentsOf: Data(repeating: 0x55, count: 64))
        try file.close()
        try edit("one")
        let next = try await life.backUp()
        #expect(!next.isIncrement)
        #expect(try await life.differences(next.name).isEmpty)
        let listed = try await life.scene.folder().list().backups
        #expect(listed.first { $0.name == whole.name }?.damage != nil)
        try edit("two")
        #expect(try await life.backUp().isIncrement)
    }

    @Test(
        "An increment counts for nothing if its base is cut off, or was found damaged by any check",
        arguments: ["cut off", "checked", "checked with the increment"]
    )
    func hitByBase(accident: String) async throws {
        let good = try #require(try await life.makeChain(1).first)
        try edit("base")
        let base = try await life.backUpAlone { $0.increments?.isFull = true }.backup
        try edit("increment")
        let increment = try await life.backUp()
        #expect(increment.needs.map(\.name) == [base.name])
        let log = RunLog(life.scene.sandbox.path("State/log.sqlite"))
        let folder = life.scene.folder(log: log)
        #expect(try await folder.list().backups.allSatisfy { $0.damage == nil })
        let path = try #require(base.file.location)
        let file = try FileHandle(forUpdating: URL(filePath: path.string))
        if accident == "cut off" {
            try file.truncate(atOffset: 0)
        } else {
            try file.seek(toOffset: UInt64(base.size / 2))
            try file.write(contentsOf: Data(repeating: 0x55, count: 64))
            let check = CheckBackups(in: folder, options: .init(), context: life.scene.context())
            let checked = accident == "checked" ? base : increment
            #expect(try await !check.run(checked, at: life.date).isGood)
        }
        try file.close()
        var options = PruneBackups.Options(policy: RetentionPolicy(), now: life.date + 1)
        options.policy.counts[.last] = 1
        let backups = try await folder.list().backups
        for hit in [base, increment] {
            #expect(backups.first { $0.name == hit.name }?.damage != nil, "\(hit.name)")
        }
        #expect(backups.newestGood(at: life.date)?.name == good.name)
        let pruning = PruneBackups(in: folder, options: options, context: life.scene.context())
        #expect(try await pruning.run().removed.isEmpty)
        let next = try await life.backUp()
        #expect(!next.isIncrement)
        #expect(try await life.differences(next.name).isEmpty)
    }

    @Test("An increment that was checked after its base was found damaged counts again")
    func notHitByBase() async throws {
        let content = Data(life.random.bytes(3000))
        try content.write(to: URL(filePath: life.scene.stores.appending("aaa").string))
        let base = try #require(try await life.makeChain(1).first)
        try Data("other".utf8).write(to: URL(filePath: life.scene.stores.appending("aaa").string))
        let increment = try await life.backUp()
        let path = try #require(base.file.location)
        var bytes = try Data(contentsOf: URL(filePath: path.string))
        let place = try #require(bytes.firstRange(of: content.prefix(100)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: URL(filePath: path.string))
        let log = RunLog(life.scene.sandbox.path("State/log.sqlite"))
        let folder = life.scene.folder(log: log)
        let check = CheckBackups(in: folder, options: .init(), context: life.scene.context())
        #expect(try await !check.run(base, at: life.date).isGood)
        func damage() async throws -> String? {
            try await folder.list().backups.first { $0.name == increment.name }?.damage
        }
        #expect(try await damage()?.contains("which is damaged") == true)
        #expect(try await check.run(increment, at: life.date + 60).isGood)
        #expect(try await damage() == nil)
    }

    @Test("Increments survive a clock that goes back, and two of them in one minute")
    func clock() async throws {
        let backups = try await life.makeChain(3)
        // As the scene's next is an hour later.
        life.date -= 3600
        try edit("same minute")
        let same = try await life.backUp()
        #expect(same.displayName == "\(backups[2].displayName) (2)")
        life.date -= 3600 * 2
        try edit("earlier")
        try await life.backUp()
        life.date -= 3600 * 100
        try edit("before the whole one")
        #expect(try await !life.backUp().isIncrement)
        try await expectAllRestore()
    }

    @Test("An increment saves a file that was rewritten within the grain of its times, or set back")
    func times() async throws {
        _ = try await life.makeChain(1)
        let path = life.scene.stores.appending("d/f").string
        func write(_ text: String) throws {
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.write(contentsOf: Data(text.utf8))
            try handle.close()
        }
        // Now, as a real run is, and again within the two seconds that are not relied upon.
        life.date = Date() - 3600
        try write("two")
        try await life.backUp()
        let now = try FileInfo(of: FilePath(path)).modified
        try write("six")
        let time = Date(timeIntervalSince1970: Double(now) / 1e9)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        life.date = Date() - 3600
        try await life.backUp()
        // Long after, only the inode shows it.
        life.date = Date() + 1_000_000
        try await life.backUp()
        try write("ten")
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        try await life.backUp()
        try await expectAllRestore()
    }

    @Test(
        "A base that is damaged in one file affects only increments that do not replace that file"
    )
    func damagedSegment() async throws {
        try Data(life.random.bytes(3000)).write(
            to: URL(filePath: life.scene.stores.appending("aaa").string)
        )
        let backups = try await life.makeChain(2)
        try Data(life.random.bytes(3000)).write(
            to: URL(filePath: life.scene.stores.appending("aaa").string)
        )
        let replaced = try await life.backUp()
        let path = life.scene.remotePath.appending(backups[0].name).string
        let archive = try Data(contentsOf: URL(filePath: path))
        let whole = try Data(
            contentsOf: URL(filePath: life.expected[backups[0].name]!.appending("aaa").string)
        )
        let place = try #require(archive.firstRange(of: whole.prefix(100)))
        var bytes = archive
        bytes[place.lowerBound] ^= 0xFF
        try bytes.write(to: URL(filePath: path))
        #expect(try await life.differences(replaced.name).isEmpty)
        for backup in backups {
            await #expect(throws: (any Error).self) { try await life.differences(backup.name) }
        }
    }

    @Test("Damage that only a SHA-256 finds is reported for the archive that has it")
    func damagedPatch() async throws {
        let path = life.scene.stores.appending("large").string
        var content = life.random.bytes(9 << 20)
        try Data(content).write(to: URL(filePath: path))
        let whole = try #require(try await life.makeChain(1).first)
        // Random, so that it is in the patch as it is.
        let news = life.random.bytes(64 << 10)
        content.replaceSubrange(5 << 20..<(5 << 20) + news.count, with: news)
        try Data(content).write(to: URL(filePath: path))
        let increment = try await life.backUp()
        #expect(try await life.differences(increment.name).isEmpty)
        let file = URL(filePath: life.scene.remotePath.appending(increment.name).string)
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.firstRange(of: Data(news[1000..<1100])))
        bytes[place.lowerBound] ^= 0xFF
        try bytes.write(to: file)
        let error = await #expect(throws: ArchiveError.self) {
            try await life.differences(increment.name)
        }
        guard case .damagedEntry(let archive, let entry, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(archive.lastComponent?.string == increment.name)
        #expect(entry.contains("large"))
        #expect(try await life.differences(whole.name).isEmpty)
    }

    @Test("Removed files and new permissions are so in all later increments, whatever their bases")
    func lasting() async throws {
        for name in ["one", "two", "three"] {
            let path = life.scene.stores.appending("gone-\(name)").string
            try Data(name.utf8).write(to: URL(filePath: path))
        }
        _ = try await life.makeChain(2)
        for number in 0..<8 {
            if number == 0 {
                try FileManager.default.removeItem(
                    atPath: life.scene.stores.appending("gone-one").string
                )
            }
            if number == 1 {
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600],
                    ofItemAtPath: life.scene.stores.appending("gone-two").string
                )
            }
            if number == 3 {
                try FileManager.default.removeItem(atPath: life.scene.stores.appending("d").string)
            }
            try edit("edit \(number)")
            #expect(try await life.backUp().isIncrement)
        }
        try await expectAllRestore()
    }

    @Test("A failed upload publishes nothing, and the next backup ignores it")
    func failedUpload() async throws {
        _ = try await life.makeChain(2)
        try edit("not saved")
        var options = life.scene.options(at: life.date + 60)
        options.increments = life.increments
        let create = CreateBackup(
            of: life.scene.stores,
            to: life.scene.folder(RefusingFolder(folder: life.scene.remote)),
            options: options,
            context: life.scene.context()
        )
        await #expect(throws: (any Error).self) { try await create.run() }
        #expect(try await life.scene.folder().list().backups.count == 2)
        let next = try await life.backUp()
        #expect(next.isIncrement && next.needs.count == 1)
        try await expectAllRestore()
    }

    @Test("Two machines that see each other's archives late never build on them")
    func twoMachines() async throws {
        _ = try await life.makeChain(3)
        let other = try IncrementScene(seed: 29, sharing: life.scene)
        _ = try await other.makeChain(3)
        try edit("after the other")
        try await life.backUp()
        let all = try await life.scene.folder().list().backups
        let lineages = Set(all.compactMap(\.lineage))
        #expect(lineages.count == 2)
        for backup in all {
            for need in backup.needs {
                let base = try #require(all.first { $0.name == need.name })
                #expect(base.lineage == backup.lineage)
            }
        }
        try await expectAllRestore()
        for name in other.names { #expect(try await other.differences(name).isEmpty) }
        // What is not delivered yet is reported, and nothing is changed.
        let late = try #require(all.first { $0.isIncrement && $0.needs.count > 1 })
        let need = late.needs[1].name
        let (folder, away) = (life.scene.remotePath, life.scene.sandbox.path("Late"))
        try LocalFileSystem().move(folder.appending(need), to: away)
        await #expect(throws: BackupFolderError.self) { try await life.differences(late.name) }
        try LocalFileSystem().move(away, to: folder.appending(need))
        let scene = life.expected[late.name] == nil ? other : life
        #expect(try await scene.differences(late.name).isEmpty)
    }
}

/// A folder that takes no archive.
private struct RefusingFolder: RemoteFolder {
    let folder: LocalFolder
    var description: String { folder.description }

    func list() async throws -> [RemoteFile] { try await folder.list() }
    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        throw RemoteError.unreachable(address, reason: "the test says so")
    }
    func download(_ name: String, to path: FilePath) async throws {
        try await folder.download(name, to: path)
    }
    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await folder.download(name, range: range)
    }
    func move(_ name: String, to target: any RemoteFolder, as newName: String) async throws {
        try await folder.move(name, to: target, as: newName)
    }
    func delete(_ name: String) async throws { try await folder.delete(name) }
    func subfolder(_ name: String) -> any RemoteFolder { folder.subfolder(name) }
}
