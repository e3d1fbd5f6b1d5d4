import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'diff', and rows that come back, as a person uses them.
@Suite("A diff, and a restore of rows")
struct DiffCommandTests {
    private let program: Program
    private static let store = "Stores/Shop.sqlite"

    init() throws {
        program = try Program()
        try program.sandbox.directory("Stores")
        try program.sandbox.directory("Remote")
        try program.configure(
            "stores: \(program.sandbox.path("Stores").string)\nremote: \(program.sandbox.path("Remote").string)\n"
        )
        try sql(
            """
            CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, count, shop REFERENCES shop);
            CREATE TABLE log (text);
            CREATE TRIGGER noted AFTER INSERT ON item BEGIN INSERT INTO log VALUES (new.name); END;
            INSERT INTO shop VALUES (1, 'Market'), (2, 'Bakery');
            INSERT INTO item VALUES (1, 'Milk', 2, 1), (2, 'Bread', 1, 2), (3, 'Eggs', 6, 1);
            DELETE FROM log;
            """
        )
        try program.sandbox.write("old", to: "Stores/note.txt")
        try program.expect("backup", "--quiet")
    }

    private func sql(_ text: String) throws {
        try Tool.check("sqlite3", [program.sandbox.path(Self.store).string, text])
    }

    private func query(_ text: String) throws -> String {
        try Tool.check("sqlite3", [program.sandbox.path(Self.store).string, text])
    }

    /// Brings the items back that meet a condition.
    @discardableResult
    private func bringBack(_ condition: String, status: Int32 = 0) throws -> Tool.Outcome {
        try program.expect(
            "restore",
            "latest",
            "--yes",
            "--rows",
            "item",
            "--where",
            condition,
            status: status
        )
    }

    // MARK: - Differences

    @Test("A diff is empty at first, and then shows files, columns, tables and rows")
    func differences() throws {
        #expect(try program.expect("diff", "--exit-code").errors.contains("nothing differs"))
        try sql(
            """
            UPDATE item SET count = 2.0 WHERE id = 1; DELETE FROM item WHERE id = 2;
            INSERT INTO item VALUES (4, char(27) || '[31m', X'00FF', NULL);
            ALTER TABLE shop ADD COLUMN town TEXT; CREATE TABLE extra (x); CREATE VIEW v AS SELECT 1;
            """
        )
        try program.sandbox.write("newer", to: "Stores/note.txt")
        let text = try program.expect("diff", "--rows", "--exit-code", status: 1).text
        for line in [
            "~ Shop.sqlite", "    ~ item: 1 row added, 1 removed, 1 changed",
            "        ~ id 1: count 2 → 2.0", "        - id 2: name 'Bread', count 1, shop 2",
            "        + id 4: name '\\u{1b}[31m', count X'00FF', shop NULL",
            "        + column town: TEXT", "    + extra: new table", "    + v: new view",
            "~ note.txt  content, time, 3 bytes → 5 bytes",
        ] { #expect(text.contains(line + "\n"), "\(line)") }
        #expect(!text.contains("\u{1b}"))
        let limited = try program.expect("diff", "--rows", "--limit", "1", "--table", "item").text
        #expect(limited.contains("… 2 more rows") && !limited.contains("note.txt"))
        let back = try program.expect("diff", "live", "latest").text
        #expect(back.contains("- extra: table removed") && back.contains("- v: view removed"))
    }

    @Test("A diff in JSON is one object per line, with classes and bytes")
    func json() throws {
        try sql("UPDATE item SET count = CAST(X'FF' AS TEXT) WHERE id = 1")
        let lines = try program.expect("diff", "--rows", "--json").jsonLines
        #expect(
            lines.compactMap { $0["message_type"] as? String } == [
                "store", "table", "row", "summary",
            ]
        )
        let cell = try #require((lines[2]["cells"] as? [[String: Any]])?.first)
        #expect((cell["old"] as? [String: Any])?["integer"] as? Int == 2)
        #expect((cell["new"] as? [String: Any])?["hex"] as? String == "FF")
        #expect(lines[3]["differs"] as? Bool == true)
    }

    @Test("A diff as SQL statements turns the old store into the new one")
    func statements() throws {
        let old = program.sandbox.path("old.sqlite").string
        try Tool.check(
            "sqlite3",
            [program.sandbox.path(Self.store).string, "VACUUM INTO '\(old)'"]
        )
        try sql(
            "UPDATE item SET name = 'x' || id; DELETE FROM shop; CREATE INDEX i ON item (count)"
        )
        let script = try program.sandbox.write(
            program.expect("diff", "--sql").output,
            to: "script.sql"
        )
        try Tool.check("sqlite3", ["-bail", old, ".read \(script.string)"])
        let dump = [
            "SELECT id, name, count, shop FROM item; SELECT * FROM shop; SELECT * FROM log; SELECT sql FROM sqlite_schema ORDER BY 1"
        ]
        let expected = try Tool.check("sqlite3", [program.sandbox.path(Self.store).string] + dump)
        #expect(try Tool.check("sqlite3", [old] + dump) == expected)
    }

    @Test("A diff of an unknown name suggests the nearest name")
    func wrongNames() throws {
        try sql("DELETE FROM item")
        #expect(
            try program.expect("diff", "--table", "itme", status: 1).errors.contains(
                "did you mean 'item'?"
            )
        )
        #expect(
            try program.expect("diff", "--store", "Shop.sqlit", status: 1).errors
                .contains("did you mean 'Shop.sqlite'?")
        )
        try program.expect("diff", "nothing", status: 10)
        try program.expect("diff", "--limit", "1", status: 64)
        let negative = try program.expect("diff", "--rows", "--limit", "-1", status: 64)
        #expect(negative.errors.contains("takes 0 or more"), "\(negative.errors)")
        try program.expect("diff", "--sql", "--rows", status: 64)
    }

    @Test("A diff of a foreign zip shows no difference for a journal beside a store")
    func journals() throws {
        try sql("PRAGMA journal_mode = PERSIST; INSERT INTO shop VALUES (3, 'Kiosk')")
        #expect(program.sandbox.exists(Self.store + "-journal"))
        let archive = program.sandbox.path("Remote/Theirs Stores.zip").string
        let stores = program.sandbox.path("Stores")
        try Tool.check("zip", ["-qr", archive, "."], directory: stores)
        let outcome = try program.expect("diff", "Theirs", "live")
        #expect(!outcome.text.contains("journal"), "\(outcome.text)")
        // A diary that is only called so is compared.
        try program.sandbox.write("dear", to: "Stores/note.txt-journal")
        #expect(try program.expect("diff", "Theirs", "live").text.contains("+ note.txt-journal"))
    }

    @Test("A diff names a subentity by its entity, and attributes by their columns")
    func entities() throws {
        let store = program.sandbox.path("Stores/Model.sqlite").string
        try Tool.check(
            "sqlite3",
            [
                store,
                """
                CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID, Z_PLIST);
                CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME, Z_SUPER, Z_MAX);
                INSERT INTO Z_PRIMARYKEY VALUES (1, 'Place', 0, 3), (2, 'Home', 1, 0);
                CREATE TABLE ZPLACE (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZNAME);
                INSERT INTO ZPLACE VALUES (3, 2, 1, 'Shelf');
                """,
            ]
        )
        try program.expect("backup", "--quiet")
        try Tool.check("sqlite3", [store, "DELETE FROM ZPLACE"])
        for arguments in [
            ["diff", "--store", "Model.sqlite", "--table", "home"],
            ["find", "--store", "Model.sqlite", "--where", "Home", "1"],
            ["restore", "latest", "--yes", "--store", "Model.sqlite", "--rows", "Home"],
        ] {
            let outcome = try program.run(arguments)
            #expect(outcome.status == 1 && outcome.errors.contains("are among those of 'Place'"))
            #expect(outcome.errors.contains("'Z_ENT = 2'"), "\(arguments): \(outcome.errors)")
        }
        let place = ["restore", "latest", "--yes", "--store", "Model.sqlite", "--rows", "Place"]
        let hint = try program.run(place + ["--where", "name = 'Shelf'"])
        #expect(hint.status == 64 && hint.errors.contains("did you mean 'ZNAME'?"))
        let done = try program.run(place + ["--where", "Z_ENT = 2"])
        #expect(done.status == 0 && done.text.contains("1 row back"), "\(done.errors)")
    }

    @Test("A diff compares two encrypted backups, too")
    func kinds() throws {
        let key = program.sandbox.path("key.txt").string
        try program.expect("key", "generate", "--output", key)
        let shown =
            try program.expect("key", "list", "--identity", key, "--json").json as? [String: Any]
        let recipient = try #require((shown?["identities"] as? [String])?.first)
        try sql("DELETE FROM item WHERE id = 2")
        try program.expect(
            "backup",
            "--quiet",
            "--tag",
            "sealed",
            "--recipient",
            recipient,
            "--same-name",
            "number"
        )
        let list = try program.expect("list", "--json").json as? [[String: Any]]
        let names = try #require(list?.compactMap { $0["name"] as? String })
        let found = try program.expect("diff", names[1], names[0], "--identity", key).text
        #expect(found.contains("~ item: 1 row removed"))
    }

    @Test("A diff of a backup with a damaged segment is an error that names it")
    func damage() throws {
        try sql("DELETE FROM item WHERE id = 2")
        let name = try #require(
            try Tool.check("ls", [program.sandbox.path("Remote").string])
                .split(separator: "\n").first.map(String.init)
        )
        var bytes = try program.sandbox.read("Remote/\(name)")
        // In the middle of the store's data: the note and the manifest are behind it.
        let place = try #require(
            bytes.indices.first { bytes[$0...].starts(with: Array("Shop.sqlite".utf8)) }
        )
        for index in (place + 100)..<(place + 110) { bytes[index] ^= 0xFF }
        try program.sandbox.write(bytes, to: "Remote/\(name)")
        let outcome = try program.expect("diff", status: 20)
        #expect(outcome.errors.contains("Shop.sqlite"))
    }

    // MARK: - A restore

    @Test("A dry run of a restore shows the differences")
    func dryRun() throws {
        try sql(
            "DELETE FROM item WHERE id > 1; INSERT INTO item VALUES (9, 'Tea', 1, 1); UPDATE shop SET name = 'x' WHERE id = 1"
        )
        let text = try program.expect("restore", "latest", "--dry-run").text
        #expect(text.contains("  item: 2 rows come back, 1 is lost\n"))
        #expect(text.contains("  shop: 1 row changes\n"))
        let json =
            try program.expect("restore", "latest", "--dry-run", "--json").json as? [String: Any]
        let changes = try #require(json?["changes"] as? [String: Any])
        #expect(changes["complete"] as? Bool == true)
        #expect((changes["tables"] as? [[String: Any]])?.count == 3)
    }

    // MARK: - Rows back

    @Test("A restore by a condition brings rows back into the live store, and triggers run")
    func rowsBack() throws {
        try sql("DELETE FROM item WHERE id > 1; UPDATE item SET count = 7 WHERE id = 1")
        let where2 = ["--rows", "item", "--where", "name = 'Bread'"]
        let dry = try program.run(["restore", "latest", "--dry-run"] + where2)
        #expect(dry.text.contains("item in 'Shop.sqlite': 1 row would come back"))
        #expect(try query("SELECT count(*) FROM item") == "1\n")
        let done = try program.run(["restore", "latest", "--yes"] + where2)
        #expect(done.status == 0 && done.text.contains("1 row back"), "\(done.errors)")
        #expect(done.errors.contains("restore --undo"))
        #expect(try query("SELECT id, name, count, shop FROM item") == "1|Milk|7|1\n2|Bread|1|2\n")
        #expect(try query("SELECT text FROM log") == "Bread\n")
        #expect(
            try program.expect(
                "restore",
                "latest",
                "--yes",
                "--only",
                "Shop.sqlite:item",
                "--on-conflict",
                "skip"
            ).text.contains("1 row back, 1 left as they are though they differ, 1 there already")
        )
        let replaced = try program.expect(
            "restore",
            "latest",
            "--yes",
            "--rows",
            "item",
            "--on-conflict",
            "replace",
            "--json"
        )
        #expect((try replaced.json as? [String: Any])?["replaced"] as? Int == 1)
        #expect(try query("SELECT count FROM item WHERE id = 1") == "2\n")
        try program.expect("restore", "--undo", "--yes", "--quiet")
        #expect(try query("SELECT count FROM item WHERE id = 1") == "7\n")
    }

    @Test("Restored rows bring the files that they refer to, with their modes")
    func filesOfRows() throws {
        let name = "5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"
        let file = "Stores/.Shop_SUPPORT/_EXTERNAL_DATA/\(name)"
        let path = try program.sandbox.write("a photo", to: file)
        try Tool.check("chmod", ["640", path.string])
        let value = "02" + Data(name.utf8).map { String($0, radix: 16) }.joined() + "00"
        try sql("INSERT INTO item VALUES (4, 'Photo', X'\(value)', 1)")
        try program.expect("backup", "--quiet")
        try sql("DELETE FROM item WHERE id = 4")
        try Tool.check("rm", [path.string])
        try bringBack("id = 4")
        #expect(try query("SELECT hex(count) FROM item WHERE id = 4") == value.uppercased() + "\n")
        #expect(try program.sandbox.read(file) == Array("a photo".utf8))
        #expect(try FileInfo(of: path).mode == 0o640)
    }

    @Test("Rows that exist with other values, or lack a parent, change nothing")
    func refusals() throws {
        try sql("DELETE FROM item WHERE id = 3; UPDATE item SET name = 'x' WHERE id = 2")
        let conflict = try program.expect("restore", "latest", "--yes", "--rows", "item", status: 1)
        #expect(
            conflict.errors.contains("'item' exists with other values")
                && conflict.errors.contains("--on-conflict")
        )
        #expect(try query("SELECT count(*) FROM item") == "2\n")
        try sql(
            "DELETE FROM item WHERE id = 2; DELETE FROM shop WHERE id = 2; INSERT INTO item VALUES (8, 'Eggs', 1, 1)"
        )
        // Another row has the name.
        let unique = try bringBack("id = 3", status: 1)
        #expect(unique.errors.contains("another row has its unique values"))
        let parent = try bringBack("id = 2", status: 1)
        #expect(parent.errors.contains("break foreign keys with the tables 'shop'"))
        #expect(try query("SELECT count(*) FROM item") == "2\n")
        try sql(
            "CREATE TRIGGER never BEFORE INSERT ON item WHEN new.id = 2 BEGIN SELECT raise(ABORT, 'not this'); END; INSERT INTO shop VALUES (2, 'x')"
        )
        let refused = try bringBack("id = 2", status: 1)
        #expect(refused.errors.contains("not this"))
        let condition = try bringBack("nme = 1", status: 64)
        #expect(condition.errors.contains("no such column: nme"))
        #expect(
            try program.expect("restore", "latest", "--yes", "--rows", "itme", status: 1).errors
                .contains(
                    "did you mean 'item'?"
                )
        )
        try program.expect("restore", "latest", "--yes", "--where", "1", status: 64)
        try program.expect("restore", "latest", "--yes", "--only", "item", status: 1)
    }

    @Test("A restore of rows waits for another writer, and changes nothing if the wait fails")
    func busy() throws {
        try sql("DELETE FROM item WHERE id = 3")
        let application = try StoreApplication(
            on: program.sandbox.path(Self.store),
            "BEGIN IMMEDIATE"
        )
        defer { application.kill() }
        let outcome = try program.expect("restore", "latest", "--yes", "--rows", "item", status: 24)
        #expect(outcome.errors.contains("locked"))
    }

    @Test("A diff skips a store that an application locks, and compares all others")
    func locked() throws {
        try StoreApplication(on: program.sandbox.path("Stores/other.sqlite"), "CREATE TABLE t (x)")
            .end()
        try program.expect("backup", "--quiet")
        try sql("DELETE FROM item WHERE id = 3")
        let application = try StoreApplication(
            on: program.sandbox.path("Stores/other.sqlite"),
            "INSERT INTO t VALUES (1)",
            "BEGIN EXCLUSIVE"
        )
        defer { application.kill() }
        let outcome = try program.expect("diff", status: 3)
        #expect(outcome.text.contains("Shop.sqlite"), "\(outcome.text)")
        #expect(outcome.errors.contains("close its application"), "\(outcome.errors)")
    }
}
