import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// Logs and journals of which SQLite uses a part, and says no word of the rest.
@Suite("A log that nobody has open")
struct DamagedLogTests {
    let sandbox: Sandbox
    let directory: FilePath
    let scratch: FilePath
    private static let frame = 24 + 4096

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
        scratch = try sandbox.directory("Scratch")
    }

    /// Makes a store whose log has a table and some transactions of one frame each.
    private func store(rows: Int = 12, keepsIndex: Bool = false) throws -> Store {
        let application = try StoreApplication(
            on: directory.appending("a.db"),
            "PRAGMA journal_mode = wal",
            "PRAGMA wal_autocheckpoint = 0",
            "CREATE TABLE t (x)"
        )
        for row in 0..<rows { try application.run("INSERT INTO t VALUES (\(row))") }
        application.kill()
        if !keepsIndex { try LocalFileSystem().remove(directory.appending("a.db-shm")) }
        return try Store("a.db", in: directory)
    }

    private func change(_ name: String, _ body: (inout [UInt8]) -> Void) throws -> [UInt8] {
        var bytes = try sandbox.read("Stores/\(name)")
        body(&bytes)
        try sandbox.write(bytes, to: "Stores/\(name)")
        return bytes
    }

    private func rows(_ snapshot: StoreSnapshot) throws -> Int64? {
        try snapshot.report(hasSupportDirectory: false).facts.tables.first { $0.name == "t" }?.rows
    }

    @Test(
        "with a damaged frame is kept if others behind it were committed",
        arguments: [
            // Frames 1 and 2 make the table; the page of the fifth, its header, its salt; the first frame.
            (32 + 4 * frame + 100, "frame 5", 2), (32 + 4 * frame + 1, "frame 5", 2),
            (32 + 4 * frame + 9, "frame 5", 2), (32 + 100, "frame 1", nil),
            (5, "the header", nil), (0, "the header", nil), (9, "the header", nil),
            (20, "the header", nil), (27, "the header", nil),
        ] as [(Int, String, Int64?)]
    )
    func damagedFrame(offset: Int, place: String, rows: Int64?) throws {
        for keepsIndex in [false, true] {
            let store = try store(keepsIndex: keepsIndex)
            let log = try change("a.db-wal") { $0[offset] ^= 1 }
            let snapshot = try store.snapshot(scratch: scratch)
            #expect(try self.rows(snapshot) == rows)
            let damaged = try #require(snapshot.damagedLog)
            #expect(damaged.reason.hasPrefix(place))
            #expect(try damaged.file.readExactly(count: log.count, at: 0) == log)
            for name in try Directory.open(directory).names() {
                try LocalFileSystem().remove(directory.appending("\(name)"))
            }
        }
    }

    @Test("that ends with a write that was cut off, or with frames of an older one, is sound")
    func soundEnds() throws {
        // The last frame is not whole.
        var store = try store()
        _ = try change("a.db-wal") { $0[$0.count - 10] ^= 1 }
        #expect(try store.snapshot(scratch: scratch).damagedLog == nil)
        _ = try change("a.db-wal") { $0.removeLast(10) }
        #expect(try store.snapshot(scratch: scratch).damagedLog == nil)
        try LocalFileSystem().remove(directory.appending("a.db-wal"))
        try LocalFileSystem().remove(directory.appending("a.db"))

        // It began again, and most of it is of before.
        let application = try StoreApplication(
            on: directory.appending("a.db"),
            "PRAGMA journal_mode = wal",
            "CREATE TABLE t (x); INSERT INTO t VALUES (randomblob(50000))",
            "PRAGMA wal_checkpoint(RESTART)",
            "INSERT INTO t VALUES (1)"
        )
        application.kill()
        store = try Store("a.db", in: directory)
        var snapshot: StoreSnapshot? = try store.snapshot(scratch: scratch)
        #expect(snapshot?.damagedLog == nil)
        #expect(try snapshot.map(rows) == 2)
        snapshot = nil
        try LocalFileSystem().remove(directory.appending("a.db-shm"))
        #expect(try store.snapshot(scratch: scratch).damagedLog == nil)
    }

    @Test("is sound if a transaction was rolled back that had been written to it in part")
    func rolledBack() throws {
        let application = try StoreApplication(
            on: directory.appending("a.db"),
            "PRAGMA journal_mode = wal",
            "PRAGMA cache_size = 5",
            "CREATE TABLE t (x)",
            "BEGIN",
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT randomblob(1000) FROM n",
            "ROLLBACK",
            "INSERT INTO t VALUES (1)"
        )
        application.kill()
        for removesIndex in [false, true] {
            if removesIndex { try LocalFileSystem().remove(directory.appending("a.db-shm")) }
            let snapshot = try Store("a.db", in: directory).snapshot(scratch: scratch)
            #expect(snapshot.damagedLog == nil)
            #expect(try rows(snapshot) == 1)
        }
        // The test is of that.
        #expect(try sandbox.read("Stores/a.db-wal").count > 50 * Self.frame)
    }

    @Test(
        "that is none, beside a store, is not looked at",
        arguments: [
            [UInt8](repeating: 0, count: 20_000),
            Array(String(repeating: "diary ", count: 4000).utf8),
        ]
    )
    func noLog(bytes: [UInt8]) throws {
        let store = try store()
        try sandbox.write(bytes, to: "Stores/a.db-wal")
        #expect(try store.snapshot(scratch: scratch).damagedLog == nil)
    }

    /// Makes a store with a hot journal.
    private func hotStore() throws -> Store {
        let application = try StoreApplication(
            on: directory.appending("a.db"),
            "PRAGMA cache_size = 5",
            "CREATE TABLE t (x)",
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT randomblob(1000) FROM n",
            "BEGIN",
            "UPDATE t SET x = randomblob(1000)"
        )
        application.kill()
        return try Store("a.db", in: directory)
    }

    @Test("or a journal, is rolled back if it is sound")
    func soundJournal() throws {
        let store = try hotStore()
        let snapshot = try store.snapshot(scratch: scratch)
        #expect(snapshot.wasRecovered)
        #expect(try rows(snapshot) == 500)
        #expect(try snapshot.findings(.full) == [])
    }

    @Test("or a journal, of a transaction that had not changed the database yet is sound")
    func unsyncedJournal() throws {
        let application = try StoreApplication(
            on: directory.appending("a.db"),
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES (1), (2)",
            "BEGIN",
            "UPDATE t SET x = 5"
        )
        application.kill()
        // The test is of that.
        #expect(try sandbox.read("Stores/a.db-journal").prefix(12).allSatisfy { $0 == 0 })
        #expect(try sandbox.read("Stores/a.db-journal").count > 512)
        let snapshot = try Store("a.db", in: directory).snapshot(scratch: scratch)
        #expect(snapshot.damagedLog == nil)
        #expect(try rows(snapshot) == 2)
    }

    @Test(
        "or a journal, that would be rolled back in part is damage",
        arguments: [0, 14, 22, 26, 512 + 100, 512 + 4104 * 3 + 50 + 4, 512 + 4104 * 3 + 4102]
    )
    func damagedJournal(offset: Int) throws {
        let store = try hotStore()
        // A byte of every 200 counts in the checksum of a page.
        _ = try change("a.db-journal") { bytes in
            if offset < 512 {
                bytes[offset] ^= 1
            } else {
                for place in offset..<min(offset + 200, bytes.count) { bytes[place] ^= 1 }
            }
        }
        #expect { _ = try store.snapshot(scratch: scratch) } throws: { error in
            if case StoreError.damaged(_, let reason) = error {
                reason.hasSuffix("of its journal is damaged")
            } else {
                false
            }
        }
    }
}
