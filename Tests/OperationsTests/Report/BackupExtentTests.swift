import Foundation
import Files
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations
@testable import Stores

@Suite("The amount of data in a backup")
struct BackupExtentTests {
    static func facts(
        _ tables: [(String, Int64?)],
        path: String = "Shop.sqlite",
        pages: Int64 = 10
    ) -> StoreFacts {
        StoreFacts(
            path: path,
            pageSize: 4096,
            pageCount: pages,
            journalMode: "wal",
            userVersion: 0,
            applicationID: 0,
            kind: .sqlite,
            tables: tables.map { .init(name: $0.0, rows: $0.1) }
        )
    }

    @Test("The extent has the bytes of all stores, and the rows of the largest tables")
    func largest() {
        let many = (1...9).map { ("t\($0)", Int64($0) as Int64?) }
        let extent = BackupExtent(of: [
            Self.facts(many + [("sqlite_stat1", 1000), ("uncounted", nil)]),
            Self.facts([("big", 500)], path: "b.sqlite", pages: 5),
        ])
        #expect(extent.bytes == 15 * 4096)
        #expect(extent.stores.map(\.path) == ["Shop.sqlite", "b.sqlite"])
        #expect(extent.stores.map(\.bytes) == [10 * 4096, 5 * 4096])
        // An earlier version wrote no bytes of stores.
        let earlier = BackupExtent(text: "7\nb.sqlite\tt\t3\tu\t4")
        #expect(earlier.stores.isEmpty && earlier.tables.map(\.rows) == [3, 4])
        #expect(
            Set(extent.tables.map(\.name)) == ["big", "t9", "t8", "t7", "t6", "t5", "t4", "t3"]
        )
        #expect(extent.tables.first { $0.name == "big" }?.store == "b.sqlite")
        #expect(extent.tables.first { $0.name == "t9" }?.rows == 9)
    }

    @Test("Names from anywhere keep the extent as it is, and too long ones are left out")
    func hostile() throws {
        let names = ["a\tb", "a\nb", "a|b%", "\u{202E}x", "", "<b>"]
        let extent = BackupExtent(of: [
            Self.facts(
                names.map { ($0, 7) } + [(String(repeating: "x", count: 500), 9)],
                pages: .max
            )
        ])
        #expect(extent.bytes == .max)
        #expect(extent.tables.map(\.rows) == Array(repeating: 7, count: names.count))
        #expect(
            Set(extent.tables.map(\.name)) == [
                "a\\u{9}b", "a\\nb", "a|b%", "\\u{202e}x", "", "<b>",
            ]
        )
        var summary = BackupSummary()
        summary.time = 5
        summary.extent = extent
        let json = try JSONEncoder().encode(["summary": summary])
        let read = try JSONDecoder().decode([String: BackupSummary].self, from: json)
        #expect(read["summary"] == summary)
        #expect(BackupExtent(of: []).tables.isEmpty)
    }

    @Test("A summary of an earlier version, which has no extent, is still read")
    func earlier() throws {
        var summary = BackupSummary()
        (summary.time, summary.number) = (5, 3)
        let json = String(decoding: try JSONEncoder().encode([summary]), as: UTF8.self)
        #expect(json.hasSuffix("|\"]"))
        let old = json.replacing("|\"]", with: "\"]")
        #expect(try JSONDecoder().decode([BackupSummary].self, from: Data(old.utf8)) == [summary])
    }

    @Test(
        "A list reads the extent of a backup once, also if an earlier version remembers it without one"
    )
    func remembered() async throws {
        let scene = try Scene()
        try await scene.backUp()
        let path = scene.sandbox.path("Cache/catalog.json")
        let catalog = scene.catalog
        let known = try #require(try await scene.folder(catalog: catalog).list().backups.first)
        try await catalog.save()
        let extent = try #require(known.summary.extent)
        #expect(extent.bytes > 0 && extent.tables.contains { $0.name == "unit" })
        #expect(try await scene.list().first?.summary.extent == extent)
        // The file of an earlier version, whose lines end before the extent.
        let text = try String(contentsOfFile: path.string, encoding: .utf8)
        let fields = try #require(text.firstRange(of: "|\(extent.bytes)\\n"))
        let end = try #require(text[fields.lowerBound...].firstRange(of: "\""))
        try scene.sandbox.write(
            text.replacingCharacters(in: fields.lowerBound..<end.lowerBound, with: ""),
            to: "Cache/catalog.json"
        )
        #expect(try await scene.list().first?.summary.extent == extent)
    }

    @Test("A folder that is gone is listed as it was, with its pins, and only that")
    func rememberedFolder() async throws {
        let scene = try Scene()
        let catalog = scene.catalog
        let folder = scene.folder(catalog: catalog)
        for minute in 0..<3 {
            try await scene.backUp(at: Scene.morning + Double(60 * minute), to: nil)
        }
        let backups = try await folder.list().backups
        try await catalog.save()
        try LocalFileSystem().move(scene.remotePath, to: scene.sandbox.path("Away"))
        let remembered = RememberedFolder.folder(for: scene.folder(catalog: scene.catalog))
        let listing = try await remembered.list()
        #expect(listing.backups.map(\.name) == backups.map(\.name))
        #expect(listing.backups.map(\.time) == backups.map(\.time))
        #expect(listing.annotationsError == nil)
        #expect(await remembered.losses.vanished() == nil)
        let remote = remembered.remote
        let there = scene.sandbox.path("there")
        await #expect(throws: RemoteError.self) { try await remote.download("x", to: there) }
        await #expect(throws: RemoteError.self) { try await remote.download("x", range: 0..<1) }
        await #expect(throws: RemoteError.self) { try await remote.upload(there, as: "x") }
        await #expect(throws: RemoteError.self) { try await remote.delete("x") }
        await #expect(throws: RemoteError.self) {
            try await remote.move("x", to: remote, as: "y")
        }
    }
}
