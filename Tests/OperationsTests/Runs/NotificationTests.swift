@testable import Backups
import Files
import Foundation
import History
import SystemPackage
import TestSupport
import Testing

@testable import Operations

/// Targets of notifications, the messages to them, and the changes that they are about.
@Suite("Notifications")
struct NotificationTests {
    let scene: Scene
    let log: RunLog

    init() throws {
        scene = try Scene(withStore: false)
        log = RunLog(scene.sandbox.path("State/log.sqlite"))
    }

    /// A web server that prints each request, and answers with a status and the path and headers that it got.
    private func server(status: Int = 200) throws -> (tool: RunningTool, port: Int) {
        let program = """
            import http.server, json
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers.get('Content-Length') or 0)).decode()
                    print(json.dumps([self.path, self.headers.get('Title') or '', body]), flush=True)
                    self.send_response(\(status), 'no ' + self.path)
                    self.end_headers()
                    self.wfile.write((self.path + body).encode())
                def log_message(self, *arguments): pass
            server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
            print(server.server_port, flush=True)
            server.serve_forever()
            """
        let tool = try RunningTool("python3", ["-c", program])
        return (tool, try #require(Int(tool.readLine() ?? "")))
    }

    private func request(_ tool: RunningTool) throws -> [String] {
        let line = try #require(try tool.readLine())
        return try JSONDecoder().decode([String].self, from: Data(line.utf8))
    }

    private func notifications(
        _ targets: String...,
        events: Set<JobCondition.Event> = [.failure, .recovery, .missed]
    ) throws -> Notifications {
        Notifications(
            try targets.map { try #require(NotificationTarget($0)) },
            events: events,
            timeout: .seconds(5),
            timeZone: .utc,
            log: log
        )
    }

    private func report(_ exitCode: Int32, _ message: String? = nil) throws -> JobReport {
        var entry = RunLog.Entry(
            command: "backup",
            profile: "photos",
            stores: "/stores",
            remote: "/remote",
            began: Scene.morning,
            duration: .seconds(1),
            exitCode: exitCode
        )
        entry.message = message
        return try #require(JobReport(entry))
    }

    @Test(
        "A target is shown without its secrets",
        arguments: [
            ("mail", "mail"), ("mail:a@b.example", "mail:a@b.example"), ("desktop", "desktop"),
            ("https://ntfy.sh/SECRET", "https://ntfy.sh/…"),
            ("https://user:SECRET@x.example", "https://x.example/…"),
            ("https://x.example?token=SECRET", "https://x.example/…"),
            ("http://x.example:8080/", "http://x.example:8080"),
            ("tgram://SECRET/12", "tgram://…"), ("ntfy://SECRET", "ntfy://…"),
            ("ntfys://x.example/SECRET", "ntfys://x.example/…"),
            ("gotify://x.example/SECRET", "gotify://x.example/…"),
            ("matrixs://user:SECRET@x.example", "matrixs://…"),
        ]
    )
    func shown(text: String, shown: String) throws {
        let target = try #require(NotificationTarget(text))
        #expect(target.shown == shown)
        let mask = NotificationTarget.mask(of: [target])
        #expect(!mask("the answer to SECRET is no").contains("SECRET") || !text.contains("SECRET"))
        #expect(mask("it cannot \(text)") == "it cannot …" || !text.contains("SECRET"))
        #expect(mask("the message was sent to the hooks") == "the message was sent to the hooks")
    }

    @Test(
        "A text that is no target is refused",
        arguments: [
            "", "nobody", "mail:", "mail:a b", "mail:a@b\nBcc: c", "desktop ", "://x", "https://",
            "https:///x", "https://x y", "1x://y", "mail://", String(repeating: "x", count: 3000),
        ]
    )
    func refused(text: String) {
        #expect(NotificationTarget(text) == nil)
    }

    @Test("A message has the form that each service takes")
    func forms() throws {
        func request(_ text: String) throws -> WebRequest {
            let notice = Notice(title: "a <b>", lines: ["c & \"d\""], isBad: true)
            let target = try #require(NotificationTarget(text))
            return try #require(target.request(for: notice, timeout: .seconds(1)))
        }
        let ntfy = try request("https://ntfy.example/topic")
        #expect(ntfy.body == "c & \"d\"" && ntfy.headers.contains("Title: a <b>"))
        #expect(try request("ntfy://topic").url == "https://ntfy.sh/topic")
        #expect(try request("ntfy://u:p@h:80/topic").url == "http://u:p@h:80/topic")
        let gotify = try request("gotifys://h/path/token")
        #expect(gotify.url == "https://h/path/message")
        #expect(gotify.headers.contains("X-Gotify-Key: token"))
        #expect(try request("http://h/message?token=x").body == gotify.body)
        #expect(gotify.body?.contains(#""priority":8"#) == true)
        for address in ["https://hooks.slack.com/services/T/B/x", "https://h/hooks/x"] {
            #expect(
                try request(address).body == #"{"text":"a &lt;b&gt;\nc &amp; \"d\""}"#
            )
        }
        let discord = try request("https://discord.com/api/webhooks/1/x")
        #expect(discord.body?.contains(#""content":"a <b>\nc & \"d\"""#) == true)
        #expect(discord.body?.contains(#""allowed_mentions":{"parse":[]}"#) == true)
        #expect(
            NotificationTarget("tgram://x/y")?
                .request(for: Notice(title: "", lines: [], isBad: false), timeout: .zero) == nil
        )
    }

    @Test("A target gets one message for each change, and not one for each run")
    func changes() async throws {
        let (tool, port) = try server()
        defer { tool.kill() }
        let all = try notifications("http://127.0.0.1:\(port)/topic")
        let context = scene.context()
        #expect(await all.report(try report(0), context) == 0)
        #expect(await all.report(try report(1, "no space"), context) == 1)
        let failed = try request(tool)
        #expect(failed[1] == "grocerydude: backup of photos failed")
        #expect(failed[2].hasPrefix("no space\n\ntime: ") && failed[2].contains("exit code: 1\n"))
        #expect(failed[2].contains("grocerydude log --profile photos"))
        // Another reason is no other condition.
        #expect(await all.report(try report(10, "no folder"), context) == 0)
        #expect(await all.report(try report(3, "a file"), context) == 1)
        #expect(try request(tool)[1].hasSuffix("was done in part"))
        #expect(await all.report(try report(20, "damage"), context) == 1)
        #expect(try request(tool)[1].hasSuffix("found damage"))
        #expect(await all.report(try report(0), context) == 1)
        #expect(try request(tool)[1].hasSuffix("works again"))
        #expect(await all.report(try report(0), context) == 0)
        var missed = try report(0)
        missed.condition = .missed
        #expect(await all.report(missed, context) == 1)
        #expect(try request(tool)[1].hasSuffix("was missed"))
        #expect(await all.report(missed, context) == 0)
        #expect(scene.told.isEmpty)
    }

    @Test("A target gets messages only about the chosen events")
    func events() async throws {
        let (tool, port) = try server()
        defer { tool.kill() }
        let url = "http://127.0.0.1:\(port)/topic"
        let good = try notifications(url, events: [.success])
        let context = scene.context()
        #expect(await good.report(try report(0), context) == 1)
        #expect(try request(tool)[1].hasSuffix("succeeded"))
        #expect(await good.report(try report(0), context) == 0)
        #expect(await good.report(try report(1), context) == 0)
        // It is a change although nobody asked for the failure.
        #expect(await good.report(try report(0), context) == 1)
        #expect(try request(tool)[1].hasSuffix("works again"))
    }

    @Test("A target that could not be reached gets its message after the next run")
    func retried() async throws {
        let (tool, port) = try server(status: 500)
        let url = "http://127.0.0.1:\(port)/topic-SECRET?auth=SECRET"
        let context = scene.context()
        #expect(await (try notifications(url)).report(try report(1, "SECRET no"), context) == 0)
        _ = try request(tool)
        tool.kill()
        let warning = try #require(scene.told.first)
        #expect(warning.contains("no notification by 'http://127.0.0.1:\(port)/…': "))
        #expect(warning.contains("500") && !warning.contains("SECRET"))
        #expect(scene.told.count == 1)
        #expect(await (try notifications(url)).report(try report(1), context) == 0)
        #expect(scene.told.count == 2 && scene.told.last?.contains("SECRET") == false)
        // What went away meanwhile is no news.
        #expect(await (try notifications(url)).report(try report(0), context) == 0)
        #expect(scene.told.count == 2)
        #expect(
            !String(decoding: try scene.sandbox.read("State/log.sqlite"), as: UTF8.self).contains(
                "SECRET"
            )
        )
    }

    @Test("A message about a run has no secret of a target")
    func masked() async throws {
        let (tool, port) = try server()
        defer { tool.kill() }
        let all = try notifications("http://127.0.0.1:\(port)/topic", "tgram://TOKEN-1/2")
        let context = scene.context()
        _ = await all.report(try report(1, "a hook wrote TOKEN-1"), context)
        #expect(try request(tool)[2].hasPrefix("a hook wrote …\n"))
    }

    @Test("A server that hangs delays no other message, and the run goes on")
    func hanging() async throws {
        let program = """
            import socket
            listener = socket.create_server(('127.0.0.1', 0))
            print(listener.getsockname()[1], flush=True)
            input()
            """
        let silent = try RunningTool("python3", ["-c", program])
        defer { silent.kill() }
        let port = try #require(Int(silent.readLine() ?? ""))
        let (tool, other) = try server()
        defer { tool.kill() }
        var all = try notifications(
            "http://127.0.0.1:\(port)/one",
            "http://127.0.0.1:\(port)/two",
            "http://127.0.0.1:\(other)/three"
        )
        all.timeout = .seconds(2)
        let deliveries = await all.test(scene.context())
        #expect(deliveries.map { $0.failure == nil } == [false, false, true])
        #expect(deliveries[0].failure?.contains("timed out") == true)
        #expect(try request(tool)[0] == "/three")
    }

    @Test("A run never changes its result because of notifications, even without a log")
    func aroundRuns() async throws {
        try scene.sandbox.write("a file", to: "State")
        var run = Run(.backup, stores: scene.stores, remote: "r", began: Scene.morning)
        run.notifications = try notifications("http://127.0.0.1:1/topic", "tgram://a/b")
        let result = CommandResult(exitCode: 10, message: "no folder")
        let ending = await run.perform(
            scene.context(),
            backups: { [] },
            failure: { _ in result },
            work: { result }
        )
        #expect(ending == result)
        #expect(scene.told.count == 2)
        #expect(scene.told.allSatisfy { $0.hasPrefix("warning: no notification by '") })
    }

    @Test("A run that a person interrupted or a hook skipped is no change", arguments: [130, 75])
    func silence(exitCode: Int32) {
        let entry = RunLog.Entry(
            command: "backup",
            stores: "/s",
            remote: "/r",
            began: Scene.morning,
            duration: .zero,
            exitCode: exitCode
        )
        #expect(JobReport(entry) == nil)
    }

    @Test("A mask hides the longest secret first, and what percent signs encode")
    func mask() {
        let mask = SecretMask(["abcd", "abcdef", "x%20yz", "abc"])
        #expect(mask("abcdefg abcd abc x yz x%20yz") == "…g … abc … …")
    }

    @Test("The log keeps the condition of each job and target apart")
    func conditions() throws {
        let job = RunLog.Job("backup", profile: nil, stores: "/s", remote: "/r")
        var other = job
        other.profile = "p"
        #expect(try log.condition(of: job, for: "a") == nil)
        try log.setCondition("failed", of: job, for: "a", at: Scene.morning)
        try log.setCondition("good", of: job, for: "a", at: Scene.morning)
        #expect(try log.condition(of: job, for: "a") == "good")
        #expect(try log.condition(of: job, for: "b") == nil)
        #expect(try log.condition(of: other, for: "a") == nil)
        #expect(try log.notice(of: job, for: "a")?.time == Scene.morning)
    }
}
