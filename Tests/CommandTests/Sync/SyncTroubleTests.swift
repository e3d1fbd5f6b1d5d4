import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Sync on machines with problems",
    .enabled(if: Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
)
struct SyncTroubleTests {
    let program: Program
    let desk: SyncHome
    let phone: SyncHome

    init() throws {
        program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        phone = try SyncHome("phone", program)
    }

    private func begin() throws {
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
    }

    /// Whether a test may mount.
    static let mayMount =
        (try? Tool.run("unshare", ["-m", "true"]).status) == 0

    /// Runs the program where a shell command has been run before it, in a mount namespace of its own.
    private func run(
        _ home: SyncHome,
        after command: String,
        _ arguments: String...
    ) throws -> Tool.Outcome {
        let environment = program.environment.merging(["HOME": home.path.string]) { $1 }
        return try Tool.run(
            "unshare",
            ["-m", "sh", "-c", "\(command) && exec \"$0\" \"$@\"", Program.path] + arguments,
            environment: environment,
            directory: program.sandbox.path
        )
    }

    @Test("A sync removes what an earlier run could not")
    func abandoned() throws {
        try begin()
        let temporary = try program.sandbox.directory("Temporary")
        try program.sandbox.write("bread", to: "Temporary/.grocerydude-scratch.Ab1cD2/plain.txt")
        let outcome = try desk.run(["sync"], environment: ["TMPDIR": temporary.string])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try Directory.open(temporary).names().isEmpty)
    }

    @Test("A sync loses no row if a store's file is gone, and says what to do")
    func gone() throws {
        try begin()
        let kept = program.sandbox.path("kept.sqlite")
        try LocalFileSystem().move(desk.store, to: kept)
        let outcome = try desk.run("sync")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("takes part in 'grocery-dude', but is gone"))
        #expect(outcome.errors.contains("grocerydude sync disable --store Grocery-Dude.sqlite'"))
        let status = try desk.run("sync", "status")
        #expect(status.errors.contains("is gone from the stores directory"))
        #expect(status.text.contains("its file is gone"), "\(status.text)")
        #expect(try phone.run("sync").status == 0)
        #expect(try phone.items().count == 12)
        // Beside another store it is work that is done in part.
        let other = desk.stores.appending("b.sqlite")
        try Tool.check("sqlite3", [other.string, "CREATE TABLE a (x TEXT PRIMARY KEY)"])
        #expect(try desk.enable("--store", "b").status == 0)
        #expect(try desk.run("sync").status == 3)
        try LocalFileSystem().move(kept, to: desk.store)
        #expect(try desk.run("sync").status == 0)
        // An empty one in its place is another one.
        try LocalFileSystem().remove(desk.store)
        try desk.sql("CREATE TABLE item (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL)")
        let empty = try desk.run("sync", "--store", "Grocery-Dude")
        #expect(empty.status == 26, "\(empty.errors)")
        #expect(try phone.run("sync").status == 0 && phone.items().count == 12)
        try LocalFileSystem().remove(desk.store)
        let left = try desk.run("sync", "disable", "--store", "Grocery-Dude.sqlite", "--yes")
        #expect(left.status == 0, "\(left.errors)")
        #expect(try desk.run("sync").status == 0)
    }

    @Test("A sync joins stores again by content if its sidecar is gone")
    func deletedSidecar() throws {
        try begin()
        try desk.run("items", "add", "Honey")
        #expect(try desk.run("sync").status == 0 && phone.run("sync").status == 0)
        try LocalFileSystem().remove(phone.path.appending(".local/state/grocerydude/sync"))
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 1)
        #expect(try phone.enable().status == 0)
        #expect(try desk.run("sync").status == 0)
        #expect(try desk.items() == phone.items() && desk.items().count == 14)
    }

    @Test(
        "A sync duplicates no row without a key after its sidecar was lost or sync was disabled",
        arguments: [false, true]
    )
    func deletedSidecarOfNumbers(leaves: Bool) throws {
        for home in [desk, phone] {
            try home.replaceStore(
                "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, stars INTEGER)"
            )
            try home.sql("INSERT INTO note VALUES (1, 'a', 1), (2, 'b', 2)")
        }
        try begin()
        try desk.sql("INSERT INTO note VALUES (3, 'c', 3)")
        try phone.sql("INSERT INTO note VALUES (3, 'd', 4); UPDATE note SET stars = 9 WHERE id = 1")
        #expect(try phone.run("sync").status == 0 && desk.run("sync").status == 0)
        #expect(try phone.run("sync").status == 0)
        if leaves {
            #expect(try phone.run("sync", "disable", "--yes").status == 0)
        } else {
            try LocalFileSystem().remove(phone.path.appending(".local/state/grocerydude/sync"))
        }
        // Under another name it is another machine; the hint says how both would be one.
        let other = try phone.run(
            "sync",
            "enable",
            "--container",
            phone.container.string,
            "--device",
            "tablet",
            "--dry-run"
        )
        #expect(
            other.text.contains("3 rows of 'note' would appear twice: '--match content'"),
            "\(other.text)"
        )
        let again = try phone.enable()
        #expect(again.status == 0 && again.errors.contains("'phone' took part before"))
        #expect(try desk.run("sync").status == 0 && phone.run("sync").status == 0)
        for home in [desk, phone] {
            let rows = try home.sql("SELECT title, stars FROM note ORDER BY title")
            #expect(rows == "a|9\nb|2\nc|3\nd|4\n")
        }
    }

    @Test("A sync does not begin with a read-only store", .enabled(if: mayMount))
    func readOnlyStore() throws {
        let only =
            "mount --bind '\(desk.stores)' '\(desk.stores)' && mount -o remount,bind,ro '\(desk.stores)'"
        let refused = try run(
            desk,
            after: only,
            "sync",
            "enable",
            "--yes",
            "--container",
            desk.container.string
        )
        #expect(refused.status == 1, "\(refused.errors)")
        #expect(refused.errors.contains("'Grocery-Dude.sqlite' may not be written"))
        #expect(refused.errors.contains("hint: make sure that you may write to"))
        #expect(try Directory.open(desk.container).names().isEmpty)
        try begin()
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        let late = try run(desk, after: only, "sync")
        #expect(late.status == 1 && late.errors.contains("cannot be written"), "\(late.errors)")
        #expect(try desk.run("sync").status == 0 && desk.items().contains("Figs"))
    }

    @Test("A restore marks each restored store, whatever its file")
    func restored() throws {
        try begin()
        let remote = try program.sandbox.directory("Remote").string
        #expect(try desk.run("backup", "--remote", remote).status == 0)
        #expect(try desk.run("restore", "latest", "--remote", remote, "--yes").status == 0)
        let sidecar = try desk.sidecar.appending("sync.sqlite").string
        let query = "SELECT v FROM meta WHERE k = 'replaced'"
        #expect(try Tool.check("sqlite3", [sidecar, query]) == "1\n")
        // It is as it was: there is nothing to ask.
        #expect(try desk.run("sync").status == 0)
        #expect(try Tool.check("sqlite3", [sidecar, query]).isEmpty)
    }

    @Test("A restore of a part marks a store only if the part is that store")
    func restoredPart() throws {
        try begin()
        let remote = try program.sandbox.directory("Remote").string
        try LocalFileSystem().write([0x78], to: desk.stores.appending("note"))
        #expect(try desk.run("backup", "--remote", remote).status == 0)
        let sidecar = try desk.sidecar.appending("sync.sqlite").string
        let query = "SELECT v FROM meta WHERE k = 'replaced'"
        for (name, mark) in [("note", ""), ("Grocery-Dude.sqlite", "1\n")] {
            let outcome = try desk.run(
                "restore",
                "latest",
                "--remote",
                remote,
                "--yes",
                "--only",
                name
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try Tool.check("sqlite3", [sidecar, query]) == mark)
        }
    }

    @Test("A sync waits for a writer that does not end, and reports it")
    func busy() throws {
        try begin()
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        let writer = try StoreApplication(on: desk.store, "BEGIN IMMEDIATE")
        let outcome = try desk.run("sync")
        #expect(outcome.status == 24, "\(outcome.errors)")
        #expect(try desk.items().count == 12)
        writer.kill()
        #expect(try desk.run("sync").status == 0)
        #expect(try desk.items().count == 13)
    }

    @Test("A sync takes what arrived from a read-only container", .enabled(if: mayMount))
    func readOnly() throws {
        try begin()
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        try desk.run("items", "add", "Honey")
        let mount = "mount --bind '\(desk.container)' '\(desk.container)'"
        let only = "\(mount) && mount -o remount,bind,ro '\(desk.container)'"
        let outcome = try run(desk, after: only, "sync")
        #expect(outcome.status == 10, "\(outcome.errors)")
        #expect(outcome.errors.contains("1 change waits on this machine"))
        #expect(try desk.items().contains("Figs"))
        let refused = try run(desk, after: only, "sync", "seed", "--yes")
        #expect(refused.status == 10)
        #expect(try desk.run("sync").status == 0 && phone.run("sync").status == 0)
        #expect(try desk.items() == phone.items())
    }

    @Test(
        "A sync continues after a full disk",
        .enabled(if: mayMount),
        arguments: ["Shared", "state"]
    )
    func fullDisk(place: String) throws {
        try begin()
        // Two bytes for each.
        try desk.sql("INSERT INTO unit (id, name) VALUES ('u', hex(randomblob(150000)))")
        let path = try place == "Shared" ? desk.container : desk.sidecar
        let copy = "cp -a '\(path)' '\(program.sandbox.path("copy"))'"
        let full = "\(copy) && mount -t tmpfs -o size=400k none '\(path)'"
        let fill =
            "cp -a '\(program.sandbox.path("copy"))/.' '\(path)' && (cat /dev/zero > '\(path)/fill' 2>/dev/null || :)"
        let outcome = try run(desk, after: "\(full) && \(fill)", "sync")
        #expect(outcome.status == 23, "\(outcome.errors)")
        #expect(try desk.run("sync").status == 0)
        #expect(try phone.run("sync").status == 0)
        #expect(try phone.sql("SELECT length(name) FROM unit WHERE id = 'u'") == "300000\n")
    }

    @Test("A sync captures changes even if a file is in the container's place")
    func file() throws {
        try begin()
        try desk.run("items", "add", "Honey")
        let away = program.sandbox.path("Away")
        try LocalFileSystem().move(desk.container, to: away)
        try program.sandbox.write("x", to: "Shared")
        let outcome = try desk.run("sync")
        #expect(outcome.status == 10, "\(outcome.errors)")
        #expect(outcome.errors.contains("is not a directory; 1 change waits"))
        try LocalFileSystem().remove(desk.container)
        try LocalFileSystem().move(away, to: desk.container)
        #expect(try desk.run("sync").status == 0)
    }

    @Test("A sync uses the group's map, and a new map after each person agrees")
    func map() throws {
        // Items name their places, which need not be there.
        let item =
            #""item": {"references": {"location_at_home_id": "none", "location_at_shop_id": "none"}}"#
        let map = try program.sandbox.write(
            #"{"tables": {\#(item)}, "exclude": ["location_at_home"]}"#,
            to: "map.json"
        )
        let other = try program.sandbox.write(
            #"{"tables": {"unit": {"identity": ["name"]}, \#(item)}, "exclude": ["nothing"]}"#,
            to: "other.json"
        )
        #expect(try desk.enable("--map", map.string).status == 0)
        let refused = try phone.enable("--map", other.string)
        #expect(refused.status == 1 && refused.errors.contains("has another map"))
        #expect(refused.errors.contains("grocerydude sync seed --map FILE"))
        let joined = try phone.enable("--exclude", "location_at_shop")
        #expect(joined.status == 0, "\(joined.errors)")
        for table in ["location_at_home", "location_at_shop"] {
            #expect(joined.errors.contains("left out: '\(table)' is left out by the map"))
        }
        #expect(try desk.run("sync", "seed", "--map", other.string).status == 64)
        let seeded = try desk.run("sync", "seed", "--map", other.string, "--yes")
        #expect(seeded.status == 0, "\(seeded.errors)")
        #expect(seeded.errors.contains("the map names 'nothing', which"))
        let asked = try phone.run("sync")
        #expect(asked.status == 26, "\(asked.errors)")
        #expect(asked.errors.contains("identifies rows differently in 'unit'"))
        #expect(asked.errors.contains("grocerydude sync --accept-changes"))
        #expect(try phone.run("sync", "--accept-changes").status == 0)
        #expect(try desk.run("sync").status == 0)
        #expect(try desk.items() == phone.items())
        let broken = try program.sandbox.write("[", to: "broken.json")
        let unread = try desk.run("sync", "seed", "--map", broken.string, "--yes")
        #expect(unread.status == 1 && unread.errors.contains("broken.json' is not a map: "))
        #expect(!unread.errors.contains("malice"))
    }
}
