import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Archives of other programs and older formats")
struct ArchiveFixtureTests {
    private let scene: FixtureScene

    init() throws {
        scene = try FixtureScene()
    }

    @Test(
        "The archives of other programs restore with all bytes",
        arguments: ["Info-ZIP", "7-Zip", "bsdtar", "zipfile deflated", "zipfile bzip2"]
    )
    func foreignArchive(name: String) throws {
        try scene.sandbox.write(
            Fixtures.read("archives/\(name).zip"),
            to: "Remote/\(name) Stores.zip"
        )
        let outcome = try scene.run("restore", "\(name) Stores.zip", "--yes")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let restored = try Fixtures.listing(of: scene.sandbox.path("Work/Stores"))
        let expected = try Fixtures.listing("tree.txt")
        #expect(Set(restored.map(\.content)) == Set(expected.map(\.content)))
        // All of them kept what may be run, read and written by whom.
        let modes = { (listed: Set<Fixtures.Listed>) in
            Set(listed.filter { $0.fields[0] == "file" }.map { [$0.fields[1], $0.fields[5]] })
        }
        #expect(modes(restored) == modes(expected))
        #expect(try scene.names(in: "Work") == ["Stores"])
        let store = scene.sandbox.path("Work/Stores/groceries.sqlite")
        #expect(try row(in: store, "SELECT count(*), sum(quantity) FROM item") == "3|6")
    }

    @Test("The archives cover what the README says")
    func archivesAreAllTested() throws {
        #expect(
            try Fixtures.names(in: "archives", ending: ".zip") == [
                "Info-ZIP.zip", "7-Zip.zip", "bsdtar.zip", "zipfile deflated.zip",
                "zipfile bzip2.zip", "format-1 Stores.zip", "format-1 names Stores.zip",
            ]
        )
    }

    /// Restores an archive of format 1 into an empty place.
    private func restoreFormat1(_ name: String) throws {
        let archive = try Fixtures.read("archives/\(name) Stores.zip")
        try scene.sandbox.write(archive, to: "Remote/\(name) Stores.zip")
        let outcome = try scene.run("restore", "\(name) Stores.zip", "--yes")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try Fixtures.listing(of: scene.sandbox.path("Work/Stores"))
                == Fixtures.listing("\(name).txt")
        )
        #expect(try FileInfo(of: scene.sandbox.path("Work/Stores")).mode == 0o750)
    }

    @Test("Format 1 restores byte for byte, with modes, times and the targets of links")
    func format1() throws {
        try restoreFormat1("format-1")
        let store = scene.sandbox.path("Work/Stores/groceries.sqlite")
        #expect(try row(in: store, "SELECT group_concat(name) FROM item") == "Apples,Käse,Oat milk")
    }

    #if os(Linux)
    @Test("Format 1 restores names that are not text")
    func format1Names() throws {
        try restoreFormat1("format-1 names")
    }
    #endif

    @Test("Format 1 shows its stores and its creation time")
    func format1Shown() throws {
        let archive = try Fixtures.read("archives/format-1 Stores.zip")
        try scene.sandbox.write(archive, to: "Remote/format-1 Stores.zip")
        let shown = try scene.json(scene.run("show", "format-1", "--json"))
        let stores = try #require(shown["stores"] as? [[String: Any]])
        let store = try #require(stores.first)
        #expect(stores.count == 1)
        #expect(store["path"] as? String == "groceries.sqlite")
        #expect(store["journal_mode"] as? String == "wal")
        #expect(store["page_size"] as? Int == 4096)
        #expect(store["user_version"] as? Int == 7)
        let tables = try #require(store["tables"] as? [[String: Any]])
        #expect(tables.map { $0["name"] as? String } == ["item"])
        #expect(tables.map { $0["rows"] as? Int } == [3])
        let list = try scene.run("list", "--json")
        let backups = try #require(
            JSONSerialization.jsonObject(with: Data(list.output)) as? [[String: Any]]
        )
        #expect(backups.map { $0["time_source"] as? String } == ["manifest"])
    }
}
