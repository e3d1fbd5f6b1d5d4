@testable import Backups
import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("Ping")
struct PingTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    /// A monitor: says on which port it listens, then writes down each request.
    private func monitor(status: Int = 200) throws -> (server: RunningTool, port: Int) {
        let program = """
            import http.server, json
            class Handler(http.server.BaseHTTPRequestHandler):
                def answer(self):
                    body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                    print(json.dumps([self.command, self.path, body.decode()]), flush=True)
                    self.send_response(\(status)); self.end_headers(); self.wfile.write(b'OK')
                do_GET = do_POST = answer
                def log_message(self, *arguments): pass
            server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
            print(server.server_port, flush=True)
            server.serve_forever()
            """
        let server = try RunningTool("python3", ["-c", program])
        let port = try #require(Int(server.readLine() ?? ""))
        return (server, port)
    }

    private func request(_ server: RunningTool) throws -> [String]? {
        try server.readLine().map { try JSONDecoder().decode([String].self, from: Data($0.utf8)) }
    }

    @Test("reports start, success and failure to a monitor, as healthchecks.io expects it")
    func signals() async throws {
        let (server, port) = try monitor()
        let ping = Ping("http://127.0.0.1:\(port)/abc?create=1")
        try await ping.send(.start)
        #expect(try request(server) == ["GET", "/abc/start?create=1", ""])
        try await ping.send(.success)
        #expect(try request(server) == ["GET", "/abc?create=1", ""])
        let message = #"no "space" \ at 'x'"# + "\nüber\r\n@/etc/passwd"
        try await ping.send(.failure(message))
        #expect(try request(server) == ["POST", "/abc/fail?create=1", message])
        try await Ping("http://127.0.0.1:\(port)/abc/").send(.start)
        #expect(try request(server) == ["GET", "/abc/start", ""])
        try await ping.send(.failure(String(repeating: "x", count: 1_000_000)))
        #expect(try request(server)?.last?.count == 8000)
        server.kill()
    }

    @Test("takes a text that begins with @ for a text, and an empty one too")
    func oddTexts() async throws {
        let (server, port) = try monitor()
        for text in ["@/etc/passwd", "-", ""] {
            try await Ping("http://127.0.0.1:\(port)/").send(.failure(text))
            #expect(try request(server) == ["POST", "/fail", text])
        }
        server.kill()
    }

    @Test("says what a monitor answers that does not want it, without its secret address")
    func refused() async throws {
        let (server, port) = try monitor(status: 404)
        let error = await #expect(throws: HookError.self) {
            try await Ping("http://user:word@127.0.0.1:\(port)/secret").send(.success)
        }
        let text = try #require(error?.description)
        #expect(text.hasPrefix("cannot ping the monitor '127.0.0.1:\(port)': "))
        #expect(text.contains("404"))
        #expect(!text.contains("secret") && !text.contains("word"))
        server.kill()
    }

    /// A monitor that takes the connection and says nothing.
    private func silentMonitor() throws -> (server: RunningTool, port: Int) {
        let program = """
            import socket
            listener = socket.create_server(('127.0.0.1', 0))
            print(listener.getsockname()[1], flush=True)
            input()
            """
        let server = try RunningTool("python3", ["-c", program])
        let port = try #require(Int(server.readLine() ?? ""))
        return (server, port)
    }

    @Test("gives up on a monitor that does not answer")
    func silent() async throws {
        let (server, port) = try silentMonitor()
        let ping = Ping("http://127.0.0.1:\(port)/", timeout: .milliseconds(500))
        let error = await #expect(throws: HookError.self) { try await ping.send(.success) }
        #expect(error?.description.contains("timed out") == true)
        server.kill()
    }

    @Test(
        "says why a monitor cannot be reached",
        arguments: [
            "http://127.0.0.1:1/", "http://no-such-host.invalid/", "file:///etc/passwd", "", "{}[",
        ]
    )
    func unreachable(url: String) async throws {
        await #expect(throws: HookError.self) { try await Ping(url).send(.start) }
    }

    @Test("stops when the user does")
    func interruption() async throws {
        let (server, port) = try silentMonitor()
        // Longer than any test run: beside other tests, minutes may pass before curl is watched.
        let timeout = Duration.seconds(1_000_000)
        await #expect(throws: CancellationError.self) {
            try await Ping("http://127.0.0.1:\(port)/", timeout: timeout).send(
                .start,
                checkCancellation: { throw CancellationError() }
            )
        }
        server.kill()
    }

    @Test("says that curl is missing")
    func noCurl() async throws {
        var ping = Ping("http://127.0.0.1:1/")
        ping.program = "grocerydude-no-curl"
        let error = await #expect(throws: HookError.self) { try await ping.send(.start) }
        #expect(error?.description.hasSuffix("'grocerydude-no-curl' is not installed") == true)
    }

    @Test("goes along with a run, and never changes what that comes to")
    func aroundRuns() async throws {
        let scene = try Scene(withStore: false)
        let (server, port) = try monitor()
        var run = Run(.backup, stores: scene.stores, remote: "r", began: Scene.morning)
        run.ping = Ping("http://127.0.0.1:\(port)/abc")
        func perform(_ result: CommandResult) async {
            let ending = await run.perform(
                scene.context(),
                backups: { [] },
                failure: { _ in result },
                work: { result }
            )
            #expect(ending == result)
        }
        await perform(CommandResult(exitCode: 0))
        #expect(try request(server)?[1] == "/abc/start")
        #expect(try request(server)?[1] == "/abc")
        await perform(CommandResult(exitCode: 1, message: "no space"))
        #expect(try request(server)?[1] == "/abc/start")
        #expect(try request(server) == ["POST", "/abc/fail", "no space"])
        server.kill()
        await perform(CommandResult(exitCode: 0))
        #expect(scene.told.count == 2)
        #expect(scene.told.allSatisfy { $0.hasPrefix("warning: cannot ping the monitor") })
    }
}
