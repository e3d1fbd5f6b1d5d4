import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Sync of two machines",
    .enabled(if: Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
)
struct SyncCommandTests {
    let program: Program
    let desk: SyncHome
    let phone: SyncHome

    init() throws {
        program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        phone = try SyncHome("phone", program)
    }

    private func state(_ outcome: Tool.Outcome) throws -> [String: Any] {
        let json = try outcome.json as? [String: Any]
        return try #require((json?["stores"] as? [[String: Any]])?.first)
    }

    @Test("Two machines end with the same rows after edits on both and an interruption")
    func list() throws {
        try desk.run("items", "add", "Honey")
        try phone.run("items", "add", "Figs")
        let first = try desk.enable()
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.errors.contains("'Grocery-Dude.sqlite' begins 'grocery-dude' in '"))
        #expect(first.errors.contains("known by 'id'"))
        #expect(first.errors.contains("left out: 'grdb_migrations' is about this file alone"))
        #expect(first.text.hasPrefix("Grocery-Dude.sqlite  sent "))
        let second = try phone.enable()
        #expect(second.errors.contains("joins 'grocery-dude'"))
        #expect(second.text.hasSuffix(": 1 row added\n"))
        #expect(try desk.run("sync").text.hasSuffix(": 1 row added\n"))
        #expect(try desk.items() == phone.items())
        // The default rows are one set, and nothing is said of a run in which nothing is new.
        #expect(try desk.items().count == 14)
        #expect(try desk.run("sync").text == "Grocery-Dude.sqlite  in step, nothing new\n")
        let quiet = try phone.run("sync", "--quiet")
        #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)
        // Cut off: what is edited waits.
        let away = program.sandbox.path("Away")
        try LocalFileSystem().move(desk.container, to: away)
        try desk.run("items", "add", "Nuts")
        let cut = try desk.run("sync")
        #expect(cut.status == 10)
        #expect(cut.text == "Grocery-Dude.sqlite  local only, 1 change waits\n")
        #expect(cut.errors.contains("1 change waits on this machine"))
        #expect(try state(desk.run("sync", "--json"))["state"] as? String == "local_only")
        try LocalFileSystem().move(away, to: desk.container)
        try phone.run("items", "remove", "Honey")
        #expect(try phone.run("sync").text == "Grocery-Dude.sqlite  sent 1 change\n")
        let back = try desk.run("sync")
        #expect(back.text.hasPrefix("Grocery-Dude.sqlite  sent 1 change, took 1 of '"))
        #expect(back.text.hasSuffix("': 1 row removed\n"))
        let last = try state(phone.run("sync", "--json"))
        #expect(last["state"] as? String == "in_step")
        #expect((last["written"] as? [String: Int])?["inserted"] == 1)
        #expect(try desk.items() == phone.items())
        #expect(try desk.items().contains("Nuts") && !desk.items().contains("Honey"))
    }

    @Test("Enabling sync has a dry run that changes nothing, and keeps a copy of the store")
    func looking() throws {
        let before = try desk.program.sandbox.contents(of: "desk")
        let dry = try desk.run("sync", "enable", "--container", "Shared", "--dry-run")
        #expect(dry.status == 0)
        #expect(dry.text.hasPrefix("would do: 'Grocery-Dude.sqlite' begins 'grocery-dude' in '/"))
        #expect(try desk.program.sandbox.contents(of: "desk") == before)
        #expect(try Directory.open(desk.container).names().isEmpty)
        let unasked = try desk.run("sync", "enable", "--container", "Shared")
        #expect(unasked.status == 64 && unasked.errors.contains("no terminal"))
        #expect(try Directory.open(desk.container).names().isEmpty)
        try desk.sql(
            "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, x INTEGER REFERENCES a)"
        )
        let enabled = try desk.enable("--exclude", "a", "--group", "food")
        #expect(enabled.status == 1)
        #expect(enabled.errors.contains("'b.x' refers to 'a', which does not sync"))
        #expect(enabled.errors.contains("hint: ") && enabled.errors.contains("--map FILE"))
        let wrong = try desk.enable("--exclude", "units")
        #expect(wrong.status == 1 && wrong.errors.contains("there is no table 'units'"))
        try desk.run("items", "add", "Honey")
        #expect(try desk.enable("--group", "food").status == 0)
        try desk.run("items", "remove", "Honey")
        let copy = try desk.sidecar.appending("before.sqlite")
        let kept = try Tool.check("sqlite3", [copy.string, "SELECT count(*) FROM item"])
        #expect(kept == "13\n")
        let mark = try Directory.open(desk.container).names().map(\.description)
        #expect(mark.contains("food") && mark.contains { $0.hasSuffix(".group") })
        let again = try desk.enable()
        #expect(again.status == 1)
        #expect(again.errors.contains("takes part in 'food' through '"))
    }

    @Test("Enabling sync is refused if the container or the stores would not be safe")
    func refusals() throws {
        func refused(_ container: FilePath, _ status: Int32, _ text: String) throws {
            let outcome = try desk.run(
                "sync",
                "enable",
                "--yes",
                "--container",
                container.string
            )
            #expect(outcome.status == status, "\(outcome.errors)")
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
        }
        let inside = desk.stores.appending("Sync")
        try LocalFileSystem().createDirectory(inside)
        try refused(inside, 1, "is inside the stores directory")
        try refused(desk.stores, 1, "is inside the stores directory")
        try refused(desk.path, 1, "is inside the container")
        try refused(desk.path.appending("Nowhere"), 10, "there is no remote folder")
        let file = try program.sandbox.write("x", to: "file")
        try refused(file, 10, "is not a directory")
        try refused(file, 10, "hint: name a directory with '--container FOLDER'")
        let none = try desk.run("sync", "enable", "--yes")
        #expect(none.status == 64 && none.errors.contains("--container FOLDER"))
        let group = try desk.run(
            "sync",
            "enable",
            "--yes",
            "--container",
            "Shared",
            "--group",
            "A B"
        )
        #expect(group.status == 64 && group.errors.contains("1 to 40 of the letters"))
        // Another program synchronises it.
        try LocalFileSystem().createDirectory(desk.stores.appending(".stfolder"))
        try refused(desk.container, 1, "which Syncthing synchronises")
        try LocalFileSystem().remove(desk.stores.appending(".stfolder"))
        try desk.sql("CREATE TABLE a (x INTEGER PRIMARY KEY)")
        try Tool.check("sqlite3", [desk.stores.appending("b.sqlite").string, "CREATE TABLE a (x)"])
        let several = try desk.enable()
        #expect(several.status == 64 && several.errors.contains("there are several stores"))
        #expect(several.errors.contains("hint: name one with '--store NAME'"))
        let empty = try desk.enable("--store", "b")
        #expect(empty.status == 1 && empty.errors.contains("'b.sqlite' has no table that syncs"))
        #expect(empty.errors.contains("'a' has no primary key: name its identity in the map"))
        #expect(empty.errors.contains(#"{"tables": {"a": {"identity": ["COLUMN"]}}}"#))
        #expect(try Directory.open(desk.container).names().isEmpty)
        let unknown = try desk.run("sync")
        #expect(unknown.status == 1 && unknown.errors.contains("does not take part in any group"))
        #expect(try desk.enable("--store", "Grocery-Dude").status == 0)
        #expect(try desk.run("sync", "--store", "b").status == 1)
    }

    @Test("A sync waits for another run, and leaves what arrived to the next one")
    func locks() async throws {
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        do {
            let lock = try await FileLock.acquire(desk.sidecar)
            let second = try desk.run("sync")
            #expect(second.status == 11 && second.errors.contains("--lock-wait"))
            withExtendedLifetime(lock) {}
        }
        do {
            let lock = try await FileLock.acquire(desk.stores)
            let outcome = try desk.run("sync")
            #expect(outcome.status == 11)
            #expect(outcome.text.hasSuffix("took 1 of '\(try id(outcome))'; 1 row waits\n"))
            withExtendedLifetime(lock) {}
        }
        #expect(try desk.items().count == 12)
        #expect(try desk.run("sync").text == "Grocery-Dude.sqlite  1 row added\n")
        #expect(try desk.items() == phone.items())
    }

    /// The name of the one device that something was taken from.
    private func id(_ outcome: Tool.Outcome) throws -> String {
        try #require(outcome.text.split(separator: "'").dropFirst().first.map(String.init))
    }

    @Test("A sync writes a store that an application has open only if the settings allow it")
    func open() throws {
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        let application = try StoreApplication(on: desk.store, "SELECT count(*) FROM item")
        try program.sandbox.write(
            "sync: {while_open: false}\n",
            to: "desk/\(Program.configuration)"
        )
        let outcome = try desk.run("sync")
        #expect(outcome.status == 24, "\(outcome.errors)")
        #expect(outcome.errors.contains("1 change waits until 'Grocery-Dude.sqlite' is closed"))
        #expect(try desk.items().count == 12)
        #expect(try desk.run("sync", "--set", "sync.while_open=true").status == 0)
        #expect(try desk.items().count == 13)
        application.kill()
    }

    @Test("A sync does not write a store of an idle application without a lock")
    func idle() throws {
        try desk.sql("PRAGMA journal_mode = DELETE")
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        let application = try StoreApplication(on: desk.store, "SELECT count(*) FROM item")
        let settings = "desk/\(Program.configuration)"
        try program.sandbox.write("sync: {while_open: false}\n", to: settings)
        let outcome = try desk.run("sync")
        #expect(outcome.status == 24, "\(outcome.errors)")
        #expect(try desk.items().count == 12)
        try application.end()
        #expect(try desk.run("sync").status == 0)
        #expect(try desk.items().count == 13)
    }

    @Test("A photo beside the store arrives with the row that names it, and goes with it")
    func photos() throws {
        for home in [desk, phone] { #expect(try home.enable().status == 0) }
        let name = "6D3F0C9B-6A1E-4B55-9E14-3B0E2A1C7F01"
        func photo(_ home: SyncHome) -> FilePath {
            home.stores.appending(".Grocery-Dude_SUPPORT/_EXTERNAL_DATA").appending(name)
        }
        try LocalFileSystem().createDirectories(photo(desk).removingLastComponent())
        try LocalFileSystem().write(Array("a photo".utf8), to: photo(desk))
        try desk.sql(
            "INSERT INTO item (id, name, photo) VALUES ('figs', 'Figs', CAST(x'02' || '\(name)' || x'00' AS BLOB))"
        )
        for home in [desk, phone] { #expect(try home.run("sync").status == 0) }
        #expect(try File.contents(of: photo(phone), limit: 100) == Array("a photo".utf8))
        try phone.run("items", "remove", "Figs")
        #expect(try FileInfo.ifPresent(photo(phone)) == nil)
        for home in [phone, desk] { #expect(try home.run("sync").status == 0) }
        #expect(try FileInfo.ifPresent(photo(desk)) == nil)
    }

    @Test("A store begins a group by a map with guesses only once a person has confirmed them")
    func guesses() throws {
        try desk.replaceStore(
            """
            CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, list_id INTEGER, name TEXT);
            INSERT INTO list VALUES (1, 'a');
            INSERT INTO item VALUES (1, 1, 'b');
            """
        )
        let guess = "'item.list_id' names rows of 'list'"
        let refused = try desk.enable()
        #expect(refused.status == 26)
        #expect(refused.errors.contains(guess) && refused.errors.contains("grocerydude sync map"))
        #expect(try Directory.open(program.sandbox.path("Shared")).names().isEmpty)
        let plan = try desk.enable("--dry-run")
        #expect(plan.text.contains("guess: \(guess)"), "\(plan.errors)")
        let map = try desk.run("sync", "map")
        #expect(map.errors.contains("guess: \(guess)"))
        let path = try program.sandbox.write(map.output, to: "map.json")
        #expect(try desk.enable("--map", path.string).status == 0)
        // The store goes by what it has begun, whatever other rows would show.
        #expect(try desk.run("sync", "map").text == map.text)
    }

    @Test("A store joins a group with few of its tables only if a person says how rows are matched")
    func otherApplication() throws {
        #expect(try desk.enable("--group", "shared").status == 0)
        try phone.replaceStore("CREATE TABLE a (x TEXT PRIMARY KEY); INSERT INTO a VALUES ('y')")
        let refused = try phone.enable("--group", "shared")
        #expect(refused.status == 26)
        #expect(
            refused.errors.contains("only 0 of them are in 'Grocery-Dude.sqlite'"),
            "\(refused.errors)"
        )
        #expect(try phone.enable("--group", "shared", "--match", "key").status == 0)
    }

    @Test("A store of the same application joins by itself, even if most of its tables are empty")
    func emptyTables() throws {
        let schema = """
            CREATE TABLE a (x TEXT PRIMARY KEY); CREATE TABLE b (x TEXT PRIMARY KEY);
            CREATE TABLE c (x TEXT PRIMARY KEY); CREATE TABLE d (x TEXT PRIMARY KEY);
            """
        try desk.replaceStore(schema + "INSERT INTO a VALUES ('y')")
        try phone.replaceStore(schema)
        for home in [desk, phone] {
            let outcome = try home.enable()
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        #expect(try phone.sql("SELECT x FROM a") == "y\n")
    }

    @Test("A sync reports every reason why a store cannot sync, and the remedy for each")
    func severalReasons() throws {
        try desk.replaceStore(
            """
            CREATE TABLE log (id INTEGER, text TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, changed INTEGER);
            CREATE TRIGGER a AFTER INSERT ON item BEGIN
                INSERT INTO log VALUES (NEW.id, 'a'); UPDATE item SET changed = 1 WHERE id = NEW.id; END;
            CREATE TRIGGER b AFTER DELETE ON item BEGIN
                DELETE FROM log; UPDATE item SET changed = 1 WHERE id = OLD.id; END;
            """
        )
        let outcome = try desk.enable()
        #expect(outcome.status == 1)
        for hint in [#"{"triggers": {"a": "run"}}"#, #"{"triggers": {"b": "run"}}"#] {
            #expect(outcome.errors.contains(hint), "\(outcome.errors)")
        }
        #expect(outcome.errors.contains("and name its file with '--map FILE'"))
        try desk.replaceStore("SELECT 1")
        try LocalFileSystem().remove(desk.store)
        try desk.sql("PRAGMA encoding = 'UTF-16le'; CREATE TABLE a (x TEXT PRIMARY KEY)")
        let wide = try desk.enable()
        #expect(
            wide.errors.contains("hint: rewrite it while its application"),
            "\(wide.errors)"
        )
        #expect(!wide.errors.contains("--map"))
    }

    @Test("A sync writes a Core Data store only while it is closed, unless forced")
    func coreData() throws {
        let model = ModelCache([.init("Note", ["title": .attribute("VARCHAR")])])
        for home in [desk, phone] {
            try home.replaceStore(model.schema)
        }
        #expect(try desk.enable().status == 0)
        let outcome = try phone.enable()
        #expect(outcome.status == 0)
        try phone.sql("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'figs')")
        #expect(try phone.run("sync").status == 0)
        let application = try StoreApplication(on: desk.store, "SELECT count(*) FROM ZNOTE")
        let open = try desk.run("sync")
        #expect(open.status == 24, "\(open.errors)")
        #expect(open.errors.contains("1 change waits until 'Grocery-Dude.sqlite' is closed"))
        #expect(try desk.sql("SELECT ZTITLE FROM ZNOTE") == "")
        #expect(try desk.run("sync", "--set", "sync.while_open=true").status == 0)
        #expect(try desk.sql("SELECT ZTITLE, Z_OPT FROM ZNOTE") == "figs|1\n")
        try phone.sql("UPDATE ZNOTE SET ZTITLE = 'dates'")
        #expect(try phone.run("sync").status == 0)
        #expect(try desk.run("sync").status == 24)
        try application.end()
        #expect(try desk.run("sync").text == "Grocery-Dude.sqlite  1 row changed\n")
        #expect(try desk.sql("SELECT ZTITLE, Z_OPT FROM ZNOTE") == "dates|2\n")
    }

    @Test("A store is not in step after a sync that its new schema prevented")
    func refused() throws {
        try desk.replaceStore(
            "CREATE TABLE a (x TEXT PRIMARY KEY, y, z); INSERT INTO a VALUES ('x', 1, 2)"
        )
        #expect(try desk.enable().status == 0)
        try desk.sql("ALTER TABLE a RENAME COLUMN y TO w; UPDATE a SET w = 3")
        for _ in 1...2 {
            #expect(try desk.run("sync").status == 26)
            let json = try state(desk.run("sync", "status", "--json"))
            #expect(json["state"] as? String == "needs_decision")
            #expect(json["decision"] as? String == "refused")
            #expect(try desk.run("sync", "status").text.contains("needs a decision: "))
        }
        try desk.sql("ALTER TABLE a RENAME COLUMN w TO y")
        #expect(try desk.run("sync").status == 0)
        #expect(try state(desk.run("sync", "status", "--json"))["state"] as? String == "in_step")
    }

    @Test("A sync asks if only a person knows what the data mean")
    func decisions() throws {
        try desk.sql(
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) INSERT INTO item (id, name, quantity) SELECT 'x' || i, 'x' || i, 1 FROM n"
        )
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
        try desk.sql("DELETE FROM item")
        let outcome = try desk.run("sync")
        #expect(outcome.status == 26)
        #expect(outcome.text == "Grocery-Dude.sqlite  needs a decision\n")
        #expect(outcome.errors.contains("42 of 42 rows of 'item' are gone"))
        #expect(
            outcome.errors.contains(
                "hint: if that is right, run 'grocerydude sync --accept-changes'"
            )
        )
        let json = try state(desk.run("sync", "--json"))
        #expect(json["state"] as? String == "needs_decision")
        #expect(json["decision"] as? String == "many_gone")
        #expect(try phone.run("sync").text == "Grocery-Dude.sqlite  in step, nothing new\n")
        #expect(try desk.run("sync", "--accept-changes").status == 0)
        #expect(try phone.run("sync").status == 26)
        #expect(try phone.items().count == 42)
        #expect(try phone.run("sync", "--accept-changes").status == 0)
        #expect(try phone.items().isEmpty)
        // Another container in the settings: data never wander by themselves.
        try program.sandbox.directory("Other")
        let other = ["GROCERYDUDE_CONTAINER": program.sandbox.path("Other").string]
        let moved = try desk.run("sync", environment: other)
        #expect(moved.status == 26 && moved.errors.contains("this store was synced with"))
        #expect(!program.sandbox.exists("Other/grocery-dude"))
        #expect(try desk.run("sync").status == 0)
    }

    @Test("A sync reports a damaged or newer sidecar, and does nothing if it is disabled")
    func sidecars() throws {
        #expect(try desk.enable().status == 0)
        let path = try desk.sidecar.appending("sync.sqlite")
        try Tool.check("sqlite3", [path.string, "UPDATE meta SET v = 2 WHERE k = 'format'"])
        let newer = try desk.run("sync")
        #expect(newer.status == 1 && newer.errors.contains("a newer version of the program"))
        try program.sandbox.write("sync: {enabled: false}\n", to: "desk/\(Program.configuration)")
        let off = try desk.run("sync")
        #expect(off.status == 0 && off.errors.contains("nothing is exchanged"))
        try LocalFileSystem().remove(desk.path.appending(Program.configuration))
        try LocalFileSystem().write(Array("no database".utf8), to: path)
        for suffix in ["-wal", "-shm"] {
            try LocalFileSystem().remove(FilePath(path.string + suffix))
        }
        let damaged = try desk.run("sync")
        #expect(damaged.status == 20, "\(damaged.errors)")
        #expect(try desk.items().count == 12)
    }
}
