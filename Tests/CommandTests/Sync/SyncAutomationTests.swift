import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Stores that sync automatically",
    .enabled(if: Tool.isInstalled("sqlite3"), "sqlite3 is not installed")
)
struct SyncAutomationTests {
    let program: Program
    let desk: SyncHome
    let phone: SyncHome

    init() throws {
        program = try Program()
        try program.sandbox.directory("Shared")
        desk = try SyncHome("desk", program)
        phone = try SyncHome("phone", program)
        #expect(try desk.enable().status == 0)
        #expect(try phone.enable().status == 0)
    }

    @Test("A sync reports to the hooks and the log what it exchanged, and nothing else")
    func hooks() throws {
        try program.sandbox.write(
            """
            hooks:
              sync:
                before: echo before
                will_import: echo will "$(cat "$GROCERYDUDE_CHANGES")"
                did_import: ["echo did $GROCERYDUDE_STORE", "exit 3"]
                on_success: echo "done $GROCERYDUDE_COMMAND"
            """,
            to: "desk/\(Program.configuration)"
        )
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        let outcome = try desk.run("sync")
        #expect(outcome.status == 0)
        let id = try desk.sql("SELECT id FROM item WHERE name = 'Figs'").dropLast()
        for line in [
            "before: before",
            "will_import: will {\"tables\":{\"item\":{\"inserted\":[\"\(id)\"]}}}",
            "did_import: did \(desk.store)", "on_success: done sync",
            "warning: the 'did_import' command 'exit 3' exited with 3",
        ] { #expect(outcome.errors.contains(line), "\(outcome.errors)") }
        let quiet = try desk.run("sync")
        #expect(quiet.errors.contains("before: before") && !quiet.errors.contains("import"))
        let log = try #require(try desk.run("log", "--json").json as? [[String: Any]])
        // The first one is the exchange of 'sync enable'.
        #expect(log.map { $0["command"] as? String } == ["sync", "sync"])
        // A command that says no lets the changes wait.
        try program.sandbox.write(
            "hooks: {sync: {will_import: exit 1}}\n",
            to: "desk/\(Program.configuration)"
        )
        try phone.run("items", "add", "Nuts")
        #expect(try phone.run("sync").status == 0)
        let refused = try desk.run("sync")
        #expect(refused.status == 1 && refused.errors.contains("will_import"))
        #expect(try desk.items().count == 13)
        try LocalFileSystem().remove(desk.path.appending(Program.configuration))
        #expect(try desk.run("sync").status == 0)
        #expect(try desk.items() == phone.items())
    }

    @Test("A scheduled sync runs if the profile has a schedule for it")
    func schedule() throws {
        let container = desk.container
        try program.sandbox.write(
            "sync: {schedule: every 5m, container: \(container)}\n",
            to: "desk/\(Program.configuration)"
        )
        let cron = try desk.run("schedule", "install", "--dry-run", "--kind", "cron").text
        #expect(cron.contains("0,5,10,15,20,25,30,35,40,45,50,55 * * * * "))
        #expect(cron.contains("grocerydude sync --quiet\n"))
        let units = try desk.run("schedule", "install", "--dry-run", "--kind", "systemd-system")
            .text
        #expect(units.contains("ExecStart=") && units.contains(" sync --quiet\n"))
        let writable = units.split(separator: "\n").first { $0.hasPrefix("ReadWritePaths=") } ?? ""
        #expect(writable.contains("\"-\(container)\"") && writable.contains("\"-\(desk.stores)\""))
        #expect(try desk.run("schedule", "show").text.hasPrefix("sync  every 5m, next 20"))
    }

    @Test("No command syncs if the settings disable sync")
    func disabled() throws {
        let map = try program.sandbox.write("{}", to: "map.json").string
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        try program.sandbox.write("sync: {enabled: false}\n", to: "desk/\(Program.configuration)")
        let files = try Tool.check("find", [desk.container.string])
        for command in [
            ["run"], ["watch", "--set", "watch_interval=1s"], ["seed", "--yes"],
            ["seed", "--map", map, "--yes"], ["rejoin", "--take", "merge", "--yes"],
            ["conflicts", "take", "1"],
        ] {
            let outcome = try Tool.run(
                "timeout",
                ["20", Program.path, "sync"] + command,
                environment: program.environment.merging(["HOME": desk.path.string]) { $1 }
            )
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
            #expect(outcome.errors.contains("'sync.enabled' is false"), "\(command)")
        }
        #expect(try desk.items().count == 12)
        #expect(try Tool.check("find", [desk.container.string]) == files)
        // Looking and leaving are no exchange.
        let status = try desk.run("sync", "status").text
        #expect(status.contains("not exchanged: 'sync.enabled' is false"), "\(status)")
        #expect(try desk.run("sync", "disable", "--yes").status == 0)
    }

    @Test("A watching sync runs at each change of the store or the container, until a signal")
    func watch() throws {
        let process = try RunningTool(
            Program.path,
            ["sync", "watch", "--set", "watch_interval=1s", "--json"],
            environment: program.environment.merging(["HOME": desk.path.string]) { $1 }
        )
        func next() throws -> [String: Any] {
            let line = try #require(try process.readLine())
            let json = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(((json as? [String: Any])?["stores"] as? [[String: Any]])?.first)
        }
        #expect(try next()["state"] as? String == "in_step")
        try phone.run("items", "add", "Figs")
        #expect(try phone.run("sync").status == 0)
        #expect((try next()["written"] as? [String: Int])?["inserted"] == 1)
        #expect(try desk.items().contains("Figs"))
        try desk.run("items", "add", "Nuts")
        #expect((try next()["sent"] as? [String: Int])?["changes"] == 1)
        kill(process.processIdentifier, SIGTERM)
        process.wait()
        #expect(try phone.run("sync").text.hasSuffix(": 1 row added\n"))
    }
}
