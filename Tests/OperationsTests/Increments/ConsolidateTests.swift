import Files
import Foundation
import GRDB
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Consolidating an increment")
struct ConsolidateTests {
    private let life: IncrementScene

    init() throws {
        life = try IncrementScene(seed: 13)
    }

    private func hasTrash() async throws -> [String] {
        try await life.scene.folder().trashed().map(\.name).sorted()
    }

    @Test("Consolidating makes a whole backup, which replaces the increment for its dependants")
    func placed() async throws {
        let backups = try await life.makeChain(5)
        _ = try await PinBackup(in: life.scene.folder(), context: life.scene.context())
            .run(backups[2].name, isPinned: true, at: life.date)
        let outcome = try await life.consolidate(backups[2].displayName)
        let whole = outcome.backup
        #expect(whole.name == "\(backups[2].displayName) Stores.zip")
        #expect(whole.isPinned && whole.needs.isEmpty && whole.time == backups[2].time)
        #expect(outcome.replaced?.name == backups[2].name)
        #expect(try await hasTrash() == [backups[2].name])
        // The increment would be hidden by the whole backup.
        await #expect(throws: BackupFolderError.consolidated(backups[2].name, whole: whole.name)) {
            try await DeleteBackup(from: life.scene.folder(), context: life.scene.context())
                .undo(backups[2].displayName)
        }
        #expect(try await hasTrash() == [backups[2].name])
        for name in life.names { #expect(try await life.differences(name).isEmpty) }
        // The one that is built on it needs nothing else: all others may go.
        let folder = life.scene.folder()
        let needed = try await Dependence(
            in: folder,
            among: folder.list().backups,
            goneForGood: false
        )
        .dependants(of: backups[0]).map(\.name)
        #expect(needed == [backups[4].name, backups[1].name])
        let delete = DeleteBackup(from: folder, context: life.scene.context())
        try await delete.run(
            backups[0],
            at: life.date,
            keepingTrash: .seconds(60),
            withDependants: true
        )
        try FileManager.default.removeItem(
            atPath: life.scene.remotePath.appending(Trash.subfolder).string
        )
        #expect(try await life.differences(backups[3].name).isEmpty)
        #expect(try await life.differences(whole.name).isEmpty)
        await #expect(throws: BackupFolderError.self) {
            try await delete.run(whole, at: life.date, keepingTrash: .seconds(60))
        }
        // Done again, there is nothing to do.
        #expect(try await life.consolidate(whole.name).wasWhole)
    }

    @Test("Consolidating takes the next number if another machine's backup has the name")
    func numbered() async throws {
        let backups = try await life.makeChain(3)
        let increment = backups[2]
        let other = try IncrementScene(seed: 99)
        try other.makeStore("other.sqlite", rows: 10)
        let theirs = try await other.backUpAlone().backup
        let taken = "\(increment.displayName) Stores.zip"
        try FileManager.default.copyItem(
            atPath: other.scene.remotePath.appending(theirs.name).string,
            toPath: life.scene.remotePath.appending(taken).string
        )
        // Both look the same to people: the names of their files differ.
        let folder = life.scene.folder()
        let names = try await folder.list().backups.map(\.displayName)
        #expect(Set(names).count == 4 && Set(names).isSuperset(of: [taken, increment.name]))
        #expect(try await folder.find(taken).name == taken)
        let error = await #expect(throws: BackupFolderError.self) {
            try await folder.find(increment.displayName)
        }
        #expect(error?.description.contains(increment.name) == true)
        let outcome = try await life.consolidate(increment.name)
        #expect(outcome.backup.name == "\(increment.displayName) (2) Stores.zip")
        #expect(outcome.replaced?.name == increment.name)
        for name in life.names { #expect(try await life.differences(name).isEmpty) }
        #expect(try await folder.list().backups.contains { $0.name == taken })
    }

    @Test("Consolidating makes later increments build on the whole backup")
    func later() async throws {
        let backups = try await life.makeChain(5)
        let whole = try await life.consolidate(backups[4].name).backup
        try life.write("store0.sqlite") {
            try $0.execute(sql: "UPDATE item SET name = 'later' WHERE id = 99")
        }
        let next = try await life.backUp()
        #expect(next.isIncrement && next.needs.map(\.name) == [whole.name])
        #expect(try await life.differences(next.name).isEmpty)
    }

    @Test("Consolidating restores large files that grew, shrank and were patched")
    func large() async throws {
        try life.makeStore("store0.sqlite", rows: 12_000)
        let path = life.scene.stores.appending("blob")
        func write(_ bytes: Int) throws {
            try Data(life.random.bytes(bytes)).write(to: URL(filePath: path.string))
        }
        try write(3 << 20)
        try await life.backUp()
        for (number, size) in [(1, 2 << 20), (2, 5 << 20), (3, 0)] {
            try life.write("store0.sqlite") { database in
                try database.execute(
                    sql: "UPDATE item SET name = name || '-' WHERE id % 1000 = \(number)"
                )
                guard number == 2 else { return }
                try database.execute(sql: "DELETE FROM item WHERE id > 6000")
            }
            if number == 3 {
                try life.vacuum("store0.sqlite")
                try life.makeStore("store0.sqlite", rows: 200)
            }
            try write(size)
            let backup = try await life.backUp()
            guard backup.isIncrement else { continue }
            let whole = try await life.consolidate(backup.name).backup
            #expect(try await life.differences(whole.name).isEmpty)
            try Tool.check(
                "unzip",
                ["-tq", life.scene.remotePath.appending(whole.name).string]
            )
        }
        #expect(life.names.count == 4)
    }

    @Test("Consolidating reports damage, and leaves everything as it was")
    func damaged() async throws {
        let backups = try await life.makeChain(3)
        let path = life.scene.remotePath.appending(backups[0].name)
        var bytes = try Data(contentsOf: URL(filePath: path.string))
        bytes[2000] ^= 0xFF
        try bytes.write(to: URL(filePath: path.string))
        await #expect(throws: (any Error).self) { try await life.consolidate(backups[2].name) }
        #expect(try await hasTrash().isEmpty)
        let names = try Directory.open(life.scene.remotePath).names().map(\.description)
        let archives = names.filter { $0.hasSuffix(".zip") }
        #expect(Set(archives) == Set(backups.map(\.name)))
    }
}
