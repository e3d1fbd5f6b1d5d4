import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Backups that wait for, and are copied from, a real server on the loopback.
@Suite(
    "Moving backups over the web",
    .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
)
struct WaitingOverWebTests {
    private let program: Program
    private let port: UInt16

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Served")
        port = try Self.freePort()
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) + getsockname(descriptor, $0, &length)
            }
        }
        try #require(status == 0)
        return UInt16(bigEndian: address.sin_port)
    }

    /// A remote called 'web', with a client that does not try again and again.
    private var environment: [String: String] {
        [
            "RCLONE_CONFIG_WEB_TYPE": "webdav",
            "RCLONE_CONFIG_WEB_URL": "http://127.0.0.1:\(port)",
            "RCLONE_RETRIES": "1", "RCLONE_LOW_LEVEL_RETRIES": "1",
        ]
    }

    private let places = ["--stores", "Stores", "--remote", "rclone:web:"]

    private func run(_ arguments: [String]) throws -> Tool.Outcome {
        try program.run(arguments, environment: environment)
    }

    /// Starts the server, and returns once it answers.
    private func serve() throws -> RunningTool {
        let server = try RunningTool(
            "rclone",
            ["serve", "webdav", "Served", "--addr", "127.0.0.1:\(port)", "--quiet"],
            environment: program.environment,
            directory: program.sandbox.path
        )
        for _ in 1...100 {
            let list = try Tool.run(
                "rclone",
                ["lsf", "web:"],
                environment: program.environment.merging(environment) { $1 }
            )
            if list.status == 0 { return server }
        }
        Issue.record("the server does not answer")
        return server
    }

    private func names(_ folder: String) throws -> [String] {
        try Directory.open(program.sandbox.path(folder)).names().map(\.description)
            .filter { $0.hasSuffix(".zip") }.sorted()
    }

    @Test(
        "A backup waits while the server is away, and stays whole wherever it is moved from there"
    )
    func away() throws {
        let first = try run(["backup", "--set", "queue=true", "--tag", "a"] + places)
        #expect(first.status == 0 && first.errors.contains("waits for"), "\(first.errors)")
        #expect(try run(["list"] + places).text.contains("waiting for upload"))
        let server = try serve()
        #expect(try run(["backup", "--set", "queue=true"] + places).status == 0)
        #expect(try names("Served").count == 2)
        try program.sandbox.directory("Other")
        let copied = try run(["copy", "--all", "--to", "Other"] + places)
        #expect(copied.status == 0, "\(copied.errors)")
        #expect(try run(["copy", "latest", "--to", "Fetched.zip"] + places).status == 0)
        for name in try names("Served") {
            let bytes = try program.sandbox.read("Served/\(name)")
            #expect(try program.sandbox.read("Other/\(name)") == bytes)
        }
        #expect(try names("Other") == names("Served"))
        #expect(try program.run("list", "--remote", "Other").text.contains("[a]"))
        server.kill()
        #expect(try run(["copy", "--waiting"] + places).status == 0)
        #expect(try run(["copy", "--all", "--to", "Other"] + places).status != 0)
    }

    @Test("A backup whose upload is killed continues without its stores, and arrives once")
    func killed() throws {
        var generator = Pseudorandom(seed: 7)
        try program.sandbox.write(generator.bytes(8_000_000), to: "Stores/large")
        let server = try serve()
        defer { server.kill() }
        let backup = try RunningTool(
            Program.path,
            ["backup", "--set", "queue=true"] + places,
            environment: program.environment.merging(environment) { $1 }
                .merging(["RCLONE_BWLIMIT": "1M"]) { $1 },
            directory: program.sandbox.path
        )
        // The first bytes of it have arrived.
        var isUnderWay = false
        while !isUnderWay {
            isUnderWay = try Directory.open(program.sandbox.path("Served")).names()
                .contains { $0.description.hasSuffix(".partial") }
            try #require(isUnderWay || kill(backup.processIdentifier, 0) == 0)
        }
        backup.kill()
        #expect(try names("Served").isEmpty)
        try LocalFileSystem().remove(program.sandbox.path("Stores"))
        let sent = try run(["copy", "--waiting"] + places)
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try names("Served").count == 1)
        #expect(try run(["check", "--all"] + places).status == 0)
        #expect(try run(["copy", "--waiting"] + places).text.isEmpty)
        #expect(try names("Served").count == 1)
    }
}
