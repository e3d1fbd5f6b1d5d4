import Files
import Foundation
import Sample
import SystemPackage
import TestSupport
import Testing

/// A restore as a person meets it: its questions, its steps, and its last words.
@Suite("The restore command")
struct RestoreCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.sandbox.directory("Remote")
    }

    private var places: [String: String] {
        ["GROCERYDUDE_STORES": "Stores", "GROCERYDUDE_REMOTE": "Remote"]
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome {
        try program.run(arguments, environment: places)
    }

    /// Runs it on a terminal of its own (script(1)), and returns all that it writes.
    private func runOnTerminal(_ line: String, answering answers: String) throws -> String {
        let command = "\(Program.path) \(line)"
        let outcome = try Tool.run(
            "/bin/sh",
            ["-c", "printf '\(answers)' | script -qec \"$0\" /dev/null", command],
            environment: program.environment.merging(places) { $1 },
            directory: program.sandbox.path
        )
        return String(decoding: outcome.output, as: UTF8.self)
    }

    @Test(
        "Restore asks before it replaces much data by little, and accepts a refusal",
        .enabled(if: Tool.isInstalled("script"), "script(1) is not installed")
    )
    func asks() throws {
        #expect(try run("init", "--test-data").status == 0)
        let (full, empty) = (program.sandbox.path("Full"), program.sandbox.path("Stores"))
        try LocalFileSystem().move(empty, to: full)
        #expect(try run("init").status == 0)
        let store = try GroceryStore(in: empty)
        for item in try store.items() { _ = try store.remove(name: item.name) }
        #expect(try run("backup").status == 0)
        try LocalFileSystem().remove(empty)
        try LocalFileSystem().move(full, to: empty)
        let words = "has much less than what is there now: 'Grocery-Dude.sqlite' has "
        let declined = try runOnTerminal("restore latest", answering: "y\\nn\\n")
        #expect(declined.contains(words) && declined.contains("Restore it anyway? [y/N]"))
        #expect(declined.contains("nothing was changed"))
        #expect(try GroceryStore(in: empty).items().count > 100)
        let accepted = try run("restore", "latest", "--yes")
        #expect(accepted.status == 0 && accepted.errors.contains("warning: "))
        #expect(accepted.errors.contains(words))
    }

    @Test(
        "Files that a column names come back with their store, and with its rows",
        arguments: [["--only", "app.sqlite"], ["--rows", "photo", "--where", "id = 1"]]
    )
    func externalFiles(part: [String]) throws {
        let sandbox = program.sandbox
        try program.configure("external_files: 'photo.file of app.sqlite in photos/large'\n")
        for number in 0..<3 {
            try sandbox.write("picture \(number)", to: "Stores/photos/large/\(number).jpg")
        }
        try sandbox.write("other", to: "Stores/photos/other.jpg")
        let store = sandbox.path("Stores/app.sqlite")
        try StoreApplication(
            on: store,
            "CREATE TABLE photo (id INTEGER PRIMARY KEY, file)",
            "INSERT INTO photo VALUES (0, '0.jpg'), (1, '1.jpg'), (2, '2.jpg')"
        ).end()
        #expect(try run("backup").status == 0)
        try StoreApplication(on: store, "DELETE FROM photo WHERE id > 0").end()
        try LocalFileSystem().remove(sandbox.path("Stores/photos"))
        let outcome = try program.run(
            ["restore", "latest", "--yes"] + part,
            environment: places
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        let all = part[0] == "--only" ? ["0.jpg", "1.jpg", "2.jpg"] : ["1.jpg"]
        let names = try Directory.open(sandbox.path("Stores/photos/large")).names()
        #expect(names.map(\.description) == all)
        #expect(
            try String(decoding: sandbox.read("Stores/photos/large/1.jpg"), as: UTF8.self)
                == "picture 1"
        )
        #expect(!sandbox.exists("Stores/photos/other.jpg"))
    }

    @Test("Restore names its folder and the next step, and each step in verbose mode")
    func words() throws {
        #expect(try run("init").status == 0)
        let backup = try run("backup")
        let remote = program.sandbox.path("Remote").string
        #expect(backup.errors.contains("in '\(remote)' (1 backup)"))
        let restore = try run("restore", "latest", "--yes")
        #expect(restore.errors.contains("from '\(remote)' (2 backups)"))
        #expect(restore.errors.contains("restart the application"))
        #expect(!restore.errors.contains("renamed"))
        let verbose = try run("restore", "latest", "--yes", "--verbose")
        #expect(verbose.errors.contains("exchanged '") || verbose.errors.contains("renamed '"))
        #expect(verbose.errors.contains("Stores_New' to 'Stores_Old'"))
        #expect(!verbose.errors.contains("flushed"))
        let debug = try run("restore", "latest", "--yes", "-vv")
        #expect(debug.errors.contains("flushed"))
        #expect(try run("restore", "latest", "--yes", "--quiet").errors == "")
    }

    @Test("Restore names the processes with replaced files open after a forced restore")
    func stillOpen() throws {
        #expect(try run("init").status == 0)
        #expect(try run("backup").status == 0)
        let path = program.sandbox.path("Stores").appending(GroceryStore.fileName)
        let application = try StoreApplication(on: path, "SELECT * FROM item")
        let restore = try run("restore", "latest", "--yes", "--force")
        let words = "process \(application.processIdentifier) (StoreWriter"
        #expect(restore.status == 0)
        #expect(restore.errors.contains(words), "\(restore.errors)")
        #expect(restore.errors.contains("still has a replaced store open"))
        application.kill()
    }

    @Test("An undo is refused if the last restore made no safety backup")
    func undoWithoutSafety() throws {
        #expect(try run("init").status == 0)
        #expect(try run("backup").status == 0)
        #expect(try run("restore", "latest", "--yes").status == 0)
        #expect(try run("restore", "--undo", "--yes").status == 0)
        // The safety backup of the undo is the newest one, and is older than the next restore.
        let undone = Date()
        while Date().timeIntervalSince(undone) < 2 { usleep(100_000) }
        #expect(try run("restore", "latest", "--yes", "--no-safety-backup").status == 0)
        let refused = try run("restore", "--undo", "--yes")
        #expect(refused.status == 10, "\(refused.errors)")
        #expect(refused.errors.contains("made no safety backup: it cannot be undone"))
        #expect(refused.errors.contains("grocerydude restore '["))
    }

    @Test("Restore takes either a name or '--undo'")
    func usage() throws {
        #expect(try run("init").status == 0)
        #expect(try run("backup").status == 0)
        #expect(try run("restore", "latest", "--undo", "--yes").status == 64)
        let none = try run("restore", "--undo", "--yes")
        #expect(none.status == 10 && none.errors.contains("no restore to undo"))
        #expect(
            try run("restore", "latest", "--yes", "--set", "restore.strip_components=-1").status
                == 64
        )
    }
}
