import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Files that others put into a folder of backups, or into a backup.
@Suite("A file that others planted")
struct PlantedFileTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        for name in ["Stores", "Remote"] { try sandbox.directory(name) }
        try sql("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    }

    private func sql(_ text: String) throws {
        try Tool.check("sqlite3", [sandbox.path("Stores/a.sqlite").string, text])
    }

    private var values: String {
        get throws {
            let path = sandbox.path("Stores/a.sqlite").string
            return try Tool.check("sqlite3", [path, "SELECT group_concat(x) FROM t"])
        }
    }

    /// Makes backups with one more row each, and returns their file names, oldest first.
    private func backUp(_ rows: String...) throws -> [String] {
        try rows.map { row in
            try sql("INSERT INTO t (x) VALUES ('\(row)')")
            return try program.expect("backup").text.trimmingCharacters(in: .newlines)
        }
    }

    @Test("A note does not make a safety backup of a backup whose manifest was read")
    func note() throws {
        let names = try backUp("one", "two", "three")
        let ids = try names.dropFirst().map { name -> String in
            let archive = sandbox.path("Remote/\(name)").string
            let text = try Tool.check("unzip", ["-p", archive, ".grocerydude/manifest.json"])
            let first = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            return try #require(first?["id"] as? String)
        }
        #expect(ids.count == 2)
        let notes = ids.map {
            #""\#($0)": {"name": "x", "changed": 1, "tags": [], "pinned": false, "reason": "x"}"#
        }
        try sandbox.write(
            #"{"format": 1, "backups": {\#(notes.joined(separator: ", "))}}"#,
            to: "Remote/.grocerydude-notes/1.json"
        )
        try program.expect("prune", "--keep-last", "9", "--set", "retention.keep_safety=1s")
        #expect(names.allSatisfy { sandbox.exists("Remote/\($0)") })
        try program.expect("restore", "latest", "--yes")
        #expect(try values == "one,two,three\n")
    }

    @Test("An old backup in the trash under the name of a newer one hides nothing")
    func trash() throws {
        let names = try backUp("one", "two")
        try program.expect("list")
        let old = try sandbox.read("Remote/\(names[0])")
        try LocalFileSystem().remove(sandbox.path("Remote/\(names[1])"))
        try sandbox.write(old, to: "Remote/.grocerydude-trash/20261128T120000.000Z \(names[1])")
        let status = try program.run("status")
        #expect(status.errors.contains("1 backup is gone since"), "\(status.errors)")
        #expect(try program.run("restore", "latest", "--dry-run").errors.contains("fell behind"))
    }

    @Test("A damaged copy of a backup is not its latest, once a check has found it damaged")
    func damagedCopy() throws {
        try sql("INSERT INTO t (x) SELECT hex(randomblob(500)) FROM generate_series(1, 100)")
        let name = try backUp("one")[0]
        var bytes = try sandbox.read("Remote/\(name)")
        bytes[5000] ^= 1
        try sandbox.write(bytes, to: "Remote/\(name.replacing(" Stores", with: " (99) Stores"))")
        #expect(try program.run("check", "--all").status == 20)
        try program.expect("restore", "latest", "--target", sandbox.path("Target").string)
    }

    @Test("A journal does not make SQLite remove a file outside the stores directory")
    func journal() throws {
        let name = try backUp("one")[0]
        try sandbox.write("precious", to: "victim")
        let victim = Array(sandbox.path("victim").string.utf8)
        // The record at the end of a journal; see readSuperJournal() in pager.c.
        func number(_ value: Int) -> [UInt8] {
            (0..<4).reversed().map { UInt8(value >> ($0 * 8) & 255) }
        }
        let record =
            number(262_145) + victim + number(victim.count)
            + number(victim.reduce(0) { $0 + Int($1) })
            + [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        // A hot journal without a page.
        let header: [UInt8] =
            [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] + number(0) + number(1) + number(2)
            + number(512) + number(4096)
        try sandbox.write(
            header + [UInt8](repeating: 0, count: 512 - header.count) + record,
            to: "Stores/a.sqlite-journal"
        )
        for options in [["--dry-run"], ["--yes"]] {
            let outcome = try program.run(["restore", name, "--rows", "t"] + options)
            #expect(outcome.status == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("which is outside its directory"), "\(outcome.errors)")
            #expect(sandbox.exists("victim"))
        }
    }

    @Test("A command line of a hook goes to the terminal, and to no log")
    func secret() throws {
        try program.configure(
            "stores: ~/Stores\nremote: ~/Remote\nhooks: {backup: {before: 'TOKEN=hunter2; exit 4'}}\n"
        )
        let outcome = try program.expect("backup", status: 1)
        #expect(outcome.errors.contains("hunter2"))
        let log = try program.expect("log", "--json")
        #expect(
            log.text.contains("the 'before' command exited with 4") && !log.text.contains("hunter2")
        )
    }
}
