import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'restore --rows', and the reports of tables that have no rows of their own, as a person uses it.
@Suite("A restore of rows")
struct RowsBackTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        try sandbox.directory("Stores")
        try sandbox.directory("Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try sql(
            """
            CREATE VIRTUAL TABLE note USING fts5 (text); INSERT INTO note VALUES ('first note'), ('second');
            CREATE TABLE item (id INTEGER PRIMARY KEY, code UNIQUE);
            CREATE TABLE part (item REFERENCES item ON DELETE CASCADE);
            INSERT INTO item VALUES (2, 'a');
            """
        )
        try sandbox.write("old", to: "Stores/note.txt")
        try program.expect("backup", "--quiet")
    }

    @discardableResult
    private func sql(_ text: String) throws -> String {
        try Tool.check("sqlite3", [sandbox.path("Stores/Shop.sqlite").string, text])
    }

    private func bring(_ table: String, _ more: String..., status: Int32) throws -> Tool.Outcome {
        let arguments = ["restore", "latest", "--yes", "--rows", table]
        return try program.expect(arguments + more, status: status)
    }

    private func backups() throws -> Int { try sandbox.contents(of: "Remote").paths.count }

    @Test("A restore of rows refuses virtual tables, and the tables that keep their data")
    func shadows() throws {
        try sql("DELETE FROM note WHERE rowid = 1")
        let shadow = try bring("note_content", status: 1)
        #expect(shadow.errors.contains("holds the data of the virtual table 'note'"))
        #expect(shadow.errors.contains("--only STORE"))
        #expect(try bring("note", status: 1).errors.contains("is a virtual table"))
        #expect(try sql("INSERT INTO note(note) VALUES ('integrity-check')").isEmpty)
        let found = try program.expect("find", "--where", "note", "1", status: 1)
        #expect(found.errors.contains("is a virtual table"))
        #expect(try program.expect("find", "first").errors.contains("virtual table 'note'"))
    }

    @Test("A restore reports differences that are only in a search index, a schema or attributes")
    func preview() throws {
        try sql("INSERT INTO note VALUES ('new')")
        let index = try program.expect("restore", "latest", "--dry-run").text
        #expect(index.contains("  the search index 'note' differs\n"), "\(index)")
        try sql("CREATE VIEW v AS SELECT 1; CREATE INDEX i ON part (item)")
        try Tool.check("chmod", ["604", sandbox.path("Stores/note.txt").string])
        try sandbox.directory("Stores/empty")
        let all = try program.expect("restore", "latest", "--dry-run").text
        for line in [
            "the view 'v' is lost", "the index 'i' is lost", "1 directory is lost",
            "1 name gets another mode, owner or time",
        ] { #expect(all.contains("  \(line)\n"), "\(all)") }
    }

    @Test(
        "A restore of rows names what it deletes, and its undo changes only its store"
    )
    func rivals() throws {
        try sql(
            "DELETE FROM item; INSERT INTO item VALUES (20, 'a'); INSERT INTO part VALUES (20), (20)"
        )
        let dry = try bring("item", "--on-conflict", "replace", "--dry-run", status: 0)
        #expect(
            dry.errors.contains("would be deleted: id = 20; triggers and foreign keys also remove")
        )
        let done = try bring("item", "--on-conflict", "replace", status: 0)
        #expect(done.errors.contains("1 other row with its unique values was deleted: id = 20"))
        #expect(done.errors.contains("2 of 'part'"), "\(done.errors)")
        #expect(done.errors.contains("to undo, run 'grocerydude restore"))
        try sandbox.write("later", to: "Stores/note.txt")
        try program.expect("restore", "--undo", "--yes")
        #expect(try sql("SELECT id FROM item; SELECT count(*) FROM part") == "20\n2\n")
        #expect(try sandbox.read("Stores/note.txt") == Array("later".utf8))
    }

    @Test("A restore of rows that brings none back is no restore to undo")
    func nothing() throws {
        try sandbox.write("new", to: "Stores/note.txt")
        try program.expect("restore", "latest", "--yes")
        #expect(try bring("item", status: 0).text.contains("0 rows back"))
        try program.expect("restore", "--undo", "--yes")
        #expect(try sandbox.read("Stores/note.txt") == Array("new".utf8))
    }

    @Test("Rows are restored once even if the columns convert their values")
    func conversion() throws {
        try sql("CREATE TABLE log (id INTEGER, size REAL); INSERT INTO log VALUES (1, 2), (2, 3)")
        try program.expect("backup", "--quiet")
        try sql("DROP TABLE log; CREATE TABLE log (id TEXT, size INTEGER)")
        #expect(try bring("log", status: 0).text.contains("2 rows back"))
        #expect(try bring("log", status: 0).text.contains("0 rows back, 2 there already"))
        #expect(try sql("SELECT quote(id), size FROM log") == "'1'|2\n'2'|3\n")
    }

    @Test("A failed restore of rows leaves no backup that an undo would restore")
    func failures() throws {
        try sql("DELETE FROM item")
        try program.expect("restore", "latest", "--yes")
        try sql(
            "DELETE FROM item; CREATE TRIGGER r BEFORE INSERT ON item BEGIN SELECT raise(ABORT, 'not this'); END"
        )
        let count = try backups()
        #expect(try bring("item", status: 1).errors.contains("not this"))
        #expect(try bring("item", "--dry-run", status: 1).errors.contains("not this"))
        #expect(try backups() == count)
        try program.expect("restore", "--undo", "--yes")
        #expect(try sql("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") == "0\n")
    }

    @Test(
        "A restore of rows refuses unknown names and suggests the nearest, and needs the store"
    )
    func names() throws {
        #expect(
            try bring("item", "--where", "cde = 1", status: 64).errors.contains(
                "did you mean 'code'?"
            )
        )
        #expect(
            try bring("item", "--where", "1); DELETE FROM item; --", status: 64).errors
                .contains("there is more behind it")
        )
        #expect(
            try program.expect("sql", "latest", "--store", "shop", "SELECT 1", status: 1).errors
                .contains("did you mean 'Shop.sqlite'?")
        )
        let name = try #require(
            (try program.expect("list", "--json").json as? [[String: Any]])?.first
        )
        let shown = try #require(name["display_name"] as? String)
        let near = try program.expect("show", String(shown.dropLast()) + "N", status: 10)
        #expect(near.errors.contains("did you mean '\(shown)'?"), "\(near.errors)")
        try LocalFileSystem().remove(sandbox.path("Stores/Shop.sqlite"))
        #expect(try bring("item", status: 1).errors.contains("--only Shop.sqlite'"))
    }

    @Test("A restore of rows is refused while another process writes the store")
    func writers() throws {
        let application = try StoreApplication(
            on: sandbox.path("Stores/Shop.sqlite"),
            "BEGIN IMMEDIATE"
        )
        defer { application.kill() }
        #expect(try bring("item", status: 24).errors.contains("lets nobody else write it"))
    }

    @Test(
        "Restored rows bring files in directories, with modes, times and, for root, owners"
    )
    func files() throws {
        let name = "5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"
        let directory = sandbox.path("Stores/.Shop_SUPPORT")
        let path = try sandbox.write("photo", to: "Stores/.Shop_SUPPORT/_EXTERNAL_DATA/\(name)")
        let isRoot = try Tool.check("id", ["-u"]) == "0\n"
        if isRoot { try Tool.check("chown", ["-R", "12:34", directory.string]) }
        try Tool.check("chmod", ["750", directory.string])
        try Tool.check("touch", ["-d", "2020-01-01", path.string, directory.string])
        let value = "02" + Data(name.utf8).map { String($0, radix: 16) }.joined() + "00"
        try sql("INSERT INTO item VALUES (4, X'\(value)')")
        try program.expect("backup", "--quiet")
        let before = try [path, directory].map { try FileInfo(of: $0) }
        try sql("DELETE FROM item WHERE id = 4")
        try LocalFileSystem().remove(directory)
        _ = try bring("item", "--where", "id = 4", status: 0)
        for (path, old) in zip([path, directory], before) {
            let new = try FileInfo(of: path)
            #expect(new.mode == old.mode && new.modified == old.modified, "\(path)")
            #expect(new.owner == old.owner && new.group == old.group, "\(path)")
        }
        #expect(
            try Tool.check("ls", ["-A", sandbox.path("Stores").string]).contains("scratch") == false
        )
    }

    @Test("The README's commands find and restore rows as they are written there")
    func readme() throws {
        let file = Fixtures.path.removingLastComponent().appending("README.md")
        let text = String(decoding: try File.contents(of: file, limit: 1 << 20), as: UTF8.self)
        let section = try #require(text.components(separatedBy: "\n## What changed").last)
            .components(separatedBy: "\n## ")[0]
        let lines = section.split(separator: "\n").filter { $0.hasPrefix("$ ") }
        let commands = lines.map { $0.dropFirst(2).components(separatedBy: "   #")[0] }
        #expect(commands.count == 9)
        try LocalFileSystem().remove(sandbox.path(Program.configuration))
        let home = ["init --test-data", "backup", "restore latest --yes"].map {
            "grocerydude \($0)"
        }
        for command in home + commands where !command.contains(" mount ") {
            let line = command.replacing("restore latest -", with: "restore latest --yes -")
                .replacing("/tmp", with: "\"$HOME\"")
                .replacing("--yes --yes", with: "--yes")
            let outcome = try Tool.run(
                "sh",
                ["-c", "grocerydude() { \"\(Program.path)\" \"$@\"; }; \(line)"],
                environment: program.environment,
                directory: sandbox.path
            )
            #expect(outcome.status == 0, "\(line): \(outcome.errors)")
        }
        #expect(commands.last?.hasPrefix("mkdir -p ~/backups && ") == true)
    }
}
