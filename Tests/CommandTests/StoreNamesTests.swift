import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Stores whose names look alike.
@Suite("The name of a store")
struct StoreNamesTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.sandbox.directory("Stores")
        try program.sandbox.directory("Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
    }

    private func path(_ name: String) -> String { program.sandbox.path("Stores/\(name)").string }

    private func make(_ name: String, rows: Int) throws {
        let numbers = (1...rows).map { "(\($0))" }.joined(separator: ",")
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES \(numbers)"
        try Tool.check("sqlite3", [path(name), sql])
    }

    private func rows(_ arguments: String...) throws -> String {
        try program.expect(["sql"] + arguments + ["--csv", "SELECT count(*) FROM t"]).text
    }

    @Test(
        "is its bytes: what another name is printed as names the store that is called so",
        arguments: [("x\ty", "x\\u{9}y"), ("a\nb", "a\\nb")]
    )
    func bytes(odd: String, plain: String) throws {
        try make(odd, rows: 3)
        try make(plain, rows: 5)
        try program.expect(["backup", "--quiet"])
        for place in ["latest", "live"] {
            #expect(try rows(place, "--store", odd).hasSuffix("\n3\n"))
            #expect(try rows(place, "--store", plain).hasSuffix("\n5\n"))
        }
        try Tool.check("sqlite3", [path(plain), "DELETE FROM t"])
        let restore = ["restore", "latest", "--rows", "t", "--where", "id > 0", "--store", plain]
        try program.expect(restore + ["--yes", "--quiet"])
        #expect(try Tool.check("sqlite3", [path(plain), "SELECT count(*) FROM t"]) == "5\n")
        #expect(try Tool.check("sqlite3", [path(odd), "SELECT count(*) FROM t"]) == "3\n")
        let found = try program.expect(["find", "4", "--store", odd]).text
        #expect(!found.contains("id = 4") && !found.contains("u{9}y: t"))
    }

    @Test("is printed without the store if only that name is printed so")
    func printed() throws {
        try make("x\ty", rows: 3)
        try program.expect(["backup", "--quiet"])
        #expect(try rows("latest", "--store", "x\\u{9}y").hasSuffix("\n3\n"))
    }

    @Test("is one of several of the same file, and the loss of each is noticed")
    func hardLinks() throws {
        try make("one.db", rows: 3)
        try FileManager.default.linkItem(atPath: path("one.db"), toPath: path("two.db"))
        try program.expect(["backup", "--quiet"])
        for name in ["one.db", "two.db"] {
            #expect(try rows("latest", "--store", name).hasSuffix("\n3\n"))
        }
        try FileManager.default.removeItem(atPath: path("two.db"))
        let later = try program.run(["backup", "--quiet", "--same-name", "number"])
        #expect(later.status == 3 && later.errors.contains("'two.db'"), "\(later.errors)")
    }

    @Test("of an archive may have bytes that are not UTF-8: it is listed, checked and restored")
    func archive() throws {
        try make("a.db", rows: 3)
        try program.expect(["backup", "--quiet"])
        let old = try #require(try program.expect(["list", "--json"]).json as? [[String: Any]])
        let name = try #require(old.first?["name"] as? String)
        let script = "mv \"$1/$2\" \"$1/$(printf '[2026-Nov-27] caf\\351 Stores.zip')\""
        let folder = program.sandbox.path("Remote").string
        try Tool.check("sh", ["-c", script, "sh", folder, name])
        #expect(try program.expect(["list"]).text.contains("caf\\xE9"))
        try program.expect(["check", "--all"])
        try Tool.check("sqlite3", [path("a.db"), "DELETE FROM t"])
        try program.expect(["restore", "latest", "--yes", "--quiet"])
        #expect(try Tool.check("sqlite3", [path("a.db"), "SELECT count(*) FROM t"]) == "3\n")
    }

    @Test("of a file that no archive can have is reported by a dry run, too")
    func special() throws {
        try make("a.db", rows: 3)
        try Tool.check("mkfifo", [path("pipe")])
        let note = "'pipe' is left out: "
        #expect(try program.expect(["backup", "--dry-run"]).errors.contains(note))
        #expect(try program.expect(["backup"]).errors.contains(note))
    }
}
