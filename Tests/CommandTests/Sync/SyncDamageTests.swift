import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Syncing stores that are damaged or cannot be read",
    .enabled(if: Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
)
struct SyncDamageTests {
    let program: Program
    let desk: SyncHome

    init() throws {
        program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        #expect(try desk.enable().status == 0)
    }

    /// The only store of an answer in JSON.
    private func store(_ arguments: String...) throws -> [String: Any] {
        let answer = try desk.run(arguments + ["--json"]).json as? [String: Any]
        return try #require((answer?["stores"] as? [[String: Any]])?.first)
    }

    @Test(
        "A sync reports files that are no longer stores",
        arguments: ["", "none", "folder"]
    )
    func noStore(content: String) throws {
        let kept = program.sandbox.path("kept.sqlite")
        try LocalFileSystem().move(desk.store, to: kept)
        if content == "folder" {
            try LocalFileSystem().createDirectory(desk.store)
        } else {
            try LocalFileSystem().write(Array(content.utf8), to: desk.store)
        }
        let outcome = try desk.run("sync")
        #expect(outcome.status == 20, "\(outcome.errors)")
        #expect(outcome.errors.contains("'Grocery-Dude.sqlite' takes part in 'grocery-dude'"))
        #expect(outcome.errors.contains("is no store any more"), "\(outcome.errors)")
        #expect(outcome.errors.contains("grocerydude sync disable --store Grocery-Dude.sqlite'"))
        #expect(try store("sync")["state"] as? String == "damaged")
        let status = try desk.run("sync", "status")
        #expect(status.text.contains("its file is damaged"), "\(status.text)")
        #expect(status.errors.contains("is no store any more"), "\(status.errors)")
        #expect(try store("sync", "status")["state"] as? String == "damaged")
        // Beside another store it is work that is done in part.
        let other = desk.stores.appending("b.sqlite")
        try Tool.check("sqlite3", [other.string, "CREATE TABLE a (x TEXT PRIMARY KEY)"])
        #expect(try desk.enable("--store", "b").status == 0)
        let part = try desk.run("sync")
        #expect(part.status == 3 && part.errors.contains("is no store any more"))
        let map = try program.sandbox.write("{}", to: "map.json").string
        let publish = ["sync", "seed", "--map", map, "--yes", "--store", "Grocery-Dude"]
        #expect(try desk.run(publish).status == 20)
        try LocalFileSystem().remove(desk.store)
        try LocalFileSystem().move(kept, to: desk.store)
        #expect(try desk.run("sync").status == 0)
    }

    @Test("A sync reports damage further on in a store, with a remedy")
    func damage() throws {
        try desk.run("items", "add", "Honey")
        try desk.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        let size = try FileInfo(of: desk.store).size
        let junk = [UInt8](repeating: 0x55, count: Int(size) - 4096)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: desk.store.string))
        try handle.seek(toOffset: 4096)
        try handle.write(contentsOf: Data(junk))
        try handle.close()
        let outcome = try desk.run("sync")
        #expect(outcome.status == 20, "\(outcome.errors)")
        #expect(outcome.errors.contains("the store 'Grocery-Dude.sqlite' is damaged"))
        #expect(outcome.errors.contains("hint: restore it with 'grocerydude restore'"))
        #expect(!outcome.errors.contains("--allow-damaged"))
        #expect(try store("sync")["state"] as? String == "damaged")
        #expect(try store("sync", "status")["state"] as? String == "damaged")
        let watch = try RunningTool(
            Program.path,
            ["sync", "watch", "--json"],
            environment: program.environment.merging(["HOME": desk.path.string]) { $1 }
        )
        let line = try #require(try watch.readLine())
        kill(watch.processIdentifier, SIGTERM)
        watch.wait()
        #expect(line.contains(#""state":"damaged""#), "\(line)")
    }

    @Test("A sync sends nothing of a store whose file ends within a page")
    func cut() throws {
        try desk.run("items", "add", "Honey")
        try desk.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        let whole = try File.contents(of: desk.store, limit: 1 << 30)
        try LocalFileSystem().write(Array(whole.dropLast(4000)), to: desk.store)
        let outcome = try desk.run("sync")
        #expect(outcome.status == 20, "\(outcome.errors)")
        #expect(outcome.errors.contains("its file ends within page"), "\(outcome.errors)")
        #expect(try store("sync", "status")["state"] as? String == "damaged")
    }

    @Test("A store whose file is gone does not show its earlier state")
    func gone() throws {
        try LocalFileSystem().remove(desk.store)
        let gone = try store("sync")
        #expect(gone["state"] as? String == "gone" && gone["error"] != nil)
        #expect(try store("sync", "status")["state"] as? String == "gone")
    }

    @Test("A sync reports a full disk", .enabled(if: SyncTroubleTests.mayMount))
    func fullDisk() throws {
        let phone = try SyncHome("phone", program)
        #expect(try phone.enable().status == 0)
        try phone.sql("INSERT INTO unit (id, name) VALUES ('u', hex(randomblob(300000)))")
        #expect(try phone.run("sync").status == 0)
        let copy = program.sandbox.path("copy")
        let command =
            "cp -a '\(desk.stores)' '\(copy)' && mount -t tmpfs -o size=400k none '\(desk.stores)' && cp -a '\(copy)/.' '\(desk.stores)' && exec \"$0\" \"$@\""
        let outcome = try Tool.run(
            "unshare",
            ["-m", "sh", "-c", command, Program.path, "sync"],
            environment: program.environment.merging(["HOME": desk.path.string]) { $1 },
            directory: program.sandbox.path
        )
        #expect(outcome.status == 23, "\(outcome.errors)")
        #expect(outcome.errors.contains("hint: free some space where 'Grocery-Dude.sqlite' is"))
    }
}

@Suite(
    "Sync without permissions, as an ordinary user",
    .enabled(
        if: OrdinaryUser.isPossible,
        "there is no setpriv, or the user 65534 may not run it"
    )
)
struct SyncPermissionTests {
    let program: Program
    let desk: SyncHome

    init() throws {
        program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        #expect(try desk.enable().status == 0)
        if OrdinaryUser.isRoot {
            try Tool.check("chown", ["-R", "65534:65534", program.sandbox.path.string])
        }
    }

    private func sync(_ arguments: String...) throws -> Tool.Outcome {
        try OrdinaryUser.run(
            ["sync"] + arguments,
            program.environment.merging(["HOME": desk.path.string]) { $1 }
        )
    }

    private func chmod(_ mode: String, _ path: FilePath) throws {
        try Tool.check("chmod", [mode, path.string])
    }

    @Test("A sync reports a store that it may not read")
    func store() throws {
        try chmod("000", desk.store)
        for outcome in [try sync(), try sync("status")] {
            let isOfRun = outcome.text.contains("failed")
            #expect(outcome.status == (isOfRun ? 1 : 0), "\(outcome.errors)")
            #expect(outcome.errors.contains("cannot be read: "), "\(outcome.errors)")
            #expect(outcome.errors.contains("permission denied"), "\(outcome.errors)")
        }
        try chmod("600", desk.store)
        #expect(try sync().status == 0)
    }

    @Test("A sync waits if it may not read or write the container", arguments: ["000", "555"])
    func container(mode: String) throws {
        try desk.sql("UPDATE item SET name = 'Honey' WHERE name = 'Milk'")
        let places = [desk.container, desk.container.appending("grocery-dude/log")]
        for place in places { try chmod(mode, place) }
        let outcome = try sync()
        #expect(outcome.status == 10, "\(outcome.errors)")
        #expect(outcome.errors.contains("permission denied"), "\(outcome.errors)")
        for place in places { try chmod("755", place) }
        #expect(try sync().status == 0)
    }
}
