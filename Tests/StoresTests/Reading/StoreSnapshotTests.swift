import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// The reader of live stores against SQLite's own backup, while another process has the store open.
@Suite("A snapshot")
struct StoreSnapshotTests {
    let sandbox: Sandbox
    let directory: FilePath
    let scratch: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
        scratch = try sandbox.directory("Scratch")
    }

    private var path: FilePath { directory.appending("a.sqlite") }

    /// A schema with what makes databases differ: overflow pages, indices, WITHOUT ROWID, FTS5.
    private static let schema = [
        "CREATE TABLE big (id INTEGER PRIMARY KEY, body BLOB, word TEXT)",
        "CREATE INDEX big_word ON big (word)",
        "CREATE TABLE plain (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID",
        "CREATE VIRTUAL TABLE search USING fts5(body)",
    ]

    private func fill(_ writer: StoreApplication, rows: Int = 60) throws {
        let numbers =
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))"
        try writer.run(
            "\(numbers) INSERT INTO big (body, word) SELECT randomblob(i * 40), hex(randomblob(8)) FROM n",
            "\(numbers) INSERT OR REPLACE INTO plain SELECT 'k' || i, hex(randomblob(i)) FROM n",
            "\(numbers) INSERT INTO search SELECT 'word' || i || ' grocery list' FROM n"
        )
    }

    /// Takes a snapshot and holds it against SQLite's backup of the same transaction; nothing in
    /// the stores directory may change by that.
    private func expectMatchesReference(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try sandbox.contents(of: "Stores")
        let snapshot = try Store("a.sqlite", in: directory).snapshot(scratch: scratch)
        let bytes = try snapshot.bytes()
        let reference = try referenceBackup(
            of: snapshot.connection.handle(),
            to: sandbox.path.appending("reference.sqlite")
        )
        expectSamePages(bytes, reference, sourceLocation: sourceLocation)
        // Pieces of odd sizes, which begin and end in the middle of runs, give the same.
        let piece = max(snapshot.pageSize, 1 << 16)
        #expect(try snapshot.bytes(inPieces: piece) == bytes, sourceLocation: sourceLocation)
        #expect(try sandbox.contents(of: "Stores") == before, sourceLocation: sourceLocation)
    }

    @Test(
        "is what sqlite3_backup_step gives, page for page",
        arguments: [512, 1024, 4096, 32_768, 65_536],
        ["wal", "delete", "truncate", "persist"]
    )
    func matches(pageSize: Int, journal: String) throws {
        for autoVacuum in ["none", "full", "incremental"] {
            for file in ["a.sqlite", "a.sqlite-wal", "a.sqlite-shm", "a.sqlite-journal"] {
                try LocalFileSystem().remove(directory.appending(file))
            }
            let writer = try StoreApplication(on: path)
            try writer.run(
                "PRAGMA page_size = \(pageSize)",
                "PRAGMA auto_vacuum = \(autoVacuum)",
                "PRAGMA journal_mode = \(journal)"
            )
            for statement in Self.schema { try writer.run(statement) }
            try fill(writer)
            try expectMatchesReference()
            try LocalFileSystem().remove(sandbox.path.appending("reference.sqlite"))
            try writer.end()
        }
    }

    @Test("has what was written since the last checkpoint, also where the database grew or shrank")
    func grownAndShrunk() throws {
        let writer = try StoreApplication(on: path)
        try writer.run("PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0")
        for statement in Self.schema { try writer.run(statement) }
        try fill(writer, rows: 300)
        try expectMatchesReference()
        try LocalFileSystem().remove(sandbox.path.appending("reference.sqlite"))
        try writer.run("PRAGMA wal_checkpoint", "DELETE FROM big WHERE id > 10", "VACUUM")
        // The file is still as long as it was; the snapshot is as long as the database is.
        let file = try FileInfo(of: path).size
        let snapshot = try Store("a.sqlite", in: directory).snapshot(scratch: scratch)
        #expect(snapshot.size < file)
        try expectMatchesReference()
    }

    @Test("leaves out frames at the end of the log that were not committed")
    func uncommittedFrames() throws {
        let writer = try StoreApplication(on: path)
        try writer.run(
            "PRAGMA journal_mode = wal",
            "PRAGMA cache_size = 1",
            "PRAGMA cache_spill = 1"
        )
        for statement in Self.schema { try writer.run(statement) }
        try fill(writer)
        let committed = try FileInfo(of: directory.appending("a.sqlite-wal")).size
        try writer.run("BEGIN")
        try fill(writer, rows: 400)
        #expect(try FileInfo(of: directory.appending("a.sqlite-wal")).size > committed)
        try expectMatchesReference()
        // The writer is killed: the frames stay in the log, and nobody keeps its index.
        writer.kill()
        try LocalFileSystem().remove(sandbox.path.appending("reference.sqlite"))
        try expectMatchesReference()
        let snapshot = try Store("a.sqlite", in: directory).snapshot(scratch: scratch)
        #expect(
            try snapshot.report(hasSupportDirectory: false).facts.tables.first { $0.name == "big" }?
                .rows == 60
        )
    }

    @Test("leaves out frames of an older generation of the log")
    func olderGeneration() throws {
        let writer = try StoreApplication(on: path)
        try writer.run("PRAGMA journal_mode = wal")
        for statement in Self.schema { try writer.run(statement) }
        try fill(writer, rows: 300)
        // After a checkpoint the log begins again at its start, over the old frames.
        try writer.run("PRAGMA wal_checkpoint", "INSERT INTO big (word) VALUES ('new')")
        try expectMatchesReference()
        writer.kill()
        try LocalFileSystem().remove(sandbox.path.appending("reference.sqlite"))
        try expectMatchesReference()
    }

    @Test("of an empty database and of one with a header only is that database")
    func emptyDatabase() throws {
        let writer = try StoreApplication(on: path)
        try writer.run("PRAGMA journal_mode = wal", "CREATE TABLE t (x)", "DROP TABLE t", "VACUUM")
        try expectMatchesReference()
    }

    @Test("of a store at rest in WAL mode makes no files, and notices an application that comes")
    func atRest() throws {
        let first = try StoreApplication(on: path)
        try first.run("PRAGMA journal_mode = wal", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
        try first.end()
        #expect(try Directory.open(directory).names().map(\.description) == ["a.sqlite"])
        try expectMatchesReference()
        let snapshot = try Store("a.sqlite", in: directory).snapshot(scratch: scratch)
        #expect(try snapshot.isStill())
        let second = try StoreApplication(on: path)
        try second.run("INSERT INTO t VALUES (2)")
        #expect(try !snapshot.isStill())
        // Our lock keeps it from removing the log at its end, which would hide that it was there.
        try second.end()
        #expect(try !snapshot.isStill())
    }

    @Test("of a log without its index is read from a recovered copy")
    func logWithoutIndex() throws {
        let writer = try StoreApplication(on: path)
        try writer.run(
            "PRAGMA journal_mode = wal",
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES (1)"
        )
        writer.kill()
        try LocalFileSystem().remove(directory.appending("a.sqlite-shm"))
        let before = try sandbox.contents(of: "Stores")
        let snapshot = try Store("a.sqlite", in: directory).snapshot(scratch: scratch)
        #expect(snapshot.wasRecovered)
        #expect(try snapshot.report(hasSupportDirectory: false).facts.tables.map(\.rows) == [1])
        #expect(try sandbox.contents(of: "Stores") == before)
    }

    @Test("of a store with a hot journal is its state before the crash")
    func hotJournal() throws {
        let writer = try StoreApplication(on: path)
        try writer.run("PRAGMA cache_size = 1", "PRAGMA cache_spill = 1")
        for statement in Self.schema { try writer.run(statement) }
        try fill(writer)
        try writer.run(
            "BEGIN IMMEDIATE",
            "UPDATE big SET body = zeroblob(length(body)), word = 'torn'"
        )
        writer.kill()
        #expect(try FileInfo(of: directory.appending("a.sqlite-journal")).size > 512)
        let before = try sandbox.contents(of: "Stores")
        let snapshot = try Store("a.sqlite", in: directory).snapshot(scratch: scratch)
        #expect(snapshot.wasRecovered)
        let copy = sandbox.path.appending("copy.sqlite")
        try Data(snapshot.bytes()).write(to: URL(fileURLWithPath: copy.string))
        #expect(try query(copy, "SELECT count(*) FROM big WHERE word = 'torn'") == ["0"])
        #expect(try query(copy, "PRAGMA integrity_check") == ["ok"])
        #expect(try sandbox.contents(of: "Stores") == before)
    }

    @Test("is refused while a writer has the store for itself")
    func busy() throws {
        let writer = try StoreApplication(on: path)
        try writer.run("CREATE TABLE t (x)", "BEGIN EXCLUSIVE")
        #expect(throws: StoreError.busy("a.sqlite")) {
            try Store("a.sqlite", in: directory).beginReading(
                scratchParent: scratch,
                busyTimeout: .zero
            )
        }
    }

    @Test("of what is no database is an error that says so")
    func notADatabase() throws {
        try sandbox.write(String(repeating: "no database", count: 100), to: "Stores/a.sqlite")
        #expect(throws: StoreError.damaged("a.sqlite", reason: "it has no whole SQLite header")) {
            try Store("a.sqlite", in: directory).snapshot(scratch: scratch)
        }
    }
}
