import Files
import SystemPackage
import TestSupport
import Testing

/// Names that leave no room for another one made of them.
@Suite("Names of up to 255 bytes")
struct LongNamesTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.sandbox.directory("Remote")
    }

    private func store(_ path: String) throws {
        try program.sandbox.directory(FilePath(path).removingLastComponent().string)
        // SQLite itself has no names for a journal beside the longest: it is made under another.
        let made = program.sandbox.path("made.db")
        try StoreApplication(on: made, "CREATE TABLE t (v)", "INSERT INTO t VALUES (1)").end()
        try LocalFileSystem().move(made, to: program.sandbox.path(path))
    }

    @Test("Stores, files, directories and links with long names are saved and restored")
    func inside() throws {
        let places = ["--stores", "Stores", "--remote", "Remote"]
        for length in [244, 247, 248, 251, 252, 255] {
            try store("Stores/\(length)/\(String(repeating: "n", count: length))")
        }
        let milk = String(repeating: "\u{1F95B}", count: 63)
        try program.sandbox.write("milk", to: "Stores/\(milk)/\(milk).db")
        try program.sandbox.link("Stores/\(String(repeating: "l", count: 255))", to: milk)
        let before = try program.sandbox.contents(of: "Stores").paths
        try program.expect(["backup"] + places)
        try program.expect(["backup", "--incremental"] + places)
        try program.expect(["check", "--all"] + places)
        try program.expect(["diff"] + places)
        try program.expect(["restore", "latest", "--yes"] + places)
        #expect(try program.sandbox.contents(of: "Stores").paths == before)
        let one = "247/\(String(repeating: "n", count: 247))"
        try program.expect(["restore", "latest", "--only", one, "--yes"] + places)
        try program.expect(["extract", "latest", "\(milk)/\(milk).db", "--to", "Out"] + places)
    }

    @Test("A restore works beside a stores directory with a long name", arguments: [240, 255])
    func storesDirectory(length: Int) throws {
        let name = String(repeating: "\u{E9}", count: length / 2)
        let places = ["--stores", name, "--remote", "Remote"]
        try store("\(name)/a.db")
        try program.expect(["backup"] + places)
        try program.sandbox.write("later", to: "\(name)/later.txt")
        try program.expect(["restore", "latest", "--yes"] + places)
        #expect(try program.sandbox.contents(of: name).paths == ["a.db"])
        try program.expect(["restore", "--undo", "--yes"] + places)
        #expect(try program.sandbox.contents(of: name).paths == ["a.db", "later.txt"])
        try LocalFileSystem().remove(program.sandbox.path(name))
        try program.expect(["restore", "latest", "--yes"] + places)
        #expect(try program.sandbox.contents(of: name).paths == ["a.db"])
    }

    @Test("Backups with long names can be deleted, restored from the trash and imported again")
    func backups() throws {
        let places = ["--stores", "Stores", "--remote", "Remote"]
        try store("Stores/a.db")
        try program.expect(["backup"] + places)
        let remote = program.sandbox.path("Remote")
        let made = try #require(
            Directory.open(remote).names().map(\.description).first { $0.hasPrefix("[") }
        )
        let long = String(repeating: "\u{20AC}", count: 81) + " Stores.zip"
        #expect(long.utf8.count == 254)
        try LocalFileSystem().move(remote.appending(made), to: remote.appending(long))
        try program.expect(["delete", "\u{20AC}", "--yes"] + places)
        #expect(!program.sandbox.exists("Remote/\(long)"))
        try program.expect(["undelete", "\u{20AC}"] + places)
        let back = try Directory.open(remote).names().map(\.description).filter {
            $0.hasSuffix("Stores.zip")
        }
        #expect(back.count == 1 && back[0].hasPrefix("\u{20AC}"))
        try program.expect(["check", "--all"] + places)
    }
}
