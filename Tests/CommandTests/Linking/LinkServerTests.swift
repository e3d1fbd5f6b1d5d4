import Foundation
import SystemPackage
import TestSupport
import Testing

/// A real server on the loopback, which ends with the test.
@Suite(
    "Linking to a server",
    .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed"),
    .timeLimit(.minutes(3))
)
struct LinkServerTests {
    let program: Program
    private let server: RunningTool
    private let address: String

    init() throws {
        program = try Program()
        let served = try program.sandbox.directory("Served").string
        let serve =
            "exec rclone serve webdav \"$1\" --addr 127.0.0.1:0 --user anna --pass secret 2>&1"
        server = try RunningTool("bash", ["-c", serve, "bash", served])
        var address: String?
        while address == nil, let line = try server.readLine() {
            address = line.firstMatch(of: #/http:\/\/127\.0\.0\.1:[1-9]\d*/#).map {
                String($0.output)
            }
        }
        self.address = try #require(address)
        for (name, password) in [("dav", "secret"), ("bad", "wrong")] {
            let settings = ["url=\(self.address)", "vendor=other", "user=anna", "pass=\(password)"]
            try Tool.check(
                "rclone",
                ["config", "create", name, "webdav", "--obscure"] + settings,
                environment: environment
            )
        }
    }

    private var environment: [String: String] {
        ["RCLONE_CONFIG": program.sandbox.path("rclone.conf").string]
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome {
        try program.run(arguments, environment: environment)
    }

    @Test("A link to a server creates a folder with brackets and spaces, and compares the clocks")
    func good() throws {
        let linked = try run("link", "rclone:dav:My Backups/ü [1]")
        #expect(linked.status == 0, "\(linked.errors)")
        #expect(linked.text == "linked 'default' to dav:My Backups/ü [1] as anna\n")
        #expect(try program.sandbox.contents(of: "Served/My Backups/ü [1]").paths.isEmpty)
        let check = try run("link", "--check", "--json")
        #expect(check.status == 0, "\(check.errors)")
        let steps = try #require((check.json as? [String: Any])?["steps"] as? [[String: Any]])
        #expect(steps.count == 6)
        #expect(steps[4]["what"] as? String == "it agrees with this machine's")
    }

    @Test("A link with a wrong password gives one clear error, and creates and writes nothing")
    func password() throws {
        let outcome = try run("link", "rclone:bad:x")
        #expect(outcome.status == 12 && outcome.errors.contains("401"), "\(outcome.errors)")
        let check = try run("link", "rclone:bad:x", "--check")
        #expect(check.status == 12 && check.text.contains("\nremote  FAILED"), "\(check.text)")
        #expect(!program.sandbox.exists(".config/grocerydude"))
        #expect(try program.sandbox.contents(of: "Served").paths.isEmpty)
    }
}
