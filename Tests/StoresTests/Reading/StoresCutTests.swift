import Files
import Foundation
import SystemPackage
import GRDB
import TestSupport
import Testing

@testable import Stores

/// Cuts while another process writes at full rate.
@Suite("A cut")
struct StoresCutTests {
    let sandbox: Sandbox
    let directory: FilePath
    let scratch: FilePath

    init() throws {
        sandbox = try Sandbox()
        directory = try sandbox.directory("Stores")
        scratch = try sandbox.directory("Scratch")
    }

    private func cut(_ stores: [Store]) throws -> StoresCut {
        try StoresCut(of: stores, scratchParent: scratch, busyTimeout: .seconds(20))
    }

    @Test(
        "under a writer at full rate is a committed state every time",
        arguments: [("wal", 150), ("delete", 60)]
    )
    func invariant(journal: String, cuts: Int) throws {
        let path = directory.appending("bank.sqlite")
        let writer = try StoreApplication("bank", path.string, journal)
        let store = try Store("bank.sqlite", in: directory)
        let copy = sandbox.path.appending("copy.sqlite")
        let reference = sandbox.path.appending("reference.sqlite")
        var states: Set<[UInt8]> = []
        for round in 0..<cuts {
            let cut = try cut([store])
            let snapshot = try #require(cut.members.first?.snapshot)
            let bytes = try snapshot.bytes()
            if round % 10 == 0 {
                // The same transaction, by SQLite's own means, while the writer goes on.
                expectSamePages(
                    bytes,
                    try referenceBackup(of: snapshot.connection.handle(), to: reference)
                )
                try LocalFileSystem().remove(reference)
            }
            try Data(bytes).write(to: URL(fileURLWithPath: copy.string))
            #expect(try query(copy, "SELECT sum(balance) FROM account") == ["200000"])
            #expect(try query(copy, "PRAGMA integrity_check") == ["ok"])
            for suffix in ["", "-wal", "-shm"] {
                try LocalFileSystem().remove(sandbox.path.appending("copy.sqlite\(suffix)"))
            }
            states.insert(Array(bytes.prefix(100)) + bytes.suffix(4096))
        }
        // The writer did write meanwhile, or the test would show nothing.
        #expect(states.count > cuts / 4)
        try writer.end()
    }

    @Test("of two stores whose counters move together has them together")
    func twoStores() throws {
        let names = ["first.sqlite", "second.sqlite"]
        let writer = try StoreApplication(
            "pair",
            directory.appending(names[0]).string,
            directory.appending(names[1]).string
        )
        let stores = try names.map { try Store($0, in: directory) }
        var seen: Set<Int> = []
        var exact = 0
        for _ in 0..<100 {
            let cut = try cut(stores)
            let values = try cut.members.map { member in
                try member.snapshot.connection.access {
                    try Int.fetchOne($0, sql: "SELECT value FROM counter") ?? -1
                }
            }
            seen.insert(values[0])
            guard cut.isOneMoment else { continue }
            exact += 1
            // The writer counts in the first store before it does in the second.
            #expect((0...1).contains(values[0] - values[1]), "\(values)")
        }
        #expect(exact > 50)
        #expect(seen.count > 25)
        try writer.end()
    }

    @Test("opens a file that has two names once, and gives both its pages")
    func hardLinks() throws {
        let path = directory.appending("a.sqlite")
        let writer = try StoreApplication(on: path)
        try writer.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
        try FileManager.default.linkItem(
            atPath: path.string,
            toPath: directory.appending("b.sqlite").string
        )
        let cut = try cut(["a.sqlite", "b.sqlite"].map { try Store($0, in: directory) })
        #expect(cut.members.count == 2)
        #expect(cut.members[0].snapshot === cut.members[1].snapshot)
        try writer.end()
    }

    @Test("reports which stores could not be read, and has the others")
    func failures() throws {
        try sandbox.write(String(repeating: "x", count: 5000), to: "Stores/bad.sqlite")
        let writer = try StoreApplication(on: directory.appending("good.sqlite"))
        try writer.run("CREATE TABLE t (x)")
        let cut = try cut(["bad.sqlite", "good.sqlite"].map { try Store($0, in: directory) })
        #expect(cut.members.map(\.store.path.description) == ["good.sqlite"])
        #expect(cut.failures.map(\.store.path.description) == ["bad.sqlite"])
        try writer.end()
    }
}
