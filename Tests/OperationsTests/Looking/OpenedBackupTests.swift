import Archives
import Files
import Foundation
import GRDB
import Remotes
import Stores
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("An opened backup")
struct OpenedBackupTests {
    private static let seed: UInt64 = 20_261_123
    private let scene: IncrementScene

    init() throws {
        scene = try IncrementScene(seed: Self.seed)
    }

    private func open(
        _ name: String = "latest",
        in folder: BackupFolder? = nil
    ) async throws -> OpenedBackup {
        let folder = folder ?? scene.scene.folder()
        return try await OpenedBackup(
            folder.find(name, now: scene.date),
            in: folder,
            context: scene.scene.context()
        )
    }

    /// Makes a store of some 14 MB, of which each page is another.
    private func makeLargeStore() throws {
        try scene.makeStore("store.sqlite", rows: 0)
        try scene.write("store.sqlite") {
            try $0.execute(
                sql: """
                    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
                    INSERT INTO item SELECT i, 'item ' || i, randomblob(200) FROM n
                    """
            )
        }
    }

    /// Reads all of a source in pieces of odd sizes, backwards.
    private func contents(_ source: any ByteSource) throws -> [UInt8] {
        var end = try source.size
        var bytes: [UInt8] = []
        var step: Int64 = 1
        while end > 0 {
            let start = max(0, end - step)
            bytes = try source.readExactly(count: Int(end - start), at: start) + bytes
            end = start
            step = step * 30 + 7
        }
        return bytes
    }

    @Test("An opened backup gives the bytes of every file of any backup, assembled from its bases")
    func everyFile() async throws {
        _ = try await scene.makeChain(1)
        for _ in 0..<14 {
            for _ in 0..<3 { try scene.edit() }
            try await scene.backUp()
        }
        var increments = 0
        for name in scene.names {
            let whole = try #require(scene.expected[name])
            let opened = try await open(name)
            try await opened.look { opened in
                for item in try opened.items(where: { _ in true })
                where item.attributes.kind == .file {
                    let path = item.attributes.path
                    #expect(EntrySource.canRead(item))
                    if item.patched != nil { increments += 1 }
                    let expected = try Data(
                        contentsOf: URL(filePath: path.below(whole).string)
                    )
                    #expect(
                        try contents(opened.source(of: item)) == [UInt8](expected),
                        "\(name): \(path), seed \(Self.seed)"
                    )
                }
            }
        }
        #expect(increments > 3)
    }

    @Test("An opened backup reads a store without unpacking it, local or remote")
    func elsewhere() async throws {
        try makeLargeStore()
        try await scene.backUp()
        try scene.write("store.sqlite") {
            try $0.execute(sql: "UPDATE item SET name = 'changed' WHERE id = 15000")
        }
        let backup = try await scene.backUp()
        #expect(backup.isIncrement)
        let fetched = Mutex(0)
        let elsewhere = Elsewhere(folder: scene.scene.remote) { range, bytes in
            fetched.withLock { $0 += range.count }
            return bytes
        }
        for folder in [scene.scene.folder(), scene.scene.folder(elsewhere)] {
            for (name, expected) in [(scene.names[1], "changed"), (scene.names[0], "item")] {
                let opened = try await open(name, in: folder)
                let value = try await opened.look { opened in
                    #expect(try opened.stores() == ["store.sqlite"])
                    let snapshot = try opened.store(nil)
                    let schema = try snapshot.schema()
                    let table = try #require(schema.tables.first { $0.name == "item" })
                    var rows = try snapshot.rows(of: table, rowIDs: 15_000...15_000)
                    return try snapshot.reading { () -> StoredValue? in
                        guard try rows.next() else { return nil }
                        return try rows.value(1)
                    }
                }
                guard case .text(let text) = value else {
                    Issue.record("no text but \(String(describing: value))")
                    continue
                }
                #expect(text.string?.hasPrefix(expected) ?? false)
            }
        }
        let size = try await scene.scene.list().reduce(0) { $0 + $1.size }
        #expect(fetched.withLock(\.self) < size, "of \(size) bytes")
        #expect(
            try scene.scene.leftovers().filter {
                $0 != "State" && $0 != "Whole" && !$0.hasPrefix("Other")
            } == []
        )
    }

    @Test("An opened backup names the damaged file and page, and reads all else")
    func damage() async throws {
        var random = Pseudorandom(seed: Self.seed)
        try makeLargeStore()
        try scene.scene.sandbox.write(random.bytes(3 << 20), to: "Stores/large")
        let backup = try await scene.backUp()
        let path = scene.scene.remotePath.appending(backup.name)
        var bytes = try [UInt8](Data(contentsOf: URL(filePath: path.string)))
        // In the middle of the store's data, which comes first.
        bytes[9_500_000] ^= 1
        try Data(bytes).write(to: URL(filePath: path.string))
        let opened = try await open()
        await #expect {
            try await opened.look { opened in
                let snapshot = try opened.store(nil)
                let table = try #require(snapshot.schema().tables.first)
                var rows = try snapshot.rows(of: table)
                try snapshot.reading { while try rows.next() {} }
            }
        } throws: { error in
            guard case LookingError.damaged(StoreError.damagedPage(let store, let page, _)) = error
            else { return false }
            return store == "store.sqlite" && page > 256
        }
        let large = try await opened.look { opened in
            try opened.items { $0.description == "large" }.map {
                try contents(opened.source(of: $0))
            }
        }
        #expect(large.first?.count == 3 << 20)
    }

    @Test("An opened foreign archive unpacks no more than a store and its log")
    func foreign() async throws {
        let stores = scene.scene.stores
        let application = try StoreApplication(
            on: stores.appending("log.sqlite"),
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES ('in the log')"
        )
        let zip = scene.scene.remotePath.appending("Other Stores.zip")
        try scene.scene.sandbox.write("text", to: "Stores/other")
        try Tool.check("zip", ["-r", zip.string, "."], directory: stores)
        try application.end()
        let opened = try await open("Other")
        let value = try await opened.look { opened in
            #expect(try opened.stores() == ["log.sqlite"])
            let snapshot = try opened.store("log.sqlite")
            let table = try #require(snapshot.schema().tables.first)
            var rows = try snapshot.rows(of: table)
            return try rows.next() ? rows.value(0) : nil
        }
        #expect(value == .text("in the log"))
        #expect(try scene.scene.leftovers().filter { $0.contains("scratch") } == [])
    }

    @Test("An opened backup names its stores if another one is asked for")
    func names() async throws {
        try scene.makeStore("one.sqlite", rows: 1)
        try scene.makeStore("two.sqlite", rows: 1)
        try scene.scene.sandbox.write("text", to: "Stores/three")
        try await scene.backUp()
        let opened = try await open()
        await #expect { try await opened.look { _ = try $0.store(nil) } } throws: {
            "\($0)".hasPrefix("there are 2 stores in '")
        }
        await #expect { try await opened.look { _ = try $0.store("tow.sqlite") } } throws: {
            ($0 as? LookingError)?.hint == "did you mean 'two.sqlite'?"
        }
        await #expect { try await opened.look { _ = try $0.store("three") } } throws: {
            explain($0).hasSuffix("is not an SQLite database")
        }
        let live = LiveStores(scene.scene.stores, context: scene.scene.context())
        #expect(try live.stores() == ["one.sqlite", "two.sqlite"])
        #expect(try live.store("one.sqlite").schema().tables.map(\.name) == ["item"])
    }
}
