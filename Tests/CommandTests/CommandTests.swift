import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The built program, run as people run it.
@Suite("The program")
struct CommandTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("Remote")
    }

    private func run(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        var surroundings = [
            "HOME": sandbox.path.string, "TZ": "UTC", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "",
            "GROCERYDUDE_STORES": sandbox.path("Stores").string,
            "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
        ]
        surroundings.merge(environment) { $1 }
        return try Tool.run(Tool.product("grocerydude"), arguments, environment: surroundings)
    }

    private func text(_ outcome: Tool.Outcome) -> String {
        String(decoding: outcome.output, as: UTF8.self)
    }

    private func json(_ outcome: Tool.Outcome) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(outcome.output))
    }

    @Test("The program saves and restores lost data, as its help promises")
    func story() throws {
        #expect(try run("init").status == 0)
        let backup = try run("backup")
        #expect(backup.status == 0)
        #expect(text(backup).hasSuffix("Stores.zip\n"))
        #expect(try run("items", "remove", "Apples").status == 0)
        #expect(try run("items", "add", "Honey", "2", "jar").status == 0)
        #expect(text(try run("items")).contains("2 jar"))
        #expect(try run("restore", "latest", "--yes").status == 0)
        let items = text(try run("items", "show"))
        #expect(items.contains("Apples") && !items.contains("Honey"))
        let list = text(try run("list"))
        #expect(list.split(separator: "\n").count { $0.hasPrefix("[") } == 2)
        #expect(list.contains(#/ kB +20/#))
        #expect(list.contains("before restore of"))
        #expect(try run("restore", "--undo", "--yes").status == 0)
        #expect(text(try run("items", "show")).contains("Honey"))
        #expect(text(try run("list")).split(separator: "\n").count { $0.hasPrefix("[") } == 3)
        #expect(try run("delete", "(2)", "--yes").status == 0)
        #expect(try run("delete", "latest", "--yes").status == 0)
        #expect(text(try run("list")).split(separator: "\n").count { $0.hasPrefix("[") } == 1)
    }

    @Test("The program works with its default directories in an empty home")
    func defaults() throws {
        let nothing = ["GROCERYDUDE_STORES": "", "GROCERYDUDE_REMOTE": ""]
        #expect(try run("init", environment: nothing).status == 0)
        #expect(try run("backup", environment: nothing).status == 0)
        #expect(sandbox.exists(".local/share/grocerydude/Stores/Grocery-Dude.sqlite"))
        #expect(sandbox.exists(".local/share/grocerydude/Apps/Grocery Dude"))
    }

    @Test("The program writes its JSON answer, and nothing else, to standard output")
    func jsonOutput() throws {
        let created = try #require(json(run("init", "--json")) as? [String: Any])
        #expect(created["items"] as? Int == 12)
        let summary = try #require(json(run("backup", "--json")) as? [String: Any])
        #expect(summary["message_type"] as? String == "summary")
        #expect(summary["stores"] as? Int == 1)
        let list = try #require(json(run("list", "--json")) as? [[String: Any]])
        #expect(list.first?["name"] as? String == summary["name"] as? String)
        #expect(list.first?["time_source"] as? String == "manifest")
        let show = try #require(json(run("show", "latest", "--json")) as? [String: Any])
        let stores = try #require(show["stores"] as? [[String: Any]])
        #expect(stores.first?["journal_mode"] as? String == "wal")
        #expect(try (json(run("items", "--json")) as? [Any])?.count == 12)
        let restored = try #require(
            json(run("restore", "latest", "--yes", "--json")) as? [String: Any]
        )
        #expect(restored["safety_backup"] is String)
        let deletion = try run("delete", "latest", "--yes", "--json")
        let deleted = try #require(json(deletion) as? [String: Any])
        #expect(deleted["name"] is String)
        let error = try run("show", "nothing", "--json")
        #expect(error.output.isEmpty)
        let message = try #require(
            JSONSerialization.jsonObject(with: Data(error.errors.utf8)) as? [String: Any]
        )
        #expect(message["code"] as? Int == 10)
    }

    @Test("The program exits with the code of the error, and says what happened and what to do")
    func exitCodes() throws {
        func expect(_ status: Int32, _ words: String..., from outcome: Tool.Outcome) {
            #expect(outcome.status == status, "\(outcome.errors)")
            for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
        }
        expect(1, "no stores directory", "hint: is it the right", from: try run("backup"))
        try sandbox.directory("Stores")
        expect(1, "nothing to back up", from: try run("backup"))
        try LocalFileSystem().remove(sandbox.path("Stores"))
        #expect(try run("init").status == 0)
        expect(1, "there is a store already", from: try run("init"))
        expect(10, "there is no backup in", from: try run("restore", "latest", "--yes"))
        expect(
            10,
            "no remote folder",
            "mkdir -p",
            from: try run("backup", "--remote", sandbox.path("No").string)
        )
        #expect(try run("backup").status == 0)
        #expect(try run("backup").status == 0)
        expect(10, "2 backups", "more of the name", from: try run("restore", "Stores", "--yes"))
        expect(10, "no backup named 'x'", from: try run("show", "x"))
        let unasked = "cannot ask for confirmation: no terminal"
        expect(64, unasked, "--yes", from: try run("restore", "latest"))
        expect(64, unasked, from: try run("delete", "latest"))
        expect(64, "--lock-wait", from: try run("backup", "--lock-wait", "soon"))
        expect(64, from: try run("backup", "--compression", "magic"))
        let name = try #require(
            try Directory.open(sandbox.path("Remote")).names().first?.description
        )
        try sandbox.write("no zip at all", to: "Remote/\(name)")
        expect(
            21,
            "your data is as it was",
            "not a zip archive",
            from: try run("restore", name, "--yes")
        )
    }

    @Test("The program names the run that holds the lock, and waits if it should")
    func locks() async throws {
        #expect(try run("init").status == 0)
        var lock: FileLock? = try await FileLock.acquire(sandbox.path("Stores"))
        let refused = try run("backup")
        #expect(refused.status == 11)
        #expect(refused.errors.contains("process \(ProcessInfo.processInfo.processIdentifier)"))
        let waiting = try RunningTool(
            Tool.product("grocerydude"),
            [
                "backup", "--lock-wait", "60s", "--stores", sandbox.path("Stores").string,
                "--remote", sandbox.path("Remote").string,
            ],
            environment: ["HOME": sandbox.path.string]
        )
        withExtendedLifetime(lock) {}
        lock = nil
        #expect(waiting.wait() == 0)
    }

    @Test(
        "The program stops on a signal, leaves nothing behind, and exits as the signal does",
        arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)]
    )
    func signals(number: Int32, status: Int32) async throws {
        #expect(try run("init").status == 0)
        // It says that it waits for this lock, so the moment of the signal is no matter of luck.
        let lock = try await FileLock.acquire(sandbox.path("Remote"))
        let command = """
            exec '\(Tool.product("grocerydude"))' backup --lock-wait 60s \
                --stores '\(sandbox.path("Stores"))' --remote '\(sandbox.path("Remote"))' 2>&1
            """
        let running = try RunningTool(
            "/bin/sh",
            ["-c", command],
            environment: ["HOME": sandbox.path.string]
        )
        #expect(try running.readLine()?.contains("waiting for process") == true)
        running.signal(number)
        #expect(running.wait() == status)
        withExtendedLifetime(lock) {}
        #expect(try Directory.open(sandbox.path("Remote")).names() == [])
    }

    @Test("The program opens more stores at once than the first limit of open files allows")
    func manyStores() throws {
        #expect(try run("init").status == 0)
        let store = try sandbox.read("Stores/Grocery-Dude.sqlite")
        for number in 1...100 { try sandbox.write(store, to: "Stores/\(number).sqlite") }
        let backup = try Tool.run(
            "/bin/sh",
            [
                "-c", "ulimit -S -n 64; exec \"$@\"", "sh", Tool.product("grocerydude"), "backup",
                "--stores", sandbox.path("Stores").string,
                "--remote", sandbox.path("Remote").string,
            ],
            environment: ["HOME": sandbox.path.string]
        )
        #expect(backup.status == 0, "\(backup.errors)")
    }

    @Test("The program lists a damaged backup as damaged, even if its check is not known")
    func damagedInList() throws {
        #expect(try run("init").status == 0)
        #expect(try run("backup").status == 0)
        let name = try #require(Directory.open(sandbox.path("Remote")).names().first?.description)
        var bytes = try sandbox.read("Remote/\(name)")
        bytes[500] ^= 1
        try sandbox.write(bytes, to: "Remote/\(name)")
        #expect(try run("check").status == 20)
        try FileManager.default.removeItem(atPath: sandbox.path(".local/state").string)
        #expect(text(try run("list")).contains("DAMAGED: "))
        let rows = try #require(json(run("list", "--json")) as? [[String: Any]])
        #expect(rows.map { $0["damaged"] as? Bool } == [true])
        #expect((rows[0]["damage"] as? String)?.contains("damaged") == true)
        #expect(rows[0]["last_check"] == nil)
    }

    @Test("The program reports only problems if it should be quiet")
    func quiet() throws {
        #expect(try run("init").status == 0)
        let backup = try run("backup", "--quiet")
        #expect(backup.errors == "" && backup.output.isEmpty)
        // A problem is no chatter.
        try sandbox.write(
            Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 1008),
            to: "Stores/bad.db"
        )
        let partial = try run("backup", "--quiet")
        #expect(partial.status == 3)
        #expect(partial.errors.contains("warning: 'bad.db'"))
    }

    @Test(
        "The program reports a fixed answer that cannot be written",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"),
        arguments: ["config example", "--help", "list --help", "--version"]
    )
    func lostAnswer(_ command: String) throws {
        let outcome = try Tool.run(
            "sh",
            ["-c", "\"$0\" \(command) > /dev/full", Tool.product("grocerydude")],
            environment: ["HOME": sandbox.path.string]
        )
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("the answer is lost"), "\(outcome.errors)")
    }

    @Test("The program makes names from an archive safe to print")
    func hostileNames() throws {
        try sandbox.write("x", to: "Stores/\u{1B}[2Jevil\nname")
        #expect(try run("backup").status == 3)
        let show = try run("show", "latest")
        #expect(!show.output.contains(0x1B))
        #expect(text(show).contains("evil\\nname"))
    }

    @Test("The program accepts paths that are relative, end in a slash, or lead through a link")
    func paths() throws {
        #expect(try run("init").status == 0)
        try sandbox.link("Link", to: "Stores")
        let folder = sandbox.path.string
        for stores in ["Stores", "Stores/", "./Stores", "Link", "Link/"] {
            let outcome = try Tool.run(
                Tool.product("grocerydude"),
                ["backup", "--stores", stores, "--remote", "Remote/"],
                environment: ["HOME": folder],
                directory: sandbox.path
            )
            #expect(outcome.status == 0, "\(stores): \(outcome.errors)")
        }
        let restored = try Tool.run(
            Tool.product("grocerydude"),
            ["restore", "latest", "--yes", "--stores", "Link", "--remote", "Remote"],
            environment: ["HOME": folder],
            directory: sandbox.path
        )
        #expect(restored.status == 0)
        #expect(try FileInfo(of: sandbox.path("Link")).kind == .link)
    }
}
