import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The log, status and metrics of the built program.
@Suite("The program's runs")
struct ProgramRunTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("Remote")
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome {
        try Tool.run(
            Tool.product("grocerydude"),
            arguments,
            environment: [
                "HOME": sandbox.path.string, "TZ": "UTC", "XDG_DATA_HOME": "",
                "XDG_CACHE_HOME": "", "XDG_STATE_HOME": sandbox.path("State").string,
                "GROCERYDUDE_STORES": sandbox.path("Stores").string,
                "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
            ]
        )
    }

    private func json(_ outcome: Tool.Outcome) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(outcome.output))
    }

    @Test("Runs are logged with any result, and log and status show them")
    func log() throws {
        #expect(try run("log").errors.contains("nothing was logged yet"))
        #expect(try run("backup").status == 1)
        #expect(try run("init").status == 0)
        let name = try run("backup").text.dropLast()
        #expect(try run("restore", "latest", "--yes").status == 0)
        // A rehearsal is no run.
        #expect(try run("restore", "latest", "--dry-run").status == 0)
        let text = try run("log").text.split(separator: "\n")
        #expect(text.count == 3)
        #expect(text[0].contains("restore  done") && text[0].contains(name))
        #expect(text[1].contains("backup   done"))
        #expect(text[2].contains("failed 1") && text[2].contains("there is no stores directory"))
        let entries = try #require(try json(run("log", "--json")) as? [[String: Any]])
        #expect(entries.map { $0["exit_code"] as? Int } == [0, 0, 1])
        #expect(entries[1]["backup"] as? String == String(name))
        #expect((entries[1]["size"] as? Int ?? 0) > 0 && (entries[1]["bytes"] as? Int ?? 0) > 0)
        #expect(try run("log", "--limit", "1", "--command", "backup").text.contains("done"))
        #expect(try run("log", "--limit", "0").status == 64)
        let status = try #require(try json(run("status", "--json")) as? [String: Any])
        #expect(status["backups"] as? Int == 2)
        #expect((status["last_run"] as? [String: Any])?["command"] as? String == "restore")
        #expect((status["last_backup"] as? [String: Any])?["exit_code"] as? Int == 0)
    }

    @Test(
        "A log that finds no space ends with the exit code of that",
        .enabled(if: Tool.isInstalled("strace"), "strace is not installed")
    )
    func fullDisk() throws {
        // A run that found no space left it empty.
        let path = try sandbox.write("", to: "State/grocerydude/log.sqlite").string
        let outcome = try Tool.run(
            "strace",
            [
                "-f", "-o", "/dev/null", "-P", path, "-e", "inject=pwrite64:error=ENOSPC",
                Tool.product("grocerydude"), "log",
            ],
            environment: [
                "HOME": sandbox.path.string, "XDG_STATE_HOME": sandbox.path("State").string,
            ]
        )
        #expect(outcome.status == 23, "\(outcome.errors)")
        #expect(outcome.errors.contains("hint: free some space where '"), "\(outcome.errors)")
    }

    @Test("The status reports whether the newest backup is fresh")
    func freshness() throws {
        #expect(try run("init").status == 0)
        #expect(try run("status").status == 0)
        let none = try run("status", "--max-age", "26h")
        #expect(none.status == 25)
        #expect(none.text.contains("none that is good"))
        #expect(try run("backup").status == 0)
        #expect(try run("status", "--max-age", "26h").status == 0)
        #expect(try run("status", "--max-age", "0s").status == 25)
        let answer = try #require(
            try json(run("status", "--max-age", "0s", "--json")) as? [String: Any]
        )
        #expect(answer["is_fresh"] as? Bool == false)
        #expect(try run("status", "--remote", sandbox.path("No").string).status == 10)
    }

    @Test("Runs write metrics, also of a failed backup, and succeed if these cannot be written")
    func metrics() throws {
        let file = sandbox.path("metrics.prom").string
        #expect(try run("backup", "--set", "metrics_file=\(file)").status == 1)
        var text = String(decoding: try sandbox.read("metrics.prom"), as: UTF8.self)
        #expect(text.contains("grocerydude_last_run_exit_code{command=\"backup\""))
        #expect(text.contains("} 1\n"))
        #expect(try run("init").status == 0)
        #expect(try run("backup", "--set", "metrics_file=\(file)").status == 0)
        text = String(decoding: try sandbox.read("metrics.prom"), as: UTF8.self)
        #expect(text.contains("grocerydude_last_run_success{command=\"backup\""))
        #expect(text.contains("grocerydude_backups{"))
        let nowhere = sandbox.path("missing/metrics.prom").string
        let outcome = try run("backup", "--quiet", "--set", "metrics_file=\(nowhere)")
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("warning: the metrics were not written"))
    }

    @Test("Runs succeed if their log cannot be written, and report that only in verbose mode")
    func unwritableLog() throws {
        #expect(try run("init").status == 0)
        try sandbox.write("in the way", to: "State")
        // No key can be kept there either, so the backups are not signed.
        let quiet = try run("backup")
        #expect(quiet.status == 3 && quiet.errors.contains("is not signed"), "\(quiet.errors)")
        #expect(!quiet.errors.contains("log"))
        let verbose = try run("backup", "--verbose")
        #expect(verbose.status == 3)
        #expect(verbose.errors.contains("warning: this run was not logged"))
    }
}
