import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Every answer in JSON, held to its schema in Documentation/Schemas.
@Suite("JSON answers")
struct SchemaTests {
    private let sandbox: Sandbox
    private static let schemas = URL(filePath: Fixtures.repository.string)
        .appending(path: "Documentation/Schemas")

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("Remote")
    }

    @discardableResult
    private func run(
        _ schema: String,
        _ arguments: String...,
        status: Int32 = 0,
        lines: Int = 1
    ) throws -> Tool.Outcome {
        try run(schema, arguments, status: status, lines: lines)
    }

    @discardableResult
    private func run(
        _ schema: String,
        _ arguments: [String],
        status: Int32 = 0,
        lines: Int = 1
    ) throws -> Tool.Outcome {
        let surroundings = [
            "HOME": sandbox.path.string, "TZ": "Asia/Kathmandu", "XDG_DATA_HOME": "",
            "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "",
        ]
        let outcome = try Tool.run(
            Tool.product("grocerydude"),
            arguments + ["--json"],
            environment: surroundings
        )
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        let output = outcome.output.split(separator: UInt8(ascii: "\n")).map(Array.init)
        #expect(output.count == lines, "\(arguments)")
        if let first = output.first { try expect(first, schema, arguments) }
        for line in outcome.errors.split(separator: "\n") {
            try expect(Array(line.utf8), "message", arguments)
        }
        return outcome
    }

    private func expect(_ json: [UInt8], _ schema: String, _ arguments: [String]) throws {
        let file = Self.schemas.appending(path: "\(schema).json")
        let faults = try JSONSchema(contentsOf: file.path).faults(in: json)
        #expect(faults.isEmpty, "\(arguments)")
    }

    private func configure() throws {
        try sandbox.write(
            """
            profiles:
              home:
                stores: ~/Stores
                remote: ~/Remote
                schedule: daily 03:30
                check:
                  schedule: weekly sun 04:00
                retention:
                  keep_last: 1

            """,
            to: ".config/grocerydude/config.yaml"
        )
    }

    @Test("The JSON answers of every command match their schemas")
    func everyCommand() throws {
        try configure()
        try run("init", "init")
        try run("items-add", "items", "add", "Honey")
        try run("items-show", "items", "show")
        try run("items-export", "items", "export", sandbox.path("items.json").string)
        try run("items-remove", "items", "remove", "Honey")
        try run("items-import", "items", "import", sandbox.path("items.json").string)
        try expect(try sandbox.read("items.json"), "items-file", ["items export"])
        try run("init", "init", "--update")
        let old = sandbox.path("Stores").string
        try run("init", "init", "--stores", sandbox.path("Copy").string, "--from", old)
        try run("backup-dry-run", "backup", "--dry-run")
        try run("backup", "backup", "--tag", "a", "--note", "first")
        try run("backup", "backup", "--skip-if-unchanged")
        try run("backup", "backup", "--all-profiles")
        try sandbox.write("My", to: "Remote/My Stores.zip")
        try run("check", "check", "latest")
        try run("check", "check", "--all", "--read-data-subset", "next/2", status: 20)
        try run("list", "list")
        try run("list-growth", "list", "--growth")
        try run("show", "show", "latest")
        try run("show", "show", "latest", "Grocery-Dude.sqlite")
        try run("show", "show", "live")
        try run("list", "list", "--contains", "Grocery-Dude.sqlite", status: 3)
        try run("sql", "sql", "latest", "SELECT * FROM item")
        try run("sql", "sql", "live", "SELECT 1; SELECT x'00', NULL", lines: 2)
        let out = sandbox.path("Out").string
        try run("extract", "extract", "latest", "Grocery-Dude.sqlite", "--to", out)
        try run("pin", "pin", "latest")
        try run("pin", "pin", "latest", "--off")
        try run("prune", "prune", "--dry-run")
        try sandbox.directory("Other")
        let other = sandbox.path("Other").string
        try run("copy", "copy", "--all", "--to", other, status: 3)
        try run("copy", "copy", "latest", "--to", other)
        let fetched = try run(
            "copy-file",
            "copy",
            "latest",
            "--to",
            sandbox.path("Copied.zip").string
        )
        let file = try #require((fetched.json as? [String: Any])?["path"] as? String)
        try run("import", "import", file, "--remote", other)
        let pruned = try run("backup", "backup", "--prune", lines: 2)
        let second = try #require(pruned.output.split(separator: UInt8(ascii: "\n")).last)
        try expect(Array(second), "prune", ["backup --prune"])
        let trash = try run("list-trash", "list", "--trash")
        let removed = try #require((trash.json as? [[String: Any]])?.first)
        try run("undelete", "undelete", try #require(removed["name"] as? String))
        try run("delete", "delete", "latest", "--dry-run")
        try run("restore", "restore", "latest", "--dry-run")
        try run("items-add", "items", "add", "Jam")
        let differences = try run("diff", "diff", "--rows", lines: 4)
        for line in differences.output.split(separator: UInt8(ascii: "\n")) {
            try expect(Array(line), "diff", ["diff"])
        }
        try run("diff", "diff", "--sql", lines: 7)
        let found = try run("find", "find", "jam", lines: 2)
        for line in found.output.split(separator: UInt8(ascii: "\n")) {
            try expect(Array(line), "find", ["find"])
        }
        try run("restore-rows", "restore", "latest", "--rows", "item", "--yes")
        try run("restore", "restore", "latest", "--yes")
        try run("restore", "restore", "latest", "--only", "Grocery-Dude.sqlite", "--dry-run")
        try run("restore", "restore", "latest", "--only", "Grocery-Dude.sqlite", "--yes")
        try run("delete", "delete", "latest", "--yes")
        try run("status", "status")
        try run("status", "status", "--set", "suspended=moving house")
        try run("backup", "backup", "--set", "suspended=moving house", status: 75, lines: 0)
        try run("report", "report", "--html", sandbox.path("report.html").string)
        let away = sandbox.path("Away").string
        try run("backup", "backup", "--set", "queue=true", "--remote", away)
        try run("list", "list", "--remote", away, status: 10)
        try sandbox.directory("Away")
        try run("copy-waiting", "copy", "--waiting", "--remote", away)
        try run("log", "log")
        let nowhere = "notify=http://127.0.0.1:1/topic"
        try run("notify-test", "notify", "test", "--set", nowhere, status: 1)
        try run("notify-missed", "notify", "missed")
        let key = sandbox.path("key.txt").string
        try run("key-generate", "key", "generate", "--output", key)
        let named = ["--identity", key]
        try run("key-list", ["key", "list"] + named)
        try run("key-print", ["key", "print"] + named)
        try run("key-check", ["key", "check", "--all"] + named)
        let made = try run("key-list", ["key", "list"] + named)
        let recipients = (try made.json as? [String: Any])?["identities"] as? [String]
        let recipient = ["--recipient", try #require(recipients?.first)]
        try run("key-rotate", ["key", "rotate"] + named + recipient)
        try run("config-show", "config", "show")
        try run("config-validate", "config", "validate")
        try run("schedule-show", "schedule", "show")
        try run("schedule-install", "schedule", "install", "--dry-run", "--kind", "cron")
        let units = ["--kind", "systemd-user", "--no-enable"]
        try run("schedule-install", ["schedule", "install"] + units)
        try run("schedule-show", "schedule", "show")
        try run("setup", "setup", "--no-encrypt", "--dry-run")
        try run("link-check", "link", "--check")
        try run("link-check", "link", "Nowhere", "--check", status: 10)
        // A folder that a person has set is the person's to unlink.
        let own = ".config/grocerydude/config.yaml"
        let yaml = String(decoding: try sandbox.read(own), as: UTF8.self)
        try sandbox.write(yaml.replacing("    remote: ~/Remote\n", with: ""), to: own)
        try run("link", "link", sandbox.path("Remote").string)
        try run("link", "link", sandbox.path("Remote").string)
        try run("link", "link", sandbox.path("Other").string, "--replace")
        try run("unlink", "unlink", "--yes", "--no-enable")
        try run("unlink", "unlink", "--dry-run")
        let shared = sandbox.path("Shared").string
        try sandbox.directory("Shared")
        let enable = ["sync", "enable", "--container", shared]
        try run("sync-map", "sync", "map")
        try run("sync-enable", enable + ["--dry-run"])
        try run("sync-enable", enable + ["--yes"])
        try run("sync-run", "sync")
        try run("sync-status", "sync", "status")
        try run("sync-conflicts", "sync", "conflicts")
        try run("sync-conflicts-clear", "sync", "conflicts", "clear")
        try run("sync-disable", "sync", "disable", "--yes")
        try run("schedule-remove", "schedule", "remove", "--dry-run", "--kind", "systemd-user")
    }

    @Test("The JSON answers about increments match their schemas")
    func increments() throws {
        try configure()
        try run("init", "init")
        // For less than this, a whole backup is as good.
        var random = Pseudorandom(seed: 14)
        try sandbox.write(random.bytes(18 << 20), to: "Stores/large")
        try run("backup", "backup", "--incremental")
        try sandbox.write("later", to: "Stores/note")
        let made = try run("backup", "backup", "--incremental")
        let name = try #require((made.json as? [String: Any])?["name"] as? String)
        try #require(name.hasSuffix(" Changes.zip"))
        try run("list", "list")
        try run("show", "show", name)
        try run("delete", "delete", "latest", "--dry-run")
        try sandbox.directory("Fetched")
        let target = sandbox.path("Fetched").string
        try run("copy-file", "copy", name, "--to", target + "/Changes.zip")
        #expect(try Directory.open(FilePath(target)).names().count == 2)
        try run("consolidate", "consolidate", name)
        // Of what is whole by now, there is nothing to do.
        try run("consolidate", "consolidate", "latest")
        try run("show", "show", "latest")
    }

    @Test("A failure with JSON writes only lines on standard error")
    func failures() throws {
        try configure()
        try run("status", "status", "--max-age", "1h", status: 25)
        try run("backup", "backup", status: 1, lines: 0)
        try run("backup", "backup", "--bogus", status: 64, lines: 0)
        try run("restore", "restore", "nothing", "--yes", status: 10, lines: 0)
        try run("check", "check", status: 10, lines: 0)
        try run("prune", "prune", "--keep-last", "0", status: 64, lines: 0)
    }

    @Test("The schemas reject JSON answers with a fault")
    func faults() throws {
        let schema = try JSONSchema(
            contentsOf: Self.schemas.appending(path: "delete.json").path
        )
        let good = #"{"name":"a","dependants":["b"],"dry_run":true}"#
        #expect(try schema.faults(in: Array(good.utf8)).isEmpty)
        for bad in [
            #"{"name":"a","dependants":[]}"#, #"{"name":"a","dry_run":true}"#,
            #"{"name":1,"dependants":[],"dry_run":true}"#,
            #"{"name":"a","dependants":[],"dry_run":1}"#,
            #"{"name":"a","dependants":[],"dry_run":true,"more":1}"#, "[]", "1",
        ] { #expect(try !schema.faults(in: Array(bad.utf8)).isEmpty, "\(bad)") }
    }
}
