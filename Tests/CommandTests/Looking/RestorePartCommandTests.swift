import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// 'restore --only', as a person uses it.
@Suite("Files, directories and stores restored in place")
struct RestorePartCommandTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        try sandbox.directory("Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        for path in ["photos/1", "photos/deep/2", "note.txt", "a:b"] {
            try sandbox.write("old \(path)", to: "Stores/\(path)")
        }
        try sql(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name); INSERT INTO item VALUES (1, 'Milk'), (2, 'Tea')"
        )
        try Tool.check(
            "sqlite3",
            [sandbox.path("Stores/other.sqlite").string, "CREATE TABLE o (x)"]
        )
    }

    @discardableResult
    private func sql(_ text: String) throws -> String {
        try Tool.check("sqlite3", [sandbox.path("Stores/Shop.sqlite").string, text])
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try sandbox.read("Stores/\(path)"), as: UTF8.self)
    }

    private func change() throws {
        try program.expect("backup", "--quiet")
        try sql("DELETE FROM item WHERE id = 2")
        for path in ["photos/1", "photos/3", "note.txt", "a:b"] {
            try sandbox.write("new \(path)", to: "Stores/\(path)")
        }
        try LocalFileSystem().remove(sandbox.path("Stores/photos/deep"))
    }

    @Test("An undo of a part is refused if the last restore changed nothing of it")
    func undoOfAnother() throws {
        try change()
        try program.expect("restore", "latest", "--only", "note.txt", "--yes", "--quiet")
        try program.expect("restore", "latest", "--only", "photos/1", "--yes", "--quiet")
        let undo = ["restore", "--undo", "--yes", "--only"]
        let refused = try program.run(undo + ["note.txt"])
        #expect(refused.status == 10, "\(refused.errors)")
        #expect(refused.errors.contains("changed nothing of 'note.txt'"))
        #expect(try text("note.txt") == "old note.txt")
        #expect(try program.run(undo + ["photos/1"]).status == 0)
        #expect(try text("photos/1") == "new photos/1")
    }

    @Test("An absolute path names what is there in the stores directory, through links too")
    func absolutePaths() throws {
        try change()
        let stores = sandbox.path("Stores").string
        try LocalFileSystem().makeLink(at: sandbox.path("Link"), to: sandbox.path("Stores"))
        try program.expect("restore", "latest", "--only", "\(stores)/note.txt", "--yes")
        #expect(try text("note.txt") == "old note.txt")
        let lost = sandbox.path("Link/photos/deep/2").string
        try program.expect("restore", "latest", "--only", lost, "--yes")
        #expect(try text("photos/deep/2") == "old photos/deep/2")
        try program.expect("restore", "latest", "--only", "\(stores)/Shop.sqlite:item", "--yes")
        #expect(try sql("SELECT count(*) FROM item").hasPrefix("2"))
        for command in [
            ["show", "latest", "\(stores)/photos"],
            ["extract", "latest", "\(stores)/a:b", "--to", "-"],
            ["list", "--contains", "\(stores)/note.txt"],
            ["find", "Tea", "--store", "\(stores)/Shop.sqlite"],
            ["diff", "--store", "\(stores)/Shop.sqlite"],
            ["sql", "live", "SELECT 1", "--store", "\(stores)/Shop.sqlite"],
        ] { try program.expect(command) }
        #expect(
            try program.run("restore", "latest", "--only", stores, "--yes").errors
                .contains("'.' is the whole backup")
        )
        let away = try program.run("restore", "latest", "--only", "/etc/hosts", "--yes")
        #expect(away.status == 64 && away.errors.contains("'/etc/hosts' is not in the stores"))
        #expect(away.errors.contains("'grocerydude show latest --tree'"), "\(away.errors)")
    }

    @Test("A restore of a part is reported before and after, and can be undone")
    func words() throws {
        try change()
        let dry = try program.expect(
            "restore",
            "latest",
            "--only",
            "photos",
            "Shop.sqlite",
            "--dry-run"
        )
        #expect(dry.text.contains("would restore 'Shop.sqlite' and 1 more from '["))
        #expect(dry.text.contains("2 files") || dry.text.contains("3 files"))
        #expect(dry.text.contains("  item: 1 row comes back\n"), "\(dry.text)")
        // Not the note, which has changed too.
        #expect(
            dry.text.contains("  1 other file comes back, 1 is lost, 1 changes\n"),
            "\(dry.text)"
        )
        #expect(try text("photos/1") == "new photos/1")
        let done = try program.expect("restore", "latest", "--only", "photos", "--yes")
        #expect(done.text.hasPrefix("restored 'photos' from '["))
        #expect(done.errors.contains("to undo, run 'grocerydude restore"))
        #expect(!done.errors.contains("start the application"))
        #expect(
            try text("photos/deep/2") == "old photos/deep/2" && text("note.txt") == "new note.txt"
        )
        #expect(!sandbox.exists("Stores/photos/3"))
        let store = try program.expect(
            "restore",
            "latest",
            "--yes",
            "--json",
            "--only",
            "Shop.sqlite"
        )
        let answer = try #require(store.json as? [String: Any])
        #expect(answer["only"] as? [String] == ["Shop.sqlite"])
        #expect(answer["stores"] as? Int == 1 && answer["files"] as? Int == 1)
        #expect(try sql("SELECT count(*) FROM item") == "2\n")
        // The last of the two safety backups has the store as it was, and the photos as they are.
        try program.expect("restore", "--undo", "--only", "Shop.sqlite", "--yes")
        #expect(try sql("SELECT count(*) FROM item") == "1\n")
        #expect(try text("photos/1") == "old photos/1")
        #expect(!sandbox.exists("Stores/.grocerydude-restore"))
    }

    @Test("An undo removes files that were new, and the undo of the undo restores them")
    func undoneAgain() throws {
        try program.expect("backup", "--quiet")
        for path in ["note.txt", "photos", "other.sqlite"] {
            try LocalFileSystem().remove(sandbox.path("Stores/\(path)"))
        }
        let names = ["note.txt", "photos", "other.sqlite"]
        let done = try program.run(["restore", "latest", "--yes", "--only"] + names)
        #expect(done.errors.contains("to undo, run 'grocerydude restore"), "\(done.errors)")
        try sandbox.write("later", to: "Stores/later")
        // An undo without paths takes those of the last restore.
        let undo = ["restore", "--undo", "--yes"]
        #expect(try program.run(undo + ["--dry-run"]).text.contains("is lost"))
        #expect(try program.run(undo).status == 0)
        for name in names { #expect(!sandbox.exists("Stores/\(name)"), "\(name)") }
        #expect(try text("later") == "later")
        #expect(try program.run(undo).status == 0)
        #expect(try text("note.txt") == "old note.txt" && text("photos/1") == "old photos/1")
        #expect(sandbox.exists("Stores/other.sqlite"))
        // Any other restore leaves alone what its backup does not have.
        try program.expect("restore", "latest", "--only", "later", "--yes", status: 1)
        try program.expect("restore", "--undo", "--only", "nowhere", "--yes", status: 1)
    }

    @Test("An undo by the printed names removes the files with the directories that came with them")
    func printedNames() throws {
        let stores = sandbox.path("Stores")
        for name in ["line\nbreak", "\u{1}/f", "way/to/it"] {
            try sandbox.write("old", to: "Stores/\(name)")
        }
        // No text has this name.
        try Tool.check("sh", ["-c", "echo old > \"$0/$(printf 'n\\377')\"", stores.string])
        let bytes = try RelativePath(validating: Array("n".utf8) + [0xFF])
        try program.expect("backup", "--quiet")
        for name in ["line\nbreak", "\u{1}", "way"] {
            try LocalFileSystem().remove(sandbox.path("Stores/\(name)"))
        }
        try LocalFileSystem().remove(bytes.below(stores))
        let before = try sandbox.contents(of: "Stores").paths
        let printed = ["line\\nbreak", "n\\xFF", "\\u{1}/f", "way/to/it"]
        let done = try program.run(["restore", "latest", "--yes", "--only"] + printed)
        #expect(done.status == 0, "\(done.errors)")
        let undo = ["restore", "--undo", "--yes", "--only"] + printed
        let dry = try program.expect(undo + ["--dry-run"])
        #expect(dry.text.contains("would remove '") && !dry.text.contains("would restore"))
        let undone = try program.expect(undo)
        #expect(undone.text.contains("and 3 more, which were not there before"), "\(undone.text)")
        #expect(!undone.text.contains("restored") && !undone.errors.contains("0 files"))
        #expect(try sandbox.contents(of: "Stores").paths == before)
    }

    @Test("An undo that removes a file keeps its directory if that contains something else")
    func keptDirectory() throws {
        try sandbox.write("old", to: "Stores/way/to/it")
        try program.expect("backup", "--quiet")
        try LocalFileSystem().remove(sandbox.path("Stores/way"))
        try program.expect("restore", "latest", "--yes", "--only", "way/to/it")
        try sandbox.write("mine", to: "Stores/way/mine")
        let undone = try program.expect(
            "restore",
            "--undo",
            "--yes",
            "--only",
            "way/to/it",
            "--json"
        )
        let json = try undone.json as? [String: Any]
        #expect(json?["removed"] as? [String] == ["way/to/it"])
        #expect(!sandbox.exists("Stores/way/to"))
        #expect(try text("way/mine") == "mine")
    }

    @Test("The question about a part says what is replaced, and what stays")
    func asks() throws {
        try change()
        let refused = try program.expect(
            "restore",
            "latest",
            "--only",
            "photos",
            "note.txt",
            status: 64
        )
        #expect(refused.errors.contains("--yes"), "\(refused.errors)")
        #expect(try text("note.txt") == "new note.txt")
    }

    @Test(
        "A restored store never meets a log of another state, even behind a link or encrypted",
        arguments: ["Shop.sqlite", "raw"]
    )
    func logs(name: String) throws {
        let log: [UInt8] = [0x37, 0x7F, 0x06, 0x82] + [UInt8](repeating: 1, count: 60)
        try sandbox.write([UInt8](repeating: 0xAB, count: 4096), to: "Stores/raw")
        try program.expect("backup", "--quiet")
        try sandbox.write(log, to: "elsewhere")
        let path = "Stores/\(name)-wal"
        if name == "raw" {
            try sandbox.write(log, to: path)
        } else {
            try sandbox.link(path, to: "../elsewhere")
        }
        try sandbox.write("mine", to: "Stores/note.txt-journal")
        try sandbox.write("changed", to: "Stores/raw")
        try program.expect("restore", "latest", "--only", name, "raw", "note.txt", "--yes")
        #expect(!sandbox.exists(path))
        #expect(try sandbox.read("elsewhere") == log)
        #expect(try sandbox.read("Stores/raw") == [UInt8](repeating: 0xAB, count: 4096))
        #expect(try text("note.txt-journal") == "mine")
        #expect(try sql("SELECT count(*) FROM item") == "2\n")
        try program.expect("restore", "--undo", "--only", name, "--yes")
    }

    @Test("A file with the name of a table is restored if './' precedes the name")
    func colon() throws {
        try change()
        let hint = try program.expect("restore", "latest", "--only", "a:b", "--yes", status: 64)
        #expect(hint.errors.contains("write './a:b'"), "\(hint.errors)")
        try program.expect("restore", "latest", "--only", "./a:b", "--yes")
        #expect(try text("a:b") == "old a:b")
        let rows = try program.expect("restore", "latest", "--only", "Shop.sqlite:item", "--yes")
        #expect(rows.text.contains("row"), "\(rows.text)")
        #expect(try sql("SELECT count(*) FROM item") == "2\n")
        try program.sandbox.directory("Stores/d:e")
        try program.expect("backup", "--quiet")
        let other = try program.expect("restore", "latest", "--only", "d:e", "--yes", status: 64)
        #expect(other.errors.contains("write './d:e'"), "\(other.errors)")
    }

    @Test("A restore of parts that make no sense is refused with what is possible")
    func refusals() throws {
        try change()
        let before = try sandbox.contents(of: "Stores")
        for (arguments, status, text) in [
            (["--only", "photoz"], 1, "did you mean 'photos'?"),
            (["--only", "nothing at all"], 1, "'grocerydude show NAME --tree'"),
            (["--only", "."], 21, "leave out '--only'"),
            (["--only", "photos", "--target", "Out"], 64, "'grocerydude extract'"),
            (["--only", "photos", "--salvage"], 64, "'--salvage' goes with '--target'"),
            (["--only", "photos", "--rows", "item"], 64, "exclude each other"),
            (["--only", "photos", "--where", "1"], 64, "go with rows"),
            (["--only", "photos", "Shop.sqlite:item"], 64, "a file of that name is './Shop"),
            (["--only", "photos", "--store", "Shop.sqlite"], 64, "go with rows"),
        ] as [([String], Int32, String)] {
            let outcome = try program.run(["restore", "latest", "--yes"] + arguments)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            #expect(outcome.errors.contains(text), "\(arguments): \(outcome.errors)")
        }
        let dry = try program.expect("restore", "latest", "--only", ".", "--dry-run", status: 21)
        #expect(dry.errors.contains("leave out '--only'"), "\(dry.errors)")
        let near = try program.expect(
            "restore",
            "latest",
            "--only",
            "photoz",
            "--dry-run",
            status: 1
        )
        #expect(near.errors.contains("there is no 'photoz' in '["), "\(near.errors)")
        #expect(try sandbox.contents(of: "Stores") == before)
        #expect(!sandbox.exists("Out"))
    }

    @Test("A part of an encrypted backup is restored, and the safety backup is encrypted too")
    func encrypted() throws {
        let home = try EncryptedHome()
        #expect(try home.encrypt().status == 0)
        try home.program.sandbox.write("other", to: "Stores/noise")
        let arguments = ["restore", "latest", "--only", "noise", "--yes"]
        #expect(try home.program.run(arguments).status == 12)
        let done = try home.program.run(arguments + ["--identity", home.key])
        #expect(done.status == 0, "\(done.errors)")
        #expect(try home.program.sandbox.read("Stores/noise").count > 20_000)
        #expect(try home.leaks().isEmpty)
    }

    @Test("A part is restored from a foreign zip of the stores directory")
    func foreign() throws {
        try change()
        try sandbox.write("theirs", to: "In/Stores/photos/4")
        try sandbox.write("theirs", to: "In/Stores/note.txt")
        try Tool.check(
            "zip",
            ["-qr", sandbox.path("Remote/Theirs Stores.zip").string, "Stores"],
            directory: sandbox.path("In")
        )
        try sandbox.write(sandbox.read("Stores/Shop.sqlite"), to: "In/Stores/Shop.sqlite")
        try Tool.check(
            "zip",
            ["-qr", sandbox.path("Remote/Theirs Stores.zip").string, "Stores"],
            directory: sandbox.path("In")
        )
        let all = try program.expect("restore", "Theirs", "--dry-run")
        #expect(all.text.contains("3 files") && all.text.contains(", 1 store\n"), "\(all.text)")
        #expect(!all.text.contains("Shop.sqlite: is lost"), "\(all.text)")
        let dry = try program.expect("restore", "Theirs", "--only", "photos", "--dry-run")
        #expect(dry.text.contains("1 file") && dry.text.contains(", 0 stores\n"), "\(dry.text)")
        let outcome = try program.expect("restore", "Theirs", "--only", "photos", "--yes")
        #expect(outcome.errors.contains("is in a directory 'Stores'"))
        #expect(try sandbox.contents(of: "Stores/photos").paths == ["4"])
        #expect(try text("note.txt") == "new note.txt")
    }
}
