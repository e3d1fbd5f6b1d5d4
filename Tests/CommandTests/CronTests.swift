import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// As cron runs things: no terminal, and next to nothing in the environment.
@Suite("Under cron")
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

    @Test("says nothing when all goes well, but its answer")
    func quiet() throws {
        let backup = try run("backup --quiet")
        #expect(backup.status == 0 && backup.errors == "")
        #expect(backup.text.split(separator: "\n").count == 1)
        let restore = try run("restore latest --yes --quiet")
        #expect(restore.status == 0 && restore.errors == "")
        #expect(try run("list --quiet").text.split(separator: "\n").count == 2)
        #expect(try run("delete latest --yes --quiet").errors == "")
    }

    @Test("says what failed in a line, and what to do in another")
    func failure() async throws {
        func expect(_ status: Int32, _ command: String) throws {
            let outcome = try run(command)
            let lines = outcome.errors.split(separator: "\n")
            #expect(outcome.status == status && outcome.output.isEmpty)
            #expect(lines.count == 2, "\(outcome.errors)")
            #expect(lines.first?.hasPrefix("grocerydude: error: ") == true)
            #expect(lines.last?.hasPrefix("grocerydude: hint: ") == true)
        }
        try expect(1, "backup --quiet --stores /nowhere")
        try expect(10, "backup --quiet --remote /nowhere")
        try expect(64, "backup --quiet --profile photos")
        try expect(64, "backup --quiet --frob")
        try expect(64, "delete latest --quiet || exit 64")
        let lock = try await FileLock.acquire(program.sandbox.path("Remote"))
        try expect(11, "backup --quiet")
        try expect(11, "backup --quiet --lock-wait 1s")
        withExtendedLifetime(lock) {}
    }

    @Test("needs no home in the environment")
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
        "tells of wrong use in JSON where JSON is wanted",
        arguments: [
            ("restore --json", "missing expected argument '<name>'", "restore"),
            ("--json frob", "unknown option '--json'", ""),
            ("backup --frob --json", "unknown option '--frob'", "backup"),
            ("backup --json --compression magic", "magic", "backup"),
            ("items add --json --quantity=-1 x", "cannot be -1.0", "items add"),
            ("items add '' --json", "an item needs a name", "items add"),
            ("backup --all-profiles --profile x --json", "exclude each other", "backup"),
            (
                "schedule install --schedule never --json", "'never' is no schedule",
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

    @Test("tells of wrong use in words where JSON is only the value of something")
    func usageInWords() throws {
        let outcome = try run("items add a b -- --json")
        #expect(outcome.status == 64)
        #expect(outcome.errors.hasPrefix("grocerydude: error: "), "\(outcome.errors)")
    }
}
