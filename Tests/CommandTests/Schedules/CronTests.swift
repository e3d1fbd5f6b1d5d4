import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// As cron runs things: no terminal, and next to nothing in the environment.
@Suite("Commands under cron")
struct CronTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: ".local/share/grocerydude/Stores", remote: "Remote")
        try program.configure("remote: ~/Remote\n")
    }

    private func run(_ command: String) throws -> Tool.Outcome {
        try Tool.run(
            "/usr/bin/env",
            [
                "-i", "HOME=\(program.sandbox.path)", "PATH=/usr/bin:/bin", "/bin/sh", "-c",
                "'\(Program.path)' \(command)",
            ]
        )
    }

    @Test("A command under cron writes nothing except its answer if all goes well")
    func quiet() throws {
        for command in [
            "items add Honey", "backup", "backup --skip-if-unchanged", "check", "pin latest",
            "pin --off latest", "backup --prune --keep-last 9", "prune --keep-last 1",
            "restore latest --yes", "delete latest --yes",
        ] {
            let outcome = try run("\(command) --quiet")
            #expect(outcome.status == 0 && outcome.output.isEmpty, "\(command)")
            #expect(outcome.errors == "", "\(command)")
        }
        let trash = try #require(try run("list --trash --json").json as? [[String: Any]])
        let name = try #require(trash.first?["name"] as? String)
        let undelete = try run("undelete '\(name)' --quiet")
        #expect(undelete.status == 0 && undelete.output.isEmpty && undelete.errors == "")
        for command in [
            "list", "status", "log", "show latest", "prune --keep-last 1 --dry-run", "config show",
            "delete latest --dry-run", "restore latest --dry-run", "items",
            "schedule install --schedule hourly --kind cron --dry-run", "backup --json",
        ] {
            let outcome = try run("\(command) --quiet")
            #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(command)")
            #expect(outcome.errors == "", "\(command)")
        }
    }

    @Test("A command under cron reports what a check found, and why nothing is removed")
    func quietTrouble() throws {
        let store = program.sandbox.path(".local/share/grocerydude/Stores/Grocery-Dude.sqlite")
        #expect(try run("backup --quiet").status == 0)
        try Tool.check(
            "sqlite3",
            [
                store.string,
                "DELETE FROM item; DELETE FROM unit; DELETE FROM location_at_shop; DELETE FROM given_identity",
            ]
        )
        #expect(try run("backup --quiet").status == 3)
        let prune = try run("prune --keep-last 1 --quiet")
        #expect(prune.status == 3 && prune.output.isEmpty)
        #expect(prune.errors.hasPrefix("grocerydude: warning: nothing is removed: "))
        #expect(try run("log --limit 1").text.contains("nothing is removed"))
        let restore = try run("restore latest --dry-run --quiet")
        #expect(restore.errors.contains("has much less in it than the backup before it"))

        let list = try #require(try run("list --json").json as? [[String: Any]])
        let archive = "Remote/\(try #require(list.first?["name"] as? String))"
        var bytes = try program.sandbox.read(archive)
        bytes[bytes.count / 4] ^= 1
        try program.sandbox.write(bytes, to: archive)
        let check = try run("check --quiet")
        #expect(check.status == 20 && check.text.contains("DAMAGED") && check.errors == "")
        #expect(try run("log --limit 1").text.contains("Grocery-Dude.sqlite"))
    }

    @Test("A quiet command under cron reports a failure and its remedy in one line")
    func failure() async throws {
        func expect(_ status: Int32, _ command: String) throws {
            let outcome = try run(command)
            let lines = outcome.errors.split(separator: "\n")
            #expect(outcome.status == status && outcome.output.isEmpty)
            #expect(lines.count == 1, "\(outcome.errors)")
            #expect(lines.first?.hasPrefix("grocerydude: error: ") == true)
            #expect(lines.first?.contains("; hint: ") == true)
            let more = try run(command.replacing("--quiet", with: "")).errors.split(separator: "\n")
            #expect(
                more.last?.hasPrefix("grocerydude: hint: ") == true || command.contains("-vq")
            )
        }
        try expect(1, "backup --quiet --stores /nowhere")
        try expect(10, "backup --quiet --remote /nowhere")
        try expect(64, "backup --quiet --profile photos")
        try expect(64, "backup --quiet --frob")
        try expect(64, "backup -vq --frob")
        try expect(64, "delete latest --quiet || exit 64")
        let lock = try await FileLock.acquire(program.sandbox.path("Remote"))
        try expect(11, "backup --quiet")
        try expect(11, "backup --quiet --lock-wait 1s")
        withExtendedLifetime(lock) {}
    }

    @Test("A command under cron needs no home in the environment")
    func noHome() throws {
        let outcome = try Tool.run(
            "/usr/bin/env",
            [
                "-i", Program.path, "config", "show", "--config",
                program.sandbox.path(Program.configuration).string,
            ]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.contains("/.local/share/grocerydude/Stores"))
    }

    @Test(
        "A command under cron reports wrong use in JSON if JSON is requested",
        arguments: [
            ("show --json", "missing expected argument '<name>'", "show"),
            ("--json frob", "unknown option '--json'", ""),
            ("backup --frob --json", "unknown option '--frob'", "backup"),
            ("backup --json --compression magic", "magic", "backup"),
            ("sample add --json x -- -1", "cannot be -1.0", "sample add"),
            ("sample add '' --json", "an item needs a name", "sample add"),
            ("backup --all-profiles --profile x --json", "exclude each other", "backup"),
            (
                "schedule install --schedule never --json", "'never' is not a schedule",
                "schedule install"
            ),
        ]
    )
    func usage(command: String, words: String, name: String) throws {
        let outcome = try run(command)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        let json = try JSONSerialization.jsonObject(with: Data(outcome.errors.utf8))
        let error = try #require(json as? [String: Any])
        #expect(error["message_type"] as? String == "error" && error["code"] as? Int == 64)
        let message = try #require(error["message"] as? String)
        #expect(message.contains(words) && !message.contains("\n"), "\(message)")
        #expect((error["hint"] as? String)?.hasPrefix("run 'grocerydude \(name)") == true)
    }

    @Test("A command under cron reports wrong use in words if JSON is only the value of an option")
    func usageInWords() throws {
        let outcome = try run("items add a b -- --json")
        #expect(outcome.status == 64)
        #expect(outcome.errors.hasPrefix("grocerydude: error: "), "\(outcome.errors)")
    }
}
