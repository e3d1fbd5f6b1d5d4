import Foundation
import Remotes
import Testing

@testable import Sync

@Suite("Long values")
struct LongValueTests {
    @Test("stay where they were written, though their files have gone out and may not be missing")
    func staying() async throws {
        let scene = try AccidentScene()
        let schema = """
            CREATE TABLE page (id TEXT PRIMARY KEY, body TEXT NOT NULL UNIQUE, data BLOB NOT NULL,
                json TEXT CHECK (json_valid(json)), size INTEGER DEFAULT 0);
            """
        let folder = LocalFolder(scene.container)
        let desk = try Device("a desk", in: scene.sandbox, folder: folder, schema: schema)
        let phone = try Device("a phone", in: scene.sandbox, folder: folder, schema: schema)
        for device in [desk, phone] {
            device.options.machine = device.name
            try await scene.enable(device)
            try await scene.exchange(device)
        }
        func insert(_ id: String, on device: Device) throws {
            try device.edit(
                """
                INSERT INTO page (id, body, data, json) VALUES ('\(id)', hex(randomblob(50000)),
                    randomblob(90000), json_quote(hex(randomblob(60000))))
                """
            )
        }
        func pages(_ device: Device) throws -> [String] {
            try device.rows(
                "SELECT id, length(body), length(data), json_valid(json), size FROM page ORDER BY id"
            )
        }
        try insert("desk", on: desk)
        try await scene.exchange(desk, phone)
        // Now the desk has something to write, and nothing of its own long values but the store.
        try insert("phone", on: phone)
        try await scene.exchange(phone)
        let outcome = try await scene.exchange(desk)
        #expect(outcome.inserted == 1 && outcome.deleted == 0 && outcome.updated == 0)
        try phone.edit("UPDATE page SET size = 7 WHERE id = 'desk'")
        try await scene.exchange(phone)
        #expect(try await scene.exchange(desk).deleted == 0)
        #expect(try pages(desk).map { $0.prefix(4) } == ["desk", "phon"])
        #expect(try pages(desk).first?.hasSuffix("|100000|90000|1|7") == true)
        #expect(try pages(desk) == pages(phone))
        #expect(try desk.inspect { try $0.count("SELECT count(*) FROM held") } == 0)
    }

    @Test("come for another column, and as a text, though their row shows them as they were")
    func again() async throws {
        let scene = try AccidentScene()
        let schema = "CREATE TABLE page (id TEXT PRIMARY KEY, one BLOB, two)"
        let folder = LocalFolder(scene.container)
        let desk = try Device("a desk", in: scene.sandbox, folder: folder, schema: schema)
        let phone = try Device("a phone", in: scene.sandbox, folder: folder, schema: schema)
        try desk.edit("INSERT INTO page (id, one) VALUES ('x', zeroblob(70000))")
        for device in [desk, phone] {
            device.options.machine = device.name
            try await scene.enable(device)
            try await scene.exchange(device)
        }
        let pages = "SELECT typeof(one), typeof(two), length(CAST(two AS BLOB)) FROM page"
        try desk.edit("UPDATE page SET two = one")
        try await scene.exchange(desk, phone)
        #expect(try phone.rows(pages) == ["blob|blob|70000"])
        try desk.edit("UPDATE page SET two = CAST(one AS TEXT)")
        try await scene.exchange(desk, phone)
        #expect(try phone.rows(pages) == ["blob|text|70000"])
    }
}
