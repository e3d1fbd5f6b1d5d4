import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The reports of a store whose rows cannot be compared, and of all others then.
@Suite("Unreadable stores and changed numbers in a diff")
struct UnreadStoreTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    /// Between two that can be read.
    private static let damaged = "m.sqlite"
    /// As a file system's fault may leave a schema.
    private static let damage = """
        CREATE TABLE bad (y); PRAGMA writable_schema = 1; \
        UPDATE sqlite_schema SET rootpage = 1000000 WHERE name = 'bad'
        """

    init() throws {
        program = try Program()
        try sandbox.directory("Stores")
        try sandbox.directory("Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        for store in ["b.sqlite", Self.damaged, "z.sqlite"] {
            try sql(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 1)",
                store
            )
        }
        try sandbox.write("old", to: "Stores/a.txt")
    }

    @discardableResult
    private func sql(_ text: String, _ store: String) throws -> String {
        try Tool.check("sqlite3", [sandbox.path("Stores/\(store)").string, text])
    }

    /// Backs up, and changes all but one store.
    private func change() throws {
        try program.expect("backup", "--quiet")
        for store in ["b.sqlite", "z.sqlite"] { try sql("DELETE FROM t", store) }
        try sandbox.write("newer", to: "Stores/a.txt")
    }

    private func expectOthers(_ text: String) {
        for line in [
            "~ a.txt  content, time, 3 bytes → 5 bytes", "~ b.sqlite\n    ~ t: 1 row removed",
            "~ z.sqlite\n    ~ t: 1 row removed", "~ m.sqlite  content",
        ] { #expect(text.contains(line), "\(text)") }
    }

    @Test("A damaged live store hides no other difference")
    func live() throws {
        try change()
        try sql(Self.damage, Self.damaged)
        let outcome = try program.expect("diff", status: 20)
        expectOthers(outcome.text)
        #expect(outcome.errors.contains("in the stores directory: the store 'm.sqlite' is damaged"))
        #expect(outcome.errors.contains("--only m.sqlite'"))
        #expect(!outcome.errors.contains("older backup"), "\(outcome.errors)")
        let lines = try program.expect("diff", "--json", status: 20).jsonLines
        let types = lines.compactMap { $0["message_type"] as? String }
        #expect(
            types == [
                "file", "store", "table", "unread", "file", "store", "table", "summary",
            ]
        )
        let unread = try #require(lines.first { $0["message_type"] as? String == "unread" })
        #expect(unread["live"] as? Bool == true && unread["damaged"] as? Bool == true)
        let back = try program.expect("diff", "live", "latest", status: 20)
        #expect(back.text.contains("~ t: 1 row added"))
        let script = try program.expect("diff", "--sql", "--store", "b.sqlite").text
        #expect(script.contains("DELETE FROM main.\"t\""))
        try program.expect("diff", "--sql", "--store", Self.damaged, status: 20)
    }

    @Test("A restore names stores that cannot be read, and everything else that it would change")
    func preview() throws {
        try change()
        try sql(Self.damage, Self.damaged)
        let text = try program.expect("restore", "latest", "--dry-run").text
        for line in [
            "m.sqlite: its rows were not compared, since it is damaged in the stores directory",
            "b.sqlite, t: 1 row comes back", "1 other file changes", "not all was compared",
        ] { #expect(text.contains("  \(line)"), "\(text)") }
        let json =
            try program.expect("restore", "latest", "--dry-run", "--json").json as? [String: Any]
        let changes = try #require(json?["changes"] as? [String: Any])
        let unread = try #require(changes["unread"] as? [[String: Any]])
        #expect(unread.compactMap { $0["path"] as? String } == [Self.damaged])
        #expect(changes["complete"] as? Bool == false)
        #expect(try program.expect("restore", "latest", "--yes").status == 0)
        try program.expect("diff", "--exit-code")
    }

    @Test(
        "A store that was damaged when it was backed up is compared as a file",
        arguments: [false, true]
    )
    func damagedBefore(hasLog: Bool) throws {
        if hasLog {
            let path = sandbox.path("Stores/\(Self.damaged)")
            let parts = Self.damage.split(separator: "; ").map(String.init)
            let wal = "PRAGMA journal_mode = wal"
            try StoreApplication(on: path, wal, parts[0], parts[1], parts[2]).kill()
            #expect(sandbox.exists("Stores/\(Self.damaged)-wal"))
        } else {
            try sql(Self.damage, Self.damaged)
        }
        try program.expect("backup", "--quiet", status: 3)
        let same = try program.expect("diff", "--exit-code")
        #expect(same.errors.contains("nothing differs"), "\(same.text) \(same.errors)")
        #expect(
            try program.expect("restore", "latest", "--dry-run").text.contains(
                "nothing would change"
            )
        )
        let log = hasLog ? "\(Self.damaged)-wal" : Self.damaged
        try sandbox.write(sandbox.read("Stores/\(log)") + [1], to: "Stores/\(log)")
        let differing = try program.expect("diff", "--exit-code", status: 1)
        #expect(differing.text.contains("~ \(log)  content"), "\(differing.text)")
    }

    @Test("A diff reports the page of a store that is damaged in a backup, and compares the others")
    func archived() throws {
        try sql("CREATE TABLE u AS SELECT randomblob(200000) AS x", Self.damaged)
        try change()
        try sql("DELETE FROM t; DELETE FROM u", Self.damaged)
        let name = try #require(try sandbox.contents(of: "Remote").paths.first)
        var bytes = try sandbox.read("Remote/\(name)")
        let place = try #require(
            bytes.indices.first { bytes[$0...].starts(with: Array(Self.damaged.utf8)) }
        )
        for index in (place + 90_000)..<(place + 90_010) { bytes[index] ^= 0xFF }
        try sandbox.write(bytes, to: "Remote/\(name)")
        let outcome = try program.expect("diff", status: 20)
        expectOthers(outcome.text)
        #expect(outcome.errors.contains("'m.sqlite'") && outcome.errors.contains("older backup"))
    }

    @Test("A diff shows the numbers that an application keeps in its store")
    func numbers() throws {
        try program.expect("backup", "--quiet")
        try sql("PRAGMA user_version = 7; PRAGMA application_id = -5", "b.sqlite")
        let text = try program.expect("diff", "--exit-code", status: 1).text
        #expect(
            text == "~ b.sqlite\n    ~ user_version: 0 → 7\n    ~ application_id: 0 → -5\n",
            "\(text)"
        )
        let store = try #require(try program.expect("diff", "--json").jsonLines.first)
        #expect((store["numbers"] as? [[String: Any]])?.first?["new"] as? Int == 7)
        let preview = try program.expect("restore", "latest", "--dry-run")
        #expect(preview.text.contains("  user_version changes from 7 to 0\n"))
        #expect(!preview.text.contains("nothing would change"))
        let json =
            try program.expect("restore", "latest", "--dry-run", "--json").json as? [String: Any]
        let changes = try #require(json?["changes"] as? [String: Any])
        #expect((changes["numbers"] as? [[String: Any]])?.count == 2)
        #expect(try program.expect("diff", "--table", "t", "--exit-code").text.isEmpty)
    }

    @Test("A diff shows a store without tables that was added or removed")
    func empty() throws {
        try program.expect("backup", "--quiet")
        try sql("PRAGMA user_version = 1", "new.sqlite")
        #expect(try program.expect("diff", "--exit-code", status: 1).text == "+ new.sqlite\n")
    }
}
