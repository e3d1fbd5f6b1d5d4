import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Hooks, pings and application commands of the built program, from its configuration.
@Suite("The program's hooks")
struct HookTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("Remote")
    }

    private var environment: [String: String] {
        [
            "HOME": sandbox.path.string, "TZ": "UTC", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "",
            "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "",
            "GROCERYDUDE_STORES": sandbox.path("Stores").string,
            "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
        ]
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome { try run(arguments) }

    private func run(_ arguments: [String]) throws -> Tool.Outcome {
        try Tool.run(
            Tool.product("grocerydude"),
            arguments + ["--config", sandbox.path("config.yaml").string],
            environment: environment
        )
    }

    /// Makes a store, and a configuration with one profile.
    private func configure(_ settings: String) throws {
        if !sandbox.exists("Stores") {
            try sandbox.write("profiles:\n  app: {}\n", to: "config.yaml")
            #expect(try run("init").status == 0)
        }
        let lines = settings.split(separator: "\n").map { "    \($0)\n" }.joined()
        try sandbox.write("profiles:\n  app:\n\(lines)", to: "config.yaml")
    }

    private func diary() throws -> String {
        sandbox.exists("diary") ? String(decoding: try sandbox.read("diary"), as: UTF8.self) : ""
    }

    @Test("Hooks run around a backup, and their output goes to standard error")
    func backup() throws {
        try configure(
            """
            hooks:
              backup:
                before: echo getting ready
                on_success: 'echo "$GROCERYDUDE_BACKUP" >\(sandbox.path("diary"))'
                finally: [echo done, exit 9]
            """
        )
        let outcome = try run("backup", "--profile", "app")
        #expect(outcome.status == 0)
        #expect(outcome.text.split(separator: "\n").count == 1)
        #expect(outcome.errors.contains("grocerydude: before: getting ready\n"))
        #expect(outcome.errors.contains("grocerydude: finally: done\n"))
        #expect(outcome.errors.contains("warning: the 'finally' command 'exit 9' exited with 9\n"))
        #expect(try diary() == outcome.text)
        let quiet = try run("backup", "--profile", "app", "--quiet")
        #expect(
            quiet.errors == "grocerydude: warning: the 'finally' command 'exit 9' exited with 9\n"
        )
        let json = try run("backup", "--profile", "app", "--json")
        #expect(try JSONSerialization.jsonObject(with: Data(json.output)) is [String: Any])
        for line in json.errors.split(separator: "\n") {
            #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
        }
        #expect(
            json.errors.contains(#"{"message":"before: getting ready","message_type":"output"}"#)
        )
    }

    @Test("A hook skips a backup with exit code 75, or makes it fail, before it begins")
    func before() throws {
        try configure("hooks: {backup: {before: exit 75}}")
        let skipped = try run("backup", "--profile", "app")
        #expect(skipped.status == 75)
        #expect(
            skipped.errors
                == "grocerydude: skipped: the 'before' command 'exit 75' exited with 75\n"
        )
        #expect(try run("backup", "--profile", "app", "--quiet").errors == "")
        try configure("hooks: {backup: {before: 'echo no disk; exit 1'}}")
        let failed = try run("backup", "--profile", "app")
        #expect(failed.status == 1)
        #expect(failed.errors.contains("error: the 'before' command"))
        #expect(failed.errors.contains("exited with 1: no disk"))
        #expect(try Directory.open(sandbox.path("Remote")).names() == [])
        #expect(try run("log", "--profile", "app").text.contains("skipped"))
    }

    @Test("A suspended profile makes no backup, runs no hooks, and says why everywhere")
    func suspended() throws {
        try configure(
            """
            suspended: moving house
            hooks: {backup: {before: 'touch \(sandbox.path("diary"))'}}
            """
        )
        let why = "backups of 'app' are suspended: moving house"
        for arguments in [["backup"], ["backup", "--dry-run"]] {
            let outcome = try run(arguments + ["--profile", "app"])
            #expect(outcome.status == 75 && outcome.errors.contains(why), "\(outcome.errors)")
        }
        #expect(try Directory.open(sandbox.path("Remote")).names() == [])
        #expect(!sandbox.exists("diary"))
        #expect(try run("status", "--profile", "app").text.contains(why))
        #expect(try run("list", "--profile", "app").errors.contains(why))
        let old = try run("status", "--max-age", "1h", "--profile", "app")
        #expect(old.status == 25 && old.errors.contains("no good backup, and \(why)"))
        let made = try run("backup", "--set", "suspended=no", "--profile", "app")
        #expect(made.status == 0 && sandbox.exists("diary"))
    }

    @Test("A hook runs around the first exchange of a store, and before it is looked at")
    func enable() throws {
        try configure(
            """
            hooks:
              sync:
                before: echo before >>\(sandbox.path("diary"))
                after: echo after >>\(sandbox.path("diary"))
            """
        )
        try sandbox.directory("Shared")
        let enable = ["sync", "enable", "--container", sandbox.path("Shared").string]
        #expect(try run(enable + ["--profile", "app", "--dry-run"]).status == 0)
        #expect(try diary() == "")
        let outcome = try run(enable + ["--profile", "app", "--yes"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try diary() == "before\nafter\n")
    }

    @Test("A hook rolls a restore back if the application does not accept it")
    func restore() throws {
        try configure(
            """
            hooks:
              restore:
                stop: echo stop >>\(sandbox.path("diary"))
                start: echo start >>\(sandbox.path("diary"))
                verify: [test -e "$GROCERYDUDE_STORES/Grocery-Dude.sqlite", exit 4]
            """
        )
        #expect(try run("backup", "--profile", "app").status == 0)
        #expect(try run("items", "remove", "Apples").status == 0)
        let outcome = try run("restore", "latest", "--yes", "--profile", "app")
        #expect(outcome.status == 21)
        #expect(outcome.errors.contains("the 'verify' command 'exit 4' exited with 4"))
        #expect(try diary() == "stop\nstart\nstop\nstart\n")
        #expect(try !run("items").text.contains("Apples"))
        #expect(sandbox.exists("Stores_FailedRestore"))
        #expect(try run("status", "--profile", "app").text.contains("Stores_FailedRestore"))
    }

    @Test("A restore is complete with exit code 3 if its start hook fails")
    func doesNotStart() throws {
        try configure("hooks: {restore: {start: exit 4}}")
        #expect(try run("backup", "--profile", "app").status == 0)
        let outcome = try run("restore", "latest", "--yes", "--profile", "app")
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("warning: the 'start' command 'exit 4' exited with 4"))
        // What is only looked at has nothing to stop or start.
        #expect(try run("restore", "latest", "--dry-run", "--profile", "app").status == 0)
    }

    @Test(
        "Hooks end when the user stops the program, and are killed at the second signal",
        arguments: [1, 2]
    )
    func signals(count: Int) throws {
        try configure(
            """
            hooks:
              backup:
                before: >-
                  \(count == 1 ? ":" : "trap '' TERM"); echo $$ >\(sandbox.path("pid"));
                  while :; do sleep 0.1; done
                finally: echo finally >\(sandbox.path("diary"))
            """
        )
        let running = try RunningTool(
            Tool.product("grocerydude"),
            ["backup", "--profile", "app", "--config", sandbox.path("config.yaml").string],
            environment: environment
        )
        while try sandbox.exists("pid") == false || sandbox.read("pid").last != 10 {
            usleep(10_000)
        }
        let pid = try #require(
            Int32(String(decoding: try sandbox.read("pid"), as: UTF8.self).dropLast())
        )
        running.signal(SIGINT)
        if count == 2 {
            // It is asked to end by now, and does not.
            usleep(200_000)
            running.signal(SIGINT)
        }
        #expect(running.wait() == 130)
        // Whoever adopts it takes a moment to let it go.
        while kill(pid, 0) == 0, !isZombie(pid) { usleep(10_000) }
        #expect(try diary() == (count == 1 ? "finally\n" : ""))
    }

    private func isZombie(_ pid: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
            return true
        }
        return text.split(separator: ")").last?.hasPrefix(" Z") == true
    }

    @Test("Hooks notify a monitor, and a missing monitor does no harm")
    func pings() throws {
        let program = """
            import http.server
            class Handler(http.server.BaseHTTPRequestHandler):
                def answer(self):
                    self.rfile.read(int(self.headers.get('Content-Length') or 0))
                    print(self.path, flush=True)
                    self.send_response(200); self.end_headers()
                do_GET = do_POST = answer
                def log_message(self, *arguments): pass
            server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
            print(server.server_port, flush=True)
            server.serve_forever()
            """
        let server = try RunningTool("python3", ["-c", program])
        let port = try #require(Int(server.readLine() ?? ""))
        try configure("ping_url: http://127.0.0.1:\(port)/abc")
        #expect(try run("backup", "--profile", "app").status == 0)
        #expect(try [server.readLine(), server.readLine()] == ["/abc/start", "/abc"])
        #expect(try run("backup", "--profile", "app", "--stores", "/none").status == 1)
        #expect(try [server.readLine(), server.readLine()] == ["/abc/start", "/abc/fail"])
        server.kill()
        let outcome = try run("backup", "--profile", "app")
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("warning: cannot ping the monitor '127.0.0.1:\(port)'"))
    }

    @Test("A run on other stores has no hooks, and a run on another folder notifies no monitor")
    func otherPlaces() throws {
        try configure(
            """
            stores: \(sandbox.path("Stores"))
            remote: \(sandbox.path("Remote"))
            metrics_file: \(sandbox.path("metrics.prom"))
            ping_url: http://127.0.0.1:9/
            prune: true
            retention: {keep_last: 1}
            hooks:
              backup: {before: 'echo "$GROCERYDUDE_REMOTE" >>\(sandbox.path("diary"))'}
              restore: {stop: echo stop >>\(sandbox.path("diary"))}
            """
        )
        try sandbox.directory("Other")
        let other = sandbox.path("Other").string
        func log() throws -> String { try run("log", "--limit", "1").text }
        // By another name they are the same.
        let own = try run("backup", "--stores", sandbox.path("Other/../Stores").string)
        #expect(own.status == 0 && own.errors.contains("cannot ping the monitor"))
        #expect(try log().contains("backup app"))
        #expect(try diary() == sandbox.path("Remote").string + "\n")
        let before = try sandbox.read("metrics.prom")

        let folder = try run("backup", "--remote", other)
        #expect(folder.status == 0 && !folder.errors.contains("cannot ping the monitor"))
        #expect(
            folder.errors.contains("'--remote' names another remote folder than the configuration")
        )
        #expect(try !log().contains("backup app"))
        #expect(try diary().hasSuffix("\n\(other)\n"))
        #expect(try run("log", "--limit", "1", "--profile", "app").text.contains("backup app"))

        let stores = sandbox.path("Third").string
        let restore = try run("restore", "latest", "--yes", "--stores", stores)
        #expect(restore.status == 0)
        #expect(restore.errors.contains("none of its commands are run"))
        #expect(try run("backup", "--quiet", "--stores", stores, "--remote", other).errors == "")
        #expect(try !diary().contains("stop") && diary().split(separator: "\n").count == 2)
        #expect(try sandbox.read("metrics.prom") == before)
        // What others have there is theirs to prune.
        #expect(folder.errors.contains("no monitor is notified, and nothing is pruned"))
        let backups = {
            try Directory.open(sandbox.path("Other")).names()
                .count { $0.description.hasSuffix(".zip") }
        }
        #expect(try backups() == 2)
        // What is asked for now is done.
        #expect(try run("backup", "--remote", other, "--prune").status == 0)
        // The one of the other stores directory stays.
        #expect(try backups() == 2)
        let file = sandbox.path("other.prom").string
        #expect(try run("backup", "--remote", other, "--set", "metrics_file=\(file)").status == 0)
        #expect(sandbox.exists("other.prom"))
    }

    @Test("A check runs its hook, and the list shows its depth")
    func checks() throws {
        try configure(#"hooks: {check: {finally: 'echo checked "$GROCERYDUDE_BACKUP"'}}"#)
        #expect(try run("backup", "--profile", "app").status == 0)
        let check = try run("check", "--profile", "app")
        #expect(check.status == 0)
        #expect(check.errors.contains("finally: checked ["))
        #expect(try run("list", "--profile", "app").text.contains("(data)"))
        for _ in 1...3 {
            let part = try run("check", "--read-data-subset", "next/3", "--profile", "app")
            #expect(part.text.contains(#/  whole  \(part [123]\/3\)\n/#))
        }
        #expect(
            try run("list", "--profile", "app").text
                .contains(#/checked [-0-9]+ \(part [123]\/3\), [-0-9]+ \(data\)\n/#)
        )
        #expect(try run("check", "--restore", "--profile", "app").status == 0)
        let list = try JSONSerialization.jsonObject(
            with: Data(run("list", "--json", "--profile", "app").output)
        )
        let last = (list as? [[String: Any]])?.first?["last_check"] as? [String: Any]
        #expect(last?["depth"] as? String == "restore")
        #expect(last?["damage"] == nil)
    }
}
