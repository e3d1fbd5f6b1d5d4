import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'find', as a person uses it.
@Suite("A search for rows in all backups")
struct FindCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.sandbox.directory("Stores")
        try program.sandbox.directory("Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try sql(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, count); INSERT INTO item VALUES (1, 'Milk', 2)"
        )
        try program.expect("backup", "--quiet")
        try sql("UPDATE item SET name = 'Soya milk'; INSERT INTO item VALUES (2, '50%', 1)")
        try program.expect("backup", "--quiet")
        try sql("DELETE FROM item WHERE id = 1")
        try program.expect("backup", "--quiet")
    }

    private func sql(_ text: String) throws {
        try Tool.check("sqlite3", [program.sandbox.path("Stores/Shop.sqlite").string, text])
    }

    /// The backups' names, oldest first.
    private func names() throws -> [String] {
        let rows = try program.expect("list", "--json").json as? [[String: Any]] ?? []
        return rows.compactMap { $0["display_name"] as? String }.reversed()
    }

    @Test("A search shows rows with their changes over the backups")
    func text() throws {
        let names = try names()
        let lines = try program.expect("find", "MILK").text.split(separator: "\n").map(String.init)
        #expect(lines.count == 6 && lines.first == "Shop.sqlite  item  id 1")
        #expect(lines[1].hasPrefix("    +~") && lines[1].count == 8)
        #expect(lines[5].hasPrefix("    grocerydude restore --rows item --where '[id] = 1'"))
        #expect(lines[5].hasSuffix("\(names[1]) Stores.zip'"), "\(lines[5])")
        for (line, (name, text)) in zip(
            lines.dropFirst(2),
            [
                (names[0], "first: name 'Milk', count 2"),
                (names[1], "changed: name 'Milk' → 'Soya milk'"), (names[2], "gone"),
            ]
        ) { #expect(line.hasPrefix("    \(name)") && line.hasSuffix("  \(text)"), "\(line)") }
        #expect(
            try program.expect("find", "Milk", "--exact").text.hasPrefix("Shop.sqlite  item  id 1")
        )
        #expect(try program.expect("find", "milk", "--exact").text.isEmpty)
        try sql("INSERT INTO item VALUES (1, 'Soya milk', 2)")
        let back = try program.expect("find", "--where", "item", "id = 1").text
        #expect(back.hasSuffix("live" + String(back.split(separator: "live").last ?? "")))
        #expect(back.contains("back, as it was\n"))
        let still = try program.expect("find", "0%").text
        #expect(still.contains("item  id 2\n") && still.hasSuffix("still there\n"))
        let recent = try program.expect("find", "milk", "--since", "2100-01-01")
        #expect(recent.text.contains("    live  first: name 'Soya milk'"))
        #expect(recent.errors.contains("no backup is as new as that"))
    }

    @Test("A search in JSON writes one object per line")
    func json() throws {
        let lines = try program.expect("find", "milk", "--json").jsonLines
        #expect(lines.map { $0["message_type"] as? String } == ["row", "summary"])
        let events = try #require(lines.first?["events"] as? [[String: Any]])
        #expect(events.map { $0["change"] as? String } == ["first", "changed", "gone"])
        #expect(lines[0]["end"] as? String == "gone")
        #expect(lines[1]["rows"] as? Int == 1 && lines[1]["backups"] as? Int == 3)
        let none = try program.expect("find", "coffee", "--json").jsonLines
        #expect(none.count == 1 && none[0]["rows"] as? Int == 0)
    }

    @Test("A search without a match succeeds, and a limit is reported")
    func none() throws {
        let outcome = try program.expect("find", "coffee")
        #expect(outcome.text.isEmpty && outcome.errors.contains("no row matches"))
        try program.expect("find", "100%")
        let limited = try program.expect("find", "--where", "item", "1", "--limit", "1")
        #expect(limited.text.contains("id 2") && !limited.text.contains("id 1"))
        #expect(limited.errors.contains("there are more rows than these 1"))
    }

    @Test("The command below a row that is lost or changed brings it back, whatever its names")
    func command() throws {
        try sql(
            """
            CREATE TABLE "a ]'-" ("k]" TEXT PRIMARY KEY, v);
            INSERT INTO "a ]'-" VALUES ('it''s' || char(10, 27), 1), ('kept', 2), ('other', 3)
            """
        )
        try program.expect("backup", "--quiet")
        try sql("DELETE FROM \"a ]'-\" WHERE v = 1; UPDATE \"a ]'-\" SET v = 5 WHERE v = 2")
        let find = try program.expect("find", "--where", "a ]'-", "v < 3").text
        let commands = find.split(separator: "\n").filter { $0.hasPrefix("    grocerydude ") }
        #expect(commands.count == 2 && commands.filter { $0.contains("replace") }.count == 1)
        for command in commands {
            let outcome = try Tool.run(
                "bash",
                ["-c", "grocerydude() { \"$0\" \"$@\" --yes; }; \(command)", Program.path],
                environment: program.environment,
                directory: program.sandbox.path
            )
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
        let path = program.sandbox.path("Stores/Shop.sqlite").string
        let rows = try Tool.check("sqlite3", [path, "SELECT v FROM \"a ]'-\" ORDER BY 1"])
        #expect(rows == "1\n2\n3\n")
        let gone = try program.expect("find", "milk", "--deleted").text
        #expect(gone.contains("id 1\n") && !gone.contains("id 2\n"))
        #expect(try program.expect("find", "0%", "--deleted").text.isEmpty)
    }

    @Test("A search shows rows without harm to a terminal")
    func escapes() throws {
        try sql(
            "INSERT INTO item VALUES (7, 'milk' || char(27) || '[31m', CAST(X'FF00' AS TEXT)), (8, 'milk' || char(0) || 'x', 1)"
        )
        let text = try program.expect("find", "milk").text
        #expect(!text.contains("\u{1b}") && text.contains("'milk\\u{1b}[31m', count text X'FF00'"))
        #expect(!text.contains("\0"))
        #expect(try program.expect("find", "\u{1b}[31M").text.contains("id 7"))
    }

    @Test("A search names once each backup that it cannot read")
    func unreadable() throws {
        let name = try names()[1]
        let path = program.sandbox.path("Remote/\(name) Stores.zip")
        let bytes = try program.sandbox.read("Remote/\(name) Stores.zip")
        try Data(bytes.dropLast(300)).write(to: URL(filePath: path.string))
        let outcome = try program.expect("find", "milk", status: 3)
        let lines = outcome.text.split(separator: "\n").map { $0.split(separator: "  ").last ?? "" }
        // It has the time of its name, which knows no seconds.
        let told = Set(lines.dropFirst(2).dropLast())
        #expect(told == ["first: name 'Milk', count 2", "not known", "gone"], "\(outcome.text)")
        #expect(outcome.text.contains("\(name)  not known\n"))
        #expect(outcome.errors.ranges(of: name).count == 1, "\(outcome.errors)")
        // So is it by 'list'.
        let list = try program.expect("list", "--contains", "Shop.sqlite", status: 3)
        #expect(list.errors.ranges(of: name).count == 1, "\(list.errors)")
    }

    @Test(
        "A search shows rows in order of time, and groups unreadable backups with the same reason"
    )
    func unreadableTogether() throws {
        try sql("INSERT INTO item VALUES (3, 'Oats', 1)")
        for _ in 0..<4 { try program.expect("backup", "--quiet") }
        try sql("DELETE FROM item WHERE id = 3")
        try program.expect("backup", "--quiet")
        let names = try names()
        func cut(_ index: Int, to text: String) throws {
            try program.sandbox.write(text, to: "Remote/\(names[index]) Stores.zip")
        }
        func found() throws -> [String] {
            try program.expect("find", "oats", status: 3).text.split(separator: "\n").dropFirst(2)
                .dropLast().map {
                    $0.split(separator: "  ").map(String.init).joined(separator: ": ")
                }
        }
        try cut(5, to: "no archive")
        try cut(6, to: "nor this one")
        let merged = [
            "\(names[3]): first: name 'Oats', count 1", "\(names[4]): last known to be there",
            "\(names[5]): not known until \(names[6])", "\(names[7]): gone",
        ]
        #expect(try found() == merged)
        try cut(6, to: "")
        let apart = try found()
        #expect(apart.prefix(2) == merged.prefix(2) && apart.last == merged.last, "\(apart)")
    }

    @Test("A search refuses a condition that makes no sense")
    func usage() throws {
        for arguments in [
            ["find"], ["find", ""], ["find", "a", "--where", "item", "1"],
            ["find", "--where", "item"], ["find", "--where", "item", "1", "--table", "item"],
            ["find", "a", "--limit", "0"], ["find", "--where", "item", "name ="],
        ] {
            let outcome = try program.run(arguments)
            #expect(outcome.status == 64 && outcome.text.isEmpty, "\(arguments): \(outcome.errors)")
        }
        for (arguments, hint) in [
            (["--where", "itme", "1"], "did you mean 'item'?"),
            (["--where", "item", "nmae = 1"], "did you mean 'name'?"),
            (["a", "--store", "Shpo.sqlite"], "did you mean 'Shop.sqlite'?"),
        ] {
            let outcome = try program.run(["find"] + arguments)
            #expect(outcome.status == 1 && outcome.errors.contains(hint), "\(outcome.errors)")
        }
        let refused = try program.expect(
            "find",
            "--where",
            "item",
            "load_extension('x')",
            status: 1
        )
        #expect(refused.errors.contains("reaches beyond the store"))
        try program.sandbox.directory("Empty")
        try program.expect("find", "a", "--remote", "Empty", status: 10)
        try program.expect("find", "a", "--remote", "Away", status: 10)
    }
}
