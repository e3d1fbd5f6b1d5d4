import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Two names that Unicode takes for equal, and names that are no UTF-8: a file system knows bytes alone.
@Suite("Names as bytes, in the program")
struct CanonicalNamesTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]
    private let one = "caf\u{E9}"
    private let two = "cafe\u{301}"

    init() throws {
        program = try Program()
        try program.sandbox.directory("Stores")
        try program.sandbox.directory("Remote")
        try program.sandbox.write("once\n", to: "Stores/\(one).txt")
        try program.sandbox.write("twice\n", to: "Stores/\(two).txt")
        for (name, rows) in [(one, 30), (two, 40)] {
            try run(
                on: name,
                "CREATE TABLE t (id INTEGER PRIMARY KEY, v)",
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) "
                    + "INSERT INTO t SELECT i, i FROM n"
            )
        }
        try program.expect(["backup"] + places)
    }

    private func run(on name: String, _ statements: String...) throws {
        let store = program.sandbox.path("Stores/\(name).sqlite")
        for statement in statements { try StoreApplication(on: store, statement).end() }
    }

    private func text(_ arguments: String...) throws -> String {
        try program.expect(arguments + places).text
    }

    @Test(
        "The program distinguishes two equivalent store names in 'sql', 'show', 'diff' and 'find'"
    )
    func looking() throws {
        for (name, rows) in [(one, 30), (two, 40)] {
            for place in ["latest", "live"] {
                let sql = "SELECT count(*) FROM t"
                let count = try text("sql", place, "--store", "\(name).sqlite", "--csv", sql)
                #expect(count.split(whereSeparator: \.isNewline).last == "\(rows)", "\(count)")
            }
            #expect(try text("show", "latest", "\(name).txt").utf8.count > 0)
        }
        let files = try text("show", "latest", "--tree").split(separator: "\n")
        #expect(files.count { $0.hasSuffix(".sqlite  8 KB") || $0.contains(".sqlite") } == 2)
        for name in [one, two] { try run(on: name, "DELETE FROM t WHERE id <= 3") }
        let diff = try program.expect(["diff", "--rows"] + places, status: 0).text
        #expect(diff.split(separator: "\n").count { $0.contains("- id") } == 6, "\(diff)")
        let only = try program.run(["diff", "--rows", "--store", "\(two).sqlite"] + places).text
        #expect(only.split(separator: "\n").count { $0.contains("- id") } == 3, "\(only)")
        let found = try text("find", "--json", "--store", "\(one).sqlite", "--where", "t", "id = 2")
        #expect(found.utf8.contains { $0 == 0xC3 } && !found.utf8.contains { $0 == 0xCC })
    }

    @Test("The program reports that all rows of one store are gone, and that one store is gone")
    func anomaly() throws {
        try run(on: one, "DELETE FROM t")
        let empty = try program.expect(["backup"] + places, status: 3).errors
        #expect(empty.contains("much less than before"), "\(empty)")
        try program.expect(["backup", "--accept-changes"] + places)
        try LocalFileSystem().remove(program.sandbox.path("Stores/\(two).sqlite"))
        #expect(try program.expect(["backup"] + places, status: 3).errors.contains("much less"))
    }

    @Test("The program extracts, restores and excludes exactly the named file")
    func getBack() throws {
        try program.expect(["extract", "latest", "\(two).txt", "--to", "Out"] + places)
        #expect(try program.sandbox.read("Out/\(two).txt") == Array("twice\n".utf8))
        #expect(!program.sandbox.exists("Out/\(one).txt"))
        for name in [one, two] { try program.sandbox.write("changed", to: "Stores/\(name).txt") }
        try program.expect(["restore", "latest", "--only", "\(one).txt", "--yes"] + places)
        #expect(try program.sandbox.read("Stores/\(one).txt") == Array("once\n".utf8))
        #expect(try program.sandbox.read("Stores/\(two).txt") == Array("changed".utf8))
        try program.expect(["backup", "--exclude", "\(one).txt"] + places)
        let shown = try text("show", "latest", "--json")
        #expect(shown.contains("\"left_out\"") || shown.contains("excluded"))
        let left = try program.run(["show", "latest", "\(one).txt"] + places)
        #expect(left.status != 0)
        try program.expect(["show", "latest", "\(two).txt"] + places)
    }

    @Test("The program distinguishes two backups with equivalent names")
    func backups() throws {
        let remote = program.sandbox.path("Remote")
        let made = try #require(
            Directory.open(remote).names().map(\.description).first { $0.hasSuffix("Stores.zip") }
        )
        let (first, second) = ("\(one) Stores.zip", "\(two) Stores.zip")
        try run(on: one, "DELETE FROM t WHERE id = 1")
        try LocalFileSystem().move(remote.appending(made), to: remote.appending(first))
        try program.expect(["backup"] + places)
        let other = try #require(
            Directory.open(remote).names().map(\.description).first { $0.hasPrefix("[") }
        )
        try LocalFileSystem().move(remote.appending(other), to: remote.appending(second))
        for (name, rows) in [(one, 30), (two, 29)] {
            let sql = "SELECT count(*) FROM t"
            let count = try text("sql", name, "--store", "\(one).sqlite", "--csv", sql)
            #expect(count.split(whereSeparator: \.isNewline).last == "\(rows)", "\(count)")
        }
        try program.expect(["pin", one] + places)
        let answer = try program.expect(["list", "--json"] + places).json
        let list = try #require(answer as? [[String: Any]])
        #expect(list.count == 2)
        let pinned = list.filter { $0["pinned"] as? Bool == true }.compactMap {
            $0["name"] as? String
        }
        #expect(pinned.map(\.exact) == [first.exact])
        try program.expect(["delete", two, "--yes"] + places)
        #expect(
            program.sandbox.exists("Remote/\(first)") && !program.sandbox.exists("Remote/\(second)")
        )
        try program.expect(["undelete", two] + places)
        #expect(program.sandbox.exists("Remote/\(second)"))
    }

    @Test(
        "The program refuses names that are not UTF-8, and a home directory without an absolute path"
    )
    func notUTF8() throws {
        // The name by which Swift would take the argument.
        try program.sandbox.write("wrong", to: "Stores/a\u{FFFD}")
        try program.expect(["backup"] + places)
        func shell(_ script: String) throws -> Tool.Outcome {
            try Tool.run(
                "sh",
                ["-c", script, Program.path],
                environment: program.environment,
                directory: program.sandbox.path
            )
        }
        let options = places.joined(separator: " ")
        let named = try shell("exec \"$0\" cat latest \"$(printf 'a\\377')\" \(options)")
        #expect(named.status == 64 && named.output.isEmpty)
        #expect(named.errors.contains("the argument 'a\\xFF' is not UTF-8"), "\(named.errors)")
        #expect(named.errors.contains("hint: "))
        for variable in ["GROCERYDUDE_STORES", "HOME", "XDG_CACHE_HOME", "RCLONE_CONFIG"] {
            let outcome = try shell(
                "export \(variable)=\"$(printf '/\\377')\"; exec \"$0\" list \(options)"
            )
            #expect(outcome.status == 64, "\(variable)")
            #expect(outcome.errors.contains("\(variable) is not UTF-8"), "\(outcome.errors)")
        }
        let relative = try shell("HOME=home exec \"$0\" list \(options)")
        #expect(relative.status == 64 && relative.output.isEmpty)
        #expect(relative.errors.contains("HOME is 'home', and not an absolute path"))
        let secret = try shell(
            "export GROCERYDUDE_PASSWORD=\"$(printf 'secret\\377')\"; exec \"$0\" list"
        )
        #expect(secret.status == 64 && !secret.errors.contains("secret"))
        let unused = try shell("export OTHER=\"$(printf '/\\377')\"; exec \"$0\" list \(options)")
        #expect(unused.status == 0, "\(unused.errors)")
        let inside = try shell(
            "d=\"$(printf 'd\\377')\"; mkdir \"$d\" && cd \"$d\" && exec \"$0\" list"
        )
        #expect(inside.status == 64 && inside.errors.contains("the working directory"))
    }
}
