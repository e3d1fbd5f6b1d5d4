import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "The status and the conflicts of syncing stores",
    .enabled(if: Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
)
struct SyncLookingTests {
    let program: Program
    let desk: SyncHome
    let phone: SyncHome

    init() throws {
        program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        phone = try SyncHome("phone", program)
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
    }

    private func status() throws -> [String: Any] {
        let json = try desk.run("sync", "status", "--json").json as? [String: Any]
        return try #require((json?["stores"] as? [[String: Any]])?.first)
    }

    @Test("The sync status shows stores with their devices, waiting changes and their age")
    func looking() throws {
        try phone.run("items", "add", "Nuts")
        #expect(try phone.run("sync").status == 0)
        #expect(try desk.run("sync").status == 0)
        let text = try desk.run("sync", "status").text
        #expect(text.hasPrefix("Grocery-Dude.sqlite  in step with 1 device, last exchange 20"))
        #expect(text.contains("  heard 20"))
        let known = try status()
        #expect(known["state"] as? String == "in_step" && known["device"] as? String == "desk")
        let tables = try #require(known["tables"] as? [[String: Any]])
        #expect(tables.contains { $0["name"] as? String == "item" && $0["rows"] as? Int == 13 })
        #expect(tables.contains { $0["left_out"] != nil })
        #expect(try desk.run("sync", "status", "--max-age", "1h").status == 0)
        let path = try desk.sidecar.appending("sync.sqlite")
        try Tool.check(
            "sqlite3",
            [path.string, "UPDATE meta SET v = v - 7200000 WHERE k = 'exchanged'"]
        )
        #expect(try desk.run("sync", "status", "--max-age", "1h").status == 25)
        let away = program.sandbox.path("Away")
        try LocalFileSystem().move(desk.container, to: away)
        try desk.run("items", "add", "Figs")
        #expect(try desk.run("sync").status == 10)
        #expect(try desk.run("sync", "status").text.contains("local only, 1 change waits, last"))
        #expect((try status()["outbox"] as? [String: Int])?["changes"] == 1)
        try LocalFileSystem().move(away, to: desk.container)
        // A file that cannot be read waits, and after a day the run says so.
        try program.sandbox.write("no file of sync", to: "Shared/grocery-dude/log/x.changes")
        let behind = try desk.run("sync")
        #expect(behind.status == 0)
        #expect(behind.text.hasSuffix("  sent 1 change; behind, 1 file not read\n"))
        let again = try desk.run("sync").text
        #expect(again.hasSuffix("  nothing new; behind, 1 file not read\n"), "\(again)")
        #expect(try desk.run("sync", "status").text.contains("  waiting for 'x.changes': "))
        #expect(try status()["state"] as? String == "behind")
        #expect(text.contains("  left out: 'grdb_migrations' is about this file alone"))
        try Tool.check("sqlite3", [path.string, "UPDATE waiting SET since = since - 90000000"])
        let late = try desk.run("sync")
        #expect(late.status == 3 && late.errors.contains("could not be read for a day"))
        try LocalFileSystem().remove(program.sandbox.path("Shared/grocery-dude/log/x.changes"))
        // One of a newer version cannot become readable by itself.
        let log = program.sandbox.path("Shared/grocery-dude/log")
        let name = try #require(try Directory.open(log).names().first).description
        var bytes = try File.contents(of: log.appending(name), limit: 1 << 20)
        bytes[11] = 9
        let digest = bytes.dropLast(32).withUnsafeBytes { Digest(of: $0) }
        bytes.replaceSubrange(bytes.count - 32..<bytes.count, with: digest.bytes)
        try LocalFileSystem().write(bytes, to: log.appending("newer.changes"))
        let newer = try desk.run("sync")
        #expect(newer.status == 3 && newer.text.contains("1 file not read"), "\(newer.errors)")
        #expect(newer.errors.contains("its format version is 9"))
        #expect(newer.errors.contains("hint: update this program"))
    }

    @Test("A sync ignores files of other programs in the container, and does not mention them")
    func foreign() throws {
        for (name, content) in [
            ("log/desktop.ini", "[.ShellClassInfo]"), ("info/.DS_Store", "Bud1"), ("base/Icon", ""),
            ("info/desktop.ini", "[.ShellClassInfo]"),
        ] {
            try program.sandbox.write(content, to: "Shared/grocery-dude/\(name)")
        }
        // One of ours under another's name is read all the same.
        try phone.run("items", "add", "Nuts")
        let log = program.sandbox.path("Shared/grocery-dude/log")
        let before = Set(try Directory.open(log).names().map(\.description))
        #expect(try phone.run("sync").status == 0)
        let sent = try Directory.open(log).names().map(\.description)
            .filter { !before.contains($0) }
        let file = try #require(sent.first)
        try LocalFileSystem().move(log.appending(file), to: log.appending("Document.bin"))
        #expect(try desk.run("sync").status == 0)
        #expect(try desk.items().contains("Nuts"))
        #expect(try desk.run("sync").text == "Grocery-Dude.sqlite  in step, nothing new\n")
        #expect(try status()["state"] as? String == "in_step")
        #expect((try status()["waiting"] as? [Any])?.isEmpty == true)
        for name in ["log/desktop.ini", "info/.DS_Store", "base/Icon"] {
            #expect(program.sandbox.exists("Shared/grocery-dude/\(name)"))
        }
    }

    @Test("The list of conflicts shows the hidden rows with the reason")
    func unshown() throws {
        for home in [desk, phone] {
            #expect(try home.run("sync", "disable", "--yes").status == 0)
            try home.replaceStore(
                """
                CREATE TABLE list (id TEXT PRIMARY KEY, name TEXT);
                CREATE TABLE entry (id TEXT PRIMARY KEY, title TEXT,
                    list_id TEXT NOT NULL REFERENCES list(id));
                """
            )
            try home.sql("INSERT INTO list VALUES ('l', 'home')")
            #expect(try home.enable("--group", "lists").status == 0)
        }
        try phone.sql("DELETE FROM list")
        #expect(try phone.run("sync").status == 0)
        try desk.sql("INSERT INTO entry VALUES ('e', 'jam', 'l')")
        let run = try desk.run("sync")
        // The list is removed; the entry, which is only hidden, is counted once.
        let counts = ": 1 row removed; 1 row not shown here"
        #expect(run.status == 0 && run.text.contains(counts), "\(run.text)")
        let text = try desk.run("sync", "status").text
        #expect(text.contains("1 row is not shown here: see 'grocerydude sync conflicts'"))
        let list = try desk.run("sync", "conflicts").text
        #expect(list.contains("not shown here:\n"), "\(list)")
        #expect(list.contains("entry  'jam'  a row that it belongs to"), "\(list)")
        let rows = try #require(
            try desk.run("sync", "conflicts", "--json").json as? [[String: Any]]
        )
        let row = try #require(rows.first { $0["kind"] as? String == "held" })
        #expect(row["why"] as? String == "parent" && row["title"] as? String == "jam")
        #expect((row["row"] as? String)?.count == 32)
        // By its number it can be taken.
        let number = try #require(row["number"] as? Int64)
        #expect(list.contains("  \(number)  entry  'jam'"), "\(list)")
    }

    @Test("The list of conflicts shows lost values, and a command makes one an edit again")
    func conflicts() throws {
        try desk.sql("UPDATE item SET quantity = 5 WHERE name = 'Milk'")
        try desk.sql("UPDATE item SET quantity = 7 WHERE name = 'Eggs'")
        #expect(try desk.run("sync").status == 0)
        try phone.sql("UPDATE item SET quantity = 6 WHERE name = 'Milk'")
        try phone.sql("DELETE FROM item WHERE name = 'Eggs'")
        #expect(try phone.run("sync").status == 0)
        let outcome = try desk.run("sync")
        #expect(outcome.text.hasSuffix(": 1 row changed, 1 removed; 2 conflicts\n"))
        #expect(try desk.run("sync", "status").text.contains("2 edits lost"))
        let lines = try desk.run("sync", "conflicts").text
        #expect(lines.contains("item.quantity  'Milk'  '5.0' of desk lost to '6.0' of "))
        #expect(lines.contains("item.quantity  'Eggs'  '7.0' of desk lost to a delete of "))
        // What lost is listed once. What a delete took out is taken only if a person means it.
        let all = try #require(
            try desk.run("sync", "conflicts", "--all", "--json").json as? [[String: Any]]
        )
        #expect(all.count { $0["title"] as? String == "Milk" } == 1)
        let deleted = try #require(all.first { $0["column"] == nil }?["number"] as? Int)
        let unasked = try desk.run("sync", "conflicts", "take", "\(deleted)")
        #expect(unasked.status == 1)
        #expect(unasked.errors.contains("grocerydude sync conflicts take \(deleted) --all"))
        let rows = try #require(
            try desk.run("sync", "conflicts", "--json").json as? [[String: Any]]
        )
        #expect(try desk.run("sync", "conflicts", "--since", "2100-01-01").output.isEmpty)
        for row in rows {
            let number = try #require(row["number"] as? Int)
            let taken = try desk.run("sync", "conflicts", "take", "\(number)")
            #expect(taken.status == 0)
            let isMilk = row["title"] as? String == "Milk"
            let words = isMilk ? "item 'Milk': quantity is '5.0', " : "item 'Eggs' is back, "
            #expect(taken.errors.contains(words + "on all devices"), "\(taken.errors)")
        }
        #expect(try desk.run("sync", "conflicts").output.isEmpty)
        let unknown = try desk.run("sync", "conflicts", "take", "9")
        #expect(unknown.status == 1 && unknown.errors.contains("has no conflict 9"))
        #expect(try phone.run("sync").status == 0)
        for home in [desk, phone] {
            let both = try home.sql(
                "SELECT name, quantity, unit_id IS NOT NULL FROM item WHERE name IN ('Milk', 'Eggs') ORDER BY 1"
            )
            #expect(both == "Eggs|7.0|1\nMilk|5.0|1\n")
        }
    }

    @Test("A command discards the lost values that are not wanted")
    func clear() throws {
        try desk.sql("UPDATE item SET quantity = 5 WHERE name = 'Milk'")
        #expect(try desk.run("sync").status == 0)
        try phone.sql("UPDATE item SET quantity = 6 WHERE name = 'Milk'")
        #expect(try phone.run("sync").status == 0)
        #expect(try desk.run("sync").status == 0)
        #expect(try desk.run("sync", "conflicts", "clear").text == "took 1 off the list\n")
        #expect(try desk.run("sync", "conflicts", "--json").text == "[]\n")
        #expect(try desk.sql("SELECT quantity FROM item WHERE name = 'Milk'") == "6.0\n")
    }

    @Test("A store leaves the sync as it is, or as it was before")
    func disable() throws {
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        #expect(try desk.run("sync").status == 0)
        let shared = try program.sandbox.contents(of: "Shared")
        let unasked = try desk.run("sync", "disable")
        #expect(unasked.status == 64 && unasked.errors.contains("no terminal"))
        #expect(try desk.run("sync").status == 0)
        let left = try desk.run("sync", "disable", "--yes")
        #expect(left.status == 0 && left.text == "'Grocery-Dude.sqlite' left 'grocery-dude'\n")
        #expect(try desk.items().contains("Figs"))
        #expect(try program.sandbox.contents(of: "Shared") == shared)
        let no = try desk.run("sync")
        #expect(no.status == 1 && no.errors.contains("grocerydude sync enable"))
        // As before, unless somebody has it open.
        let application = try StoreApplication(on: phone.store, "SELECT count(*) FROM item")
        let open = try phone.run("sync", "disable", "--as-before", "--yes")
        #expect(open.status == 24 && open.errors.contains("it is as it was"))
        #expect(try phone.items().contains("Figs"))
        application.kill()
        let before = try phone.run("sync", "disable", "--as-before", "--yes")
        #expect(before.status == 0 && before.text.hasSuffix("and is as it was before\n"))
        #expect(try phone.items().count == 12 && !phone.items().contains("Figs"))
        let kept = try phone.sidecar.appending("yielded.sqlite")
        #expect(before.errors.contains(kept.string))
        let names = try Tool.check("sqlite3", [kept.string, "SELECT name FROM item"])
        #expect(names.contains("Figs"))
        #expect(try phone.sql("PRAGMA integrity_check") == "ok\n")
        #expect(try program.sandbox.contents(of: "Shared") == shared)
        // Both join again, and have what the group has.
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
        #expect(try desk.run("sync").status == 0)
        #expect(try phone.items() == desk.items())
        #expect(try phone.items().contains("Figs"))
        // The copy from the very first time is still there.
        let first = try phone.sidecar.appending("before.sqlite")
        let count = try Tool.check("sqlite3", [first.string, "SELECT count(*) FROM item"])
        #expect(count == "12\n")
        // What was not sent is counted, whether a run had captured it or not.
        try phone.run("items", "add", "Kiwis")
        let last = try phone.run("sync", "disable", "--as-before", "--yes")
        #expect(last.text.hasSuffix("and is as it was before; 1 change was not sent\n"))
        #expect(last.errors.contains("yielded-2.sqlite'"))
        #expect(try desk.run("sync", "disable", "--yes").errors.contains("before-2.sqlite'"))
    }
}
