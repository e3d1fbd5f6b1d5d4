import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// A journal that a killed application left, of a transaction over several databases.
@Suite("A hot journal that names a super-journal")
struct SuperJournalTests {
    private let sandbox: Sandbox
    private let scratch: FilePath

    init() throws {
        sandbox = try Sandbox()
        scratch = try sandbox.directory("Scratch")
        try Fixtures.copy("stores/journal", into: sandbox, as: "Stores")
    }

    /// As SQLite writes it (writeSuperJournal() in pager.c).
    private func name(_ path: String, sum change: UInt32 = 0) throws {
        func word(_ number: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
        }
        let bytes = Array(path.utf8)
        let sum = bytes.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
        let journal = try sandbox.read("Stores/journal.sqlite-journal")
        let record =
            word(0x4000_0000 / 1024 + 1) + bytes + word(UInt32(bytes.count)) + word(sum &+ change)
            + [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        try sandbox.write(journal + record, to: "Stores/journal.sqlite-journal")
    }

    private func bytes() throws -> [UInt8] {
        let before = try sandbox.contents(of: "Stores")
        let store = try Store("journal.sqlite", in: sandbox.path("Stores"))
        let bytes = try store.snapshot(scratch: scratch).bytes()
        #expect(try sandbox.contents(of: "Stores") == before)
        #expect(try Directory.open(scratch).names() == [])
        return bytes
    }

    @Test("is played back while that is there, which stays, whatever it is")
    func there() throws {
        let rolledBack = try bytes()
        let file = try sandbox.read("Stores/journal.sqlite")
        #expect(rolledBack != file)
        let victim = try sandbox.write("precious", to: "Elsewhere/victim")
        try name(victim.string)
        #expect(try bytes() == rolledBack)
        #expect(try sandbox.read("Elsewhere/victim") == Array("precious".utf8))
        // One that SQLite would wait for.
        try LocalFileSystem().remove(victim)
        #expect(mkfifo(victim.string, 0o600) == 0)
        #expect(try bytes() == rolledBack)
        #expect(sandbox.exists("Elsewhere/victim"))
    }

    @Test("is not played back once that is gone: the transaction was committed")
    func gone() throws {
        let file = try sandbox.read("Stores/journal.sqlite")
        try name(sandbox.path("Stores/journal.sqlite-mj0A1B2C3D9").string)
        #expect(try bytes() == file)
        // SQLite takes an empty one for none.
        try sandbox.write("", to: "Stores/journal.sqlite-mj0A1B2C3D9")
        #expect(try bytes() == file)
    }

    @Test("lets nobody say what became of it where its directory is not here")
    func unknown() throws {
        try name("/nowhere/at all/journal.sqlite-mj0A1B2C3D9")
        #expect(throws: StoreError.self) { try bytes() }
        try Fixtures.copy("stores/journal", into: sandbox, as: "Stores")
        try name("relative")
        #expect(throws: StoreError.self) { try bytes() }
    }

    @Test("is played back where the application sees the directory by another path")
    func container() throws {
        let rolledBack = try bytes()
        try sandbox.write("/data/a-journal", to: "Stores/journal.sqlite-mj0A1B2C3D9")
        try name("/data/journal.sqlite-mj0A1B2C3D9")
        #expect(try bytes() == rolledBack)
    }

    @Test("is played back, as by SQLite, where its checksum is wrong")
    func damaged() throws {
        let rolledBack = try bytes()
        let victim = try sandbox.write("precious", to: "Elsewhere/victim")
        try name(victim.string, sum: 1)
        #expect(try bytes() == rolledBack)
        try name(sandbox.path("nothing").string, sum: 1)
        #expect(try bytes() == rolledBack)
        #expect(sandbox.exists("Elsewhere/victim"))
    }
}
