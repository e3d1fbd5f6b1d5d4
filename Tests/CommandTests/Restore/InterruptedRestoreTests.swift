import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A restore is killed where the exchange is done and its end is not: by the application's own
/// `verify` command.
@Suite("Recovery after a killed restore")
struct InterruptedRestoreTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }
    private var store: FilePath { sandbox.path("Stores/Grocery-Dude.sqlite") }

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        let places = "stores: \(sandbox.path("Stores"))\nremote: \(sandbox.path("Remote"))\n"
        try program.configure(places)
        #expect(try program.run("backup").status == 0)
        #expect(try program.run("items", "add", "Quinces").status == 0)
        try program.configure(places + "hooks: {restore: {verify: 'kill -KILL $PPID'}}\n")
        let outcome = try program.run("restore", "latest", "--yes", "--no-safety-backup")
        #expect(outcome.status == 128 + SIGKILL)
        try program.configure(places)
        #expect(sandbox.exists("Stores_Old"))
    }

    // Expects commands to be refused, or to warn where they do without the stores, and all to stay.
    private func expectRefused(
        _ status: Int32,
        saying text: String,
        run: ([String]) throws -> Tool.Outcome
    ) throws {
        func paths() throws -> [String] {
            try sandbox.contents(of: ".").paths.filter { !$0.hasPrefix(".") }
        }
        let before = try paths()
        let arguments = [["backup"], ["restore", "latest", "--yes", "--force"]]
        for arguments in arguments {
            let outcome = try run(arguments)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            #expect(
                outcome.errors.contains("error: the interrupted restore of '"),
                "\(outcome.errors)"
            )
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
            let json = try run(arguments + ["--json"])
            #expect(json.status == status)
            let error = try #require(json.errors.split(separator: "\n").last)
            let object = try JSONSerialization.jsonObject(with: Data(error.utf8))
            #expect((object as? [String: Any])?["code"] as? Int32 == status, "\(error)")
        }
        let list = try run(["list"])
        #expect(list.status == 0)
        #expect(list.errors.contains("warning: the interrupted restore of '"), "\(list.errors)")
        #expect(try paths() == before)
    }

    @Test("A killed restore's data stays in place, and any command reports that")
    func finished() throws {
        #expect(try program.run("list").errors.contains("finished the restore"))
        #expect(!sandbox.exists("Stores_Old"))
        #expect(try !program.run("items").text.contains("Quinces"))
    }

    @Test("A damaged store in use stays in place with exit code 24 until it is closed")
    func damagedInUse() throws {
        let application = try StoreApplication(on: store, "SELECT * FROM sqlite_schema")
        let file = try FileHandle(forWritingTo: URL(filePath: store.string))
        try file.seek(toOffset: 100)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 3000))
        try file.close()
        try expectRefused(24, saying: "process \(application.processIdentifier)") {
            try program.run($0)
        }
        application.kill()
        #expect(try program.run("list").errors.contains("undid the restore"))
        #expect(try program.run("items").text.contains("Quinces"))
    }

    @Test(
        "A store that cannot be read stays in place with exit code 22 until it can",
        .enabled(if: OrdinaryUser.isRoot, "only for root does /proc look as if it took files")
    )
    func noScratch() throws {
        try leaveLog()
        try expectRefused(22, saying: "no such file") {
            try program.run($0, environment: ["TMPDIR": "/proc"])
        }
        #expect(try program.run("backup").status == 0)
        #expect(!sandbox.exists("Stores_Old"))
    }

    @Test(
        "A store that needs more space to be read stays with exit code 23 until there is space",
        .enabled(if: Namespace.mayMount, "this system or user may not mount")
    )
    func fullScratch() throws {
        try leaveLog()
        let scratch = try sandbox.directory(".scratch").string
        let script = "mount -t tmpfs -o size=16k none \(scratch) && exec \(Program.path) \"$@\""
        try expectRefused(23, saying: "no space") {
            try Tool.run(
                "unshare",
                ["-m", "sh", "-c", script, "sh"] + $0,
                environment: program.environment.merging(["TMPDIR": scratch]) { $1 },
                directory: sandbox.path
            )
        }
        #expect(try program.run("backup").status == 0)
    }

    /// Leaves the store as an application and a loss of power may: to see what is in its log takes a
    /// copy.
    private func leaveLog() throws {
        try StoreApplication(on: store, "PRAGMA journal_mode = wal", "CREATE TABLE more (x)").kill()
        try LocalFileSystem().remove(FilePath(store.string + "-shm"))
    }
}

@Suite("The application of a restore that was killed while it started")
struct InterruptedStartTests {
    @Test("The next command says once to start the application if a killed restore had stopped it")
    func rolledBack() throws {
        let program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        let sandbox = program.sandbox
        // It starts, is not well, and is stopped; and is killed with the restore when it starts again.
        try program.configure(
            """
            stores: \(sandbox.path("Stores"))
            remote: \(sandbox.path("Remote"))
            hooks:
              restore:
                stop: 'true'
                start: 'test ! -e unwell || kill -KILL $PPID'
                verify: 'touch unwell; false'

            """
        )
        #expect(try program.run("backup").status == 0)
        #expect(try program.run("items", "add", "Quinces").status == 0)
        let outcome = try program.run("restore", "latest", "--yes", "--no-safety-backup")
        #expect(outcome.status == 128 + SIGKILL)
        #expect(sandbox.exists("unwell") && sandbox.exists("Stores_FailedRestore"))
        let list = try program.run("list")
        #expect(list.errors.contains("which was interrupted: start it"), "\(list.errors)")
        #expect(!list.errors.contains("undid"))
        #expect(try program.run("items").text.contains("Quinces"))
        // There is only the line about the folder.
        #expect(try program.run("list").errors.split(separator: "\n").count == 1)
        #expect(!sandbox.exists(".Stores_Restore.json"))
    }
}
