import Foundation
import GRDB
import Remotes
import Stores
import TestSupport
import Testing

@testable import Sync

@Suite("A capture of the pages that are new")
struct LeafCaptureTests {
    @Test("does not read the others")
    func others() async throws {
        let sandbox = try Sandbox()
        let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)"
        let folder = LocalFolder(try sandbox.directory("Container"))
        let device = try Device("d", in: sandbox, folder: folder, schema: schema)
        let start = Date(timeIntervalSince1970: 1_790_000_000)
        try await device.enable(at: start)
        try device.edit(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t SELECT i, 'name ' || i FROM n
            """
        )
        try await device.sync(at: start)
        // A row that is not in the shadow would be sent if its page were read, and would be written.
        device.options.comparesViews = false
        try device.inspect { access in
            let rows = try access.rows("SELECT max(h) AS h FROM shown")
            try access.run(
                "UPDATE row SET h = NULL, length = NULL, image = NULL WHERE h = ?",
                [rows[0]["h"] as Data]
            )
        }
        try device.edit("UPDATE t SET name = 'first' WHERE id = 1")
        #expect(try await device.sync(at: start + 60).sentChanges == 1)
        try device.inspect { try $0.shadow.forgetLooks() }
        #expect(try await device.sync(at: start + 120).sentChanges == 1)
    }

    @Test("finds what a capture of all rows finds, over random edits")
    func random() async throws {
        let seed = UInt64.random(in: 0..<1_000_000_000)
        print("leaf capture: seed \(seed)")
        var random = Pseudorandom(seed: seed)
        let sandbox = try Sandbox()
        let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB)"
        let folder = LocalFolder(try sandbox.directory("Container"))
        let device = try Device("d", in: sandbox, folder: folder, schema: schema)
        let start = Date(timeIntervalSince1970: 1_790_000_000)
        try await device.enable(at: start)
        try device.edit(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t SELECT i, 'name ' || i, randomblob(abs(random()) % 400) FROM n
            """
        )
        try await device.sync(at: start)
        for round in 1...12 {
            for _ in 0..<20 {
                let key = random.next() % 4000
                switch random.next() % 5 {
                case 0: try device.edit("DELETE FROM t WHERE id BETWEEN \(key) AND \(key + 3)")
                case 1:
                    try device.edit("INSERT INTO t (name, body) VALUES ('new', randomblob(9000))")
                case 2: try device.edit("INSERT OR REPLACE INTO t VALUES (\(key), 'again', x'00')")
                default: try device.edit("UPDATE t SET name = 'x\(round)' WHERE id = \(key)")
                }
            }
            if round == 6 {
                try await device.queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
            }
            try await device.sync(at: start + Double(round) * 60)
            // The shadow is then what the store holds, as a capture of everything says.
            let told = "SELECT count(*) FROM mine WHERE folder = 'log' AND changes > 0"
            let before = try device.inspect { try $0.count(told) }
            try device.inspect { try $0.shadow.forgetLooks() }
            try await device.sync(at: start + Double(round) * 60 + 1)
            #expect(try device.inspect { try $0.count(told) } == before)
            #expect(
                try device.rows("SELECT count(*) FROM t") == [
                    String(try device.inspect { try $0.count("SELECT count(*) FROM shown") })
                ]
            )
        }
    }
}
