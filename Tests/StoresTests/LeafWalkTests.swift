import CSQLite
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite("A walk of leaves")
struct LeafWalkTests {
    let stores: RowsSandbox
    private let key = [UInt8](repeating: 7, count: 16)

    init() throws { stores = try RowsSandbox() }

    private func leaves(_ snapshot: StoreSnapshot, _ name: String = "t") throws -> [Leaf]? {
        let table = try #require(try snapshot.schema().table(name))
        return try snapshot.leaves(of: table, key: key)
    }

    /// One statement of an application.
    private func edit(_ random: inout Pseudorandom, _ rows: Int64) -> String {
        let id = Int64(random.next() % UInt64(rows))
        let size = [3, 20, 400, 3_000, 20_000][Int(random.next() % 5)]
        switch random.next() % 12 {
        case 0...2: return "UPDATE t SET a = randomblob(\(size)) WHERE id = \(id)"
        case 3, 4: return "UPDATE t SET b = b || 'x' WHERE id = \(id)"
        case 5: return "INSERT OR REPLACE INTO t VALUES (\(id), zeroblob(\(size)), 'new')"
        case 6: return "INSERT OR REPLACE INTO t VALUES (\(id - 9000), randomblob(\(size)), 1.5)"
        case 7: return "DELETE FROM t WHERE id BETWEEN \(id) AND \(id + 40)"
        case 8: return "DELETE FROM t WHERE id = \(id)"
        case 9: return "UPDATE t SET id = id + 100000 WHERE id = \(id)"
        case 10: return "UPDATE t SET a = CAST(a || X'00' AS BLOB) WHERE id > \(rows - id / 20)"
        default:
            return """
                INSERT OR IGNORE INTO t WITH RECURSIVE n(i) AS (VALUES(\(rows)) UNION ALL
                SELECT i + 1 FROM n WHERE i < \(rows + 60)) SELECT i, randomblob(\(size / 10)), i FROM n
                """
        }
    }

    @Test("misses no difference between states of random stores", arguments: 0..<24)
    func random(seed: UInt64) throws {
        var random = Pseudorandom(seed: seed)
        let numbers =
            "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
        try stores.run(
            "a.sqlite",
            "PRAGMA page_size = \([512, 1024, 4096, 65_536][Int(seed % 4)])",
            "PRAGMA auto_vacuum = \([0, 1, 2][Int(seed % 3)])",
            "PRAGMA journal_mode = \(["delete", "wal"][Int(seed / 4 % 2)])",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)",
            "CREATE TABLE other (x)",
            "CREATE INDEX i ON t (b)",
            "\(numbers) INSERT INTO t SELECT i, randomblob(i % 90), i FROM n",
            "\(numbers) INSERT INTO other SELECT randomblob(i) FROM n"
        )
        var old: (leaves: [Leaf], rows: [RowKey: [StoredValue]], pages: PagesInMemory)?
        for round in 0..<12 {
            let (leaves, rows, pages) = try state()
            expectCover(leaves)
            if let old {
                try expectSame(leaves, of: pages, after: old.pages)
                let changes = Leaf.changes(from: old.leaves, to: leaves)
                for key in Set(old.rows.keys).union(rows.keys) where old.rows[key] != rows[key] {
                    guard case .rowID(let id) = key else { continue }
                    #expect(changes.contains { $0.contains(id) }, "row \(id) in round \(round)")
                }
            }
            old = (leaves, rows, pages)
            var statements = (0..<(round % 4)).map { _ in edit(&random, 500) }
            if random.next() % 6 == 0 { statements.append("VACUUM") }
            if random.next() % 4 == 0 { statements.append("PRAGMA incremental_vacuum") }
            if random.next() % 3 == 0 {
                statements.append("DELETE FROM other WHERE random() % 3 = 0")
            }
            try stores.run("a.sqlite", statements)
            if random.next() % 2 == 0 { try scribble() }
        }
    }

    /// Changes the last byte of a long value in its place, as an application can that writes by pieces:
    /// the leaf of its row stays as it is.
    private func scribble() throws {
        let path = stores.directory.appending("a.sqlite")
        let ids = try query(path, "SELECT id FROM t WHERE length(a) > 2000 LIMIT 1")
        guard let id = ids.first.flatMap(Int64.init) else { return }
        var handle: OpaquePointer?
        try #require(sqlite3_open(path.string, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        var blob: OpaquePointer?
        try #require(sqlite3_blob_open(handle, "main", "t", "a", id, 1, &blob) == SQLITE_OK)
        let last = sqlite3_blob_bytes(blob) - 1
        var byte: UInt8 = 0
        #expect(sqlite3_blob_read(blob, &byte, 1, last) == SQLITE_OK)
        byte = ~byte
        #expect(sqlite3_blob_write(blob, &byte, 1, last) == SQLITE_OK)
        #expect(sqlite3_blob_close(blob) == SQLITE_OK)
    }

    /// Reads the store by its leaves and by its rows; it is held no longer than that.
    private func state() throws -> (
        leaves: [Leaf], rows: [RowKey: [StoredValue]], pages: PagesInMemory
    ) {
        let snapshot = try stores.snapshot()
        let rows = try snapshot.allRows("t").map { ($0.key, $0.values) }
        let pages = try PagesInMemory(of: snapshot, root: snapshot.schema().table("t"))
        return (try #require(try leaves(snapshot)), Dictionary(uniqueKeysWithValues: rows), pages)
    }

    /// What another state has as well is not read again, and makes no difference.
    private func expectSame(
        _ leaves: [Leaf],
        of pages: PagesInMemory,
        after old: PagesInMemory
    ) throws {
        guard let oldTable = old.table, let table = pages.table, old.segment == pages.segment
        else { return }
        let segments = SharedSegments(old.digests, pages.digests, size: old.segment)
        let before = try #require(try old.tree(of: oldTable, key: key, sharing: segments))
        let after = try #require(try pages.tree(of: table, key: key, with: before))
        #expect(after.leaves == leaves)
    }

    /// Each rowid is in one leaf.
    private func expectCover(_ leaves: [Leaf]) {
        #expect(leaves.first?.rowIDs.lowerBound == .min)
        #expect(leaves.last?.rowIDs.upperBound == .max)
        #expect(
            zip(leaves, leaves.dropFirst()).allSatisfy {
                $0.rowIDs.upperBound + 1 == $1.rowIDs.lowerBound
            }
        )
    }

    @Test("finds few leaves where little changed, none where nothing did, and needs the key")
    func few() throws {
        let numbers =
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 9999)"
        try stores.run(
            "a.sqlite",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
            "\(numbers) INSERT INTO t SELECT i, hex(randomblob(30)) FROM n"
        )
        let before = try #require(try leaves(try stores.snapshot()))
        #expect(before.count > 100)
        try stores.run("a.sqlite", "CREATE TABLE u (x)", "INSERT INTO u VALUES (1)")
        #expect(try leaves(try stores.snapshot()) == before)
        try stores.run("a.sqlite", "UPDATE t SET a = lower(a) WHERE id IN (1, 5000)")
        let snapshot = try stores.snapshot()
        let after = try #require(try leaves(snapshot))
        let changes = Leaf.changes(from: before, to: after)
        #expect(changes.count == 2 && changes[0].contains(1) && changes[1].contains(5_000))
        let table = try #require(try snapshot.schema().table("t"))
        let other = try snapshot.leaves(of: table, key: [UInt8](repeating: 8, count: 16))
        #expect(other?.map(\.rowIDs) == after.map(\.rowIDs))
        #expect(other.map { Set($0).isDisjoint(with: after) } == true)
        // In the files of both states, parts are the same: of those no page is read again.
        let old = try PagesInMemory(of: snapshot, root: table)
        let paths = ["a.sqlite", "b.sqlite"].map { stores.directory.appending($0).string }
        try FileManager.default.copyItem(atPath: paths[0], toPath: paths[1])
        try stores.run("b.sqlite", "UPDATE t SET a = upper(a) WHERE id IN (2, 5001)")
        let last = try stores.snapshot("b.sqlite")
        let new = try PagesInMemory(of: last, root: table)
        let segments = SharedSegments(old.digests, new.digests, size: old.segment)
        let tree = try old.tree(of: table, key: key, sharing: segments)
        #expect(try new.tree(of: table, key: key, with: tree)?.leaves == leaves(last))
        #expect(old.reads > 100 && new.reads < 20, "\(old.reads) and \(new.reads) pages")
        // Leaves that follow each other are one range.
        #expect(Leaf.changes(from: [], to: after) == [.min ... .max])
    }

    @Test("notices a missing leaf by the neighbour that took its place")
    func emptied() throws {
        let numbers =
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 999)"
        // One row to a page: the neighbours of one that is emptied have no room for more.
        try stores.run(
            "a.sqlite",
            "PRAGMA page_size = 512",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
            "\(numbers) INSERT INTO t SELECT i, hex(randomblob(200)) FROM n"
        )
        var unchanged = 0
        for place in stride(from: 100, to: 20, by: -7) {
            let old = try #require(try leaves(try stores.snapshot()))
            let rowIDs = old[place].rowIDs
            try stores.run(
                "a.sqlite",
                "DELETE FROM t WHERE id BETWEEN \(rowIDs.lowerBound) AND \(rowIDs.upperBound)"
            )
            let new = try #require(try leaves(try stores.snapshot()))
            let changes = Leaf.changes(from: old, to: new)
            #expect(rowIDs.allSatisfy { id in changes.contains { $0.contains(id) } })
            if Set(new.map(\.hash)).isSubset(of: old.map(\.hash)) { unchanged += 1 }
        }
        // Otherwise this would show nothing: by their content alone no leaf had changed.
        #expect(unchanged > 0)
    }

    @Test("leaves tables alone that it does not know")
    func unknown() throws {
        try stores.run(
            "a.sqlite",
            "CREATE TABLE w (k PRIMARY KEY) WITHOUT ROWID",
            "CREATE TABLE e (x)",
            "CREATE VIEW v AS SELECT 1"
        )
        let snapshot = try stores.snapshot()
        #expect(try leaves(snapshot, "w") == nil)
        #expect(try leaves(snapshot, "v") == nil)
        #expect(try leaves(snapshot, "e")?.map(\.rowIDs) == [.min ... .max])
    }

    @Test("ends on damaged pages, with leaves or with none", arguments: 0..<60)
    func damaged(seed: UInt64) throws {
        var random = Pseudorandom(seed: seed)
        let numbers =
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
        try stores.run(
            "a.sqlite",
            "PRAGMA page_size = 512",
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
            "\(numbers) INSERT INTO t SELECT i, randomblob(i * 5) FROM n"
        )
        var bytes = try stores.sandbox.read("Stores/a.sqlite")
        for _ in 0..<40 {
            let place = 512 + Int(random.next() % UInt64(bytes.count - 512))
            // Headers, and the pointers behind them, more often than the rest.
            let aimed = random.next() % 2 == 0 ? place : place / 512 * 512 + place % 16
            bytes[aimed] = UInt8(truncatingIfNeeded: random.next())
        }
        try stores.sandbox.write(bytes, to: "Stores/a.sqlite")
        let snapshot = try stores.snapshot()
        if let leaves = try leaves(snapshot) { expectCover(leaves) }
    }
}

/// The pages of a store's state, of which each that is read is counted.
private final class PagesInMemory: StorePages {
    let pageSize: Int
    let pageCount: Int64
    let table: TableSchema?
    private let bytes: [UInt8]
    private(set) var reads = 0

    /// Bytes in a segment: few, so that a row and what it goes on in are in several.
    var segment: Int { pageSize * 2 }

    init(of snapshot: StoreSnapshot, root table: TableSchema?) throws {
        self.table = table
        pageSize = snapshot.pageSize
        pageCount = snapshot.pageCount
        bytes = try [UInt8](unsafeUninitializedCapacity: Int(snapshot.size)) { buffer, count in
            count = try snapshot.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
    }

    var digests: [Digest] {
        stride(from: 0, to: bytes.count, by: segment).map { start in
            bytes[start..<min(start + segment, bytes.count)]
                .withUnsafeBytes { Digest(of: $0) }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let part = bytes[Int(offset)...].prefix(buffer.count)
        reads += part.count / pageSize
        buffer.copyBytes(from: part)
        return part.count
    }
}
