import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Notifications of the built program, by programs on its path and by a real server.
@Suite("The program's notifications")
struct NotifyTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try sandbox.directory("bin")
    }

    private var sandbox: Sandbox { program.sandbox }

    private func configure(_ settings: String) throws {
        try program.configure(
            "profiles: {photos: {stores: ~/Stores, remote: ~/Remote, ping_timeout: 3s, \(settings)}}\n"
        )
    }

    /// Makes a program that writes down its arguments and its input.
    private func make(_ name: String, then line: String = "") throws {
        let path = sandbox.path(name).string
        let text = """
            #!/bin/sh
            { for one; do printf '[%s]' "$one"; done; echo; cat; } >>'\(path)'
            \(line)

            """
        let file = try sandbox.write(text, to: "bin/\(name)")
        try File.open(file).setMode(0o755)
    }

    private func written(_ name: String) throws -> String {
        guard sandbox.exists(name) else { return "" }
        return String(decoding: try sandbox.read(name), as: UTF8.self)
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome {
        try program.run(
            arguments,
            environment: ["PATH": "\(sandbox.path("bin")):/usr/bin:/bin"]
        )
    }

    /// A server that answers 500 with all that it was sent; prints the path of each request.
    private func server() throws -> (tool: RunningTool, port: Int) {
        let program = """
            import http.server
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                    print(self.path, flush=True)
                    self.send_response(500, self.path)
                    self.send_header('X-Echo', self.path)
                    self.end_headers()
                    self.wfile.write(self.path.encode() + body)
                def log_message(self, *arguments): pass
            server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
            print(server.server_port, flush=True)
            server.serve_forever()
            """
        let tool = try RunningTool("python3", ["-c", program])
        return (tool, try #require(Int(tool.readLine() ?? "")))
    }

    @Test(
        "A failure is reported by mail, on the desktop and through apprise, once, and so is its end"
    )
    func wholeWay() throws {
        for name in ["sendmail", "notify-send", "apprise"] { try make(name) }
        try configure("notify: ['mail:anna@example.org', desktop, 'tgram://TOKEN/12']")
        #expect(try run("backup").status == 0)
        #expect(try written("sendmail").isEmpty)
        try FileManager.default.moveItem(
            atPath: sandbox.path("Remote").string,
            toPath: sandbox.path("Away").string
        )
        for _ in 1...2 { #expect(try run("backup", "--quiet").status == 10) }
        let mail = try written("sendmail")
        #expect(mail.hasPrefix("[-i][-t]\nTo: anna@example.org\nSubject: grocerydude: backup of"))
        #expect(mail.split(separator: "\n").count { $0.hasPrefix("Subject: ") } == 1)
        #expect(mail.contains(" backup of photos failed\n") && mail.contains("\nexit code: 10\n"))
        let desktop = try written("notify-send")
        #expect(desktop.contains("[--urgency=critical][--][grocerydude: backup of photos failed]"))
        let apprise = try written("apprise")
        #expect(
            apprise.hasPrefix(
                "[--verbose][--config=/dev/stdin][--title=grocerydude: backup of photos "
            )
        )
        #expect(apprise.hasSuffix("]\ntgram://TOKEN/12\n"))
        try FileManager.default.moveItem(
            atPath: sandbox.path("Away").string,
            toPath: sandbox.path("Remote").string
        )
        #expect(try run("backup", "--quiet").errors.isEmpty)
        #expect(try written("sendmail").contains("backup of photos works again\n"))
        #expect(try run("backup", "--quiet").errors.isEmpty)
        #expect(
            try written("apprise").split(separator: "\n").count { $0.hasPrefix("[--verbose]") } == 2
        )
    }

    @Test("A test says of each target whether the message arrived")
    func test() throws {
        try make("sendmail")
        try make(
            "apprise",
            then: "echo '1 - WARNING - no TOKEN for tgram://TOKEN/12' >&2; echo usage >&2; exit 1"
        )
        try configure("notify: [mail, 'tgram://TOKEN/12', desktop]")
        let outcome = try run("notify", "test")
        #expect(outcome.status == 3)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasSuffix(" arrived") == true)
        #expect(lines[1].hasSuffix("failed: 'apprise' exited with 1: 1 - WARNING - no … for …"))
        #expect(lines[2].hasSuffix("failed: 'notify-send' is not installed"))
        #expect(try written("sendmail").contains("Subject: grocerydude: test\n"))
        let json = try run("notify", "test", "--json")
        #expect(json.status == 3 && !json.text.contains("TOKEN"))
        #expect(
            try (json.json as? [[String: Any]])?.map { $0["arrived"] as? Bool } == [
                true, false, false,
            ]
        )
        #expect(try run("notify", "test", "--set", "notify=mail").status == 0)
        #expect(try run("notify", "test", "--set", "notify=desktop").status == 1)
        try configure("notify_on: failure")
        let nobody = try run("notify", "test")
        #expect(nobody.status == 64 && nobody.errors.contains("there is nobody to notify"))
    }

    @Test("A secret in a URL is in no message, log and JSON, even if a server echoes it")
    func secrets() throws {
        let (tool, port) = try server()
        defer { tool.kill() }
        let secret = "tk_SECRET"
        let url = "http://user:\(secret)@127.0.0.1:\(port)/\(secret)?auth=\(secret)"
        try configure("notify: ['\(url)', 'nonsense://\(secret)/a']")
        try FileManager.default.removeItem(atPath: sandbox.path("Remote").string)
        let commands = [
            ["backup"], ["backup", "--json"], ["backup", "--verbose"], ["notify", "test"],
            ["notify", "test", "--json"], ["config", "show", "--all"], ["config", "validate"],
            ["config", "show", "--all", "--json"], ["log", "--json"], ["status", "--json"],
            ["notify", "missed", "--json"], ["notify", "failed", "backup"],
        ]
        for command in commands {
            let outcome = try program.run(command)
            #expect(outcome.status != 64 && outcome.status < 128, "\(command)")
            for text in [outcome.text, outcome.errors] {
                #expect(!text.contains("SECRET"), "\(text)")
            }
        }
        #expect(try tool.readLine() == "/\(secret)?auth=\(secret)")
        let failed = try program.run("backup", "--quiet")
        #expect(failed.status == 10)
        #expect(
            failed.errors.contains("no notification by 'http://127.0.0.1:\(port)/…': curl: (22)")
        )
        #expect(
            failed.errors.contains("no notification by 'nonsense://…': 'apprise' is not installed")
        )
        let log = try sandbox.read(".local/state/grocerydude/log.sqlite")
        #expect(!String(decoding: log, as: UTF8.self).contains("SECRET"))
        // A text that is no target may be one that was mistyped.
        try configure("notify: ['https://\(secret) x']")
        let wrong = try program.run("backup")
        #expect(wrong.status == 64 && wrong.errors.contains("must be 'mail:ADDRESS', 'desktop'"))
        #expect(!wrong.errors.contains("SECRET"), "\(wrong.errors)")
    }

    @Test("A program that hangs costs its time limit, and not the backup")
    func hanging() throws {
        try make("sendmail", then: "sleep 6000")
        try configure("notify: mail, notify_on: [success]")
        let outcome = try run("backup", "--quiet")
        #expect(outcome.status == 0 && outcome.text.isEmpty)
        #expect(
            outcome.errors
                == "grocerydude: warning: no notification by 'mail': 'sendmail' took longer than 3 s and was ended\n"
        )
        try make("sendmail")
        #expect(try run("backup", "--quiet").errors.isEmpty)
        #expect(try written("sendmail").contains("backup of photos succeeded"))
    }

    @Test("A backup of another place notifies nobody")
    func elsewhere() throws {
        try make("sendmail")
        try configure("notify: mail, notify_on: [success, failure]")
        try sandbox.directory("Other")
        #expect(try run("backup", "--remote", sandbox.path("Other").string).status == 0)
        #expect(try run("backup", "--remote", "/missing").status == 10)
        #expect(try written("sendmail").isEmpty)
    }

    @Test(
        "A run that was killed is reported by the unit for failures, and one that reported it itself is not"
    )
    func killed() throws {
        try make("sendmail")
        try configure("notify: mail")
        #expect(try run("backup", "--quiet").status == 0)
        #expect(try run("notify", "failed", "backup", "--quiet").status == 0)
        #expect(try written("sendmail").contains("\nthe run ended before it could report why\n"))
        let mails = try written("sendmail")
        #expect(try run("notify", "failed", "backup").status == 0)
        #expect(try written("sendmail") == mails)
        #expect(try run("notify", "failed", "restore").status == 64)
    }
}
