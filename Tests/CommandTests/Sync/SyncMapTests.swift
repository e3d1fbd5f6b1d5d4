import Files
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Maps that make two rows equal",
    .enabled(if: Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
)
struct SyncMapTests {
    let program: Program
    let desk: SyncHome
    let phone: SyncHome
    /// Identifies notes by their titles.
    let map: FilePath

    init() throws {
        program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        phone = try SyncHome("phone", program)
        map = try program.sandbox.write(
            #"{"tables": {"note": {"identity": ["title"]}}}"#,
            to: "map.json"
        )
        for home in [desk, phone] {
            try home.replaceStore("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, stars)")
        }
    }

    private func expectRefusal(_ outcome: Tool.Outcome) {
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(
            outcome.errors.contains("and two rows have the same values there"),
            "\(outcome.errors)"
        )
        #expect(outcome.errors.contains("or make one row of the two"), "\(outcome.errors)")
    }

    @Test(
        "A map that makes two rows equal is refused before anything is kept",
        arguments: [true, false]
    )
    func enable(isDryRun: Bool) throws {
        try desk.sql("INSERT INTO note VALUES (1, 'a', 1), (2, 'a', 2)")
        expectRefusal(try desk.enable("--map", map.string, isDryRun ? "--dry-run" : "--yes"))
        let state = desk.path.appending(".local/state/grocerydude/sync")
        let kept = try Tool.run("find", [state.string, "-name", "before*"]).text
        #expect(kept.isEmpty, "\(kept)")
        #expect(try Directory.open(desk.container).names().isEmpty)
        // A row that has none of these is not alike.
        try desk.sql("UPDATE note SET title = NULL")
        try desk.sql("INSERT INTO note VALUES (3, 'A', 1), (4, 'a', 1)")
        #expect(try desk.enable("--map", map.string).status == 0)
    }

    @Test("A map that makes two rows equal is not published")
    func publish() throws {
        try desk.sql("INSERT INTO note VALUES (1, 'a', 1), (2, 'a', 2)")
        #expect(try desk.enable().status == 0 && phone.enable().status == 0)
        let files = try Tool.check("find", [desk.container.string])
        expectRefusal(try desk.run("sync", "seed", "--map", map.string, "--yes"))
        #expect(try Tool.check("find", [desk.container.string]) == files)
        try desk.sql("UPDATE note SET title = 'b' WHERE id = 2")
        let seeded = try desk.run("sync", "seed", "--map", map.string, "--yes")
        #expect(seeded.status == 0, "\(seeded.errors)")
    }

    @Test(
        "A map that makes two rows equal is not accepted, whenever it arrives",
        arguments: [true, false]
    )
    func accept(asksFirst: Bool) throws {
        try desk.sql("INSERT INTO note VALUES (1, 'a', 1)")
        #expect(try desk.enable().status == 0 && phone.enable().status == 0)
        try phone.sql("INSERT INTO note VALUES (9, 'a', 9)")
        #expect(try desk.run("sync", "seed", "--map", map.string, "--yes").status == 0)
        if asksFirst { #expect(try phone.run("sync").status == 26) }
        for _ in 1...2 { expectRefusal(try phone.run("sync", "--accept-changes")) }
        let status = try phone.run("sync", "status").text
        #expect(status.contains("needs a decision"), "\(status)")
        #expect(try phone.run("sync").status == 26)
        try phone.sql("UPDATE note SET title = 'b' WHERE id = 9")
        let accepted = try phone.run("sync", "--accept-changes")
        #expect(accepted.status == 0, "\(accepted.errors)")
        #expect(try desk.run("sync").status == 0)
        for home in [desk, phone] {
            #expect(try home.sql("SELECT title FROM note ORDER BY title") == "a\nb\n")
        }
    }
}
