import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// Databases that SQLite does not open here are read as files.
@Suite("The files of a database")
struct StoreFilesTests {
    let sandbox: Sandbox
    let directory: FilePath
    let scratch: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
        scratch = try sandbox.directory("Scratch")
    }

    private let log = [0x37, 0x7F, 0x06, 0x82] + [UInt8](repeating: 3, count: 50_000)

    private func files(log: [UInt8]? = nil) throws -> StoreFiles {
        try sandbox.write([UInt8](repeating: 1, count: 300_000), to: "Stores/a.db")
        if let log { try sandbox.write(log, to: "Stores/a.db-wal") }
        return try StoreFiles(of: Store("a.db", in: directory), scratchParent: scratch)
    }

    private func read(_ files: StoreFiles, _ range: Range<Int64> = 0..<300_000) throws {
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 100_000) {
            let count = Int(min(100_000, range.upperBound - offset))
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
            defer { buffer.deallocate() }
            #expect(try files.read(into: buffer, at: offset) == count)
        }
    }

    private func change(_ name: String, _ byte: UInt8, at offset: Int) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: directory.appending(name).string))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte])
        try file.close()
    }

    @Test("are of one moment if nothing changed, however often they are read")
    func still() throws {
        let files = try files(log: log)
        try read(files, 0..<100_000)
        #expect(try files.isStill() && files.sidecars.isEmpty)
        try read(files, 100_000..<300_000)
        #expect(try files.isStill())
        #expect(files.sidecars.map(\.path.description) == ["a.db-wal"])
        try read(files)
        try read(files, 150_000..<150_010)
        #expect(try files.isStill())
    }

    @Test("are not if the database changed while it was read")
    func changed() throws {
        let files = try files(log: log)
        try read(files, 0..<200_000)
        try change("a.db", 9, at: 5)
        try read(files, 200_000..<300_000)
        #expect(try !files.isStill())
    }

    @Test("are not if the database changes before it is read once more")
    func changedLater() throws {
        for offset in [5, 150_005] {
            let files = try files()
            try read(files)
            #expect(try files.isStill())
            try change("a.db", 9, at: offset)
            try read(files, 0..<100_000)
            try read(files, 150_000..<150_010)
            #expect(try !files.isStill())
        }
    }

    @Test("are not if another file took the name of one of them")
    func replaced() throws {
        let files = try files()
        try read(files)
        try LocalFileSystem().remove(directory.appending("a.db"))
        try sandbox.write([UInt8](repeating: 1, count: 300_000), to: "Stores/a.db")
        #expect(try !files.isStill())
    }

    @Test("have what was in the log at one moment, though it grows")
    func growingLog() throws {
        let files = try files(log: log)
        try read(files)
        #expect(try files.isStill())
        try sandbox.write(log + [7], to: "Stores/a.db-wal")
        let copy = try #require(files.sidecars.first?.copy)
        #expect(try copy.readExactly(count: Int(copy.size), at: 0) == log)
    }

    @Test("have no file beside them that is not SQLite's")
    func otherFiles() throws {
        try sandbox.write("a diary", to: "Stores/a.db-journal")
        let files = try files()
        try read(files)
        #expect(try files.isStill() && files.sidecars.isEmpty)
        let survey = try StoresDirectory(directory).survey()
        #expect(survey.foreign.isEmpty)
    }

    @Test("keep an application from checkpoints, and from the log's beginning, while they are read")
    func heldByLocks() throws {
        let application = try StoreApplication(
            on: directory.appending("b.db"),
            "PRAGMA journal_mode = wal",
            "PRAGMA wal_autocheckpoint = 1",
            "CREATE TABLE t (x); INSERT INTO t VALUES (randomblob(20000))"
        )
        let before = try sandbox.read("Stores/b.db")
        do {
            let files = try StoreFiles(of: Store("b.db", in: directory), scratchParent: scratch)
            let start = try sandbox.read("Stores/b.db-wal")
            for _ in 0..<5 { try application.run("INSERT INTO t VALUES (randomblob(20000))") }
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: Int(files.info.size),
                alignment: 8
            )
            defer { buffer.deallocate() }
            #expect(try files.read(into: buffer, at: 0) == buffer.count)
            #expect(try files.isStill())
            #expect(Array(buffer) == before)
            #expect(try sandbox.read("Stores/b.db-wal").starts(with: start))
        }
        for _ in 0..<2 { try application.run("INSERT INTO t VALUES (1)") }
        #expect(try sandbox.read("Stores/b.db") != before)
        try application.end()
    }
}
