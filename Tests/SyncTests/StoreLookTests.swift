import Files
import Foundation
import GRDB
import Remotes
import Stores
import SystemPackage
import TestSupport
import Testing

@testable import Sync

@Suite("A look at a store's files")
struct StoreLookTests {
    @Test("notices each commit, though times and sizes are the same", arguments: ["wal", "delete"])
    func commits(mode: String) throws {
        let sandbox = try Sandbox()
        let device = try Device(
            "d",
            in: sandbox,
            folder: LocalFolder(sandbox.path),
            schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)"
        )
        try device.queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = \(mode)") }
        try device.edit("INSERT INTO t VALUES (1, 0)")
        var looks: Set<String> = []
        for number in 1...50 {
            try device.edit("UPDATE t SET v = \(number)")
            for file in try device.store.files {
                let path = file.below(device.stores)
                guard try FileInfo.ifPresent(path) != nil else { continue }
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
                    ofItemAtPath: path.string
                )
            }
            let look = try #require(try device.store.look())
            #expect(try device.store.look() == look)
            looks.insert(look)
        }
        #expect(looks.count == 50)
    }
}
