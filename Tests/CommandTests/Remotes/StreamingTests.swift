import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "A streamed backup",
    .enabled(if: ServedDirectory.isAvailable, "rclone is not installed")
)
struct StreamingTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        var random = Pseudorandom(seed: 1)
        try program.sandbox.write(random.bytes(8 << 20), to: "Stores/photo.jpg")
    }

    private func names() throws -> [String] {
        try Directory.open(program.sandbox.path("Remote")).names().map(\.description)
    }

    private func archives() throws -> [String] { try names().filter { $0.hasSuffix(".zip") } }

    @Test("A streamed backup equals another, and is never stored on this machine")
    func streams() throws {
        let server = try ServedDirectory(program.sandbox.path("Remote"), over: .sftp)
        let places = ["--stores", "Stores", "--remote", server.address]
        // No file may have more than a mebibyte.
        let limited = "ulimit -f 2048; exec \"$0\" \"$@\""
        func backUp(_ options: [String]) throws -> Tool.Outcome {
            try Tool.run(
                "/bin/sh",
                ["-c", limited, Program.path, "backup", "--json"] + options + places,
                environment: program.environment,
                directory: program.sandbox.path
            )
        }
        #expect(try backUp([]).status == 23)
        #expect(try names().isEmpty)
        let backup = try backUp(["--set", "spool=false", "--tag", "streamed"])
        #expect(backup.status == 0, "\(backup.errors)")
        #expect(try archives().count == 1)
        #expect(try names().allSatisfy { !$0.hasSuffix(".partial") })
        let listed =
            try program.run(["list", "--json"] + places.suffix(2)).json as? [[String: Any]]
        #expect(listed?.first?["tags"] as? [String] == ["streamed"])
        #expect(try program.run(["check", "--quick"] + places).text.contains("md5"))
        let restored = try program.run(["restore", "latest", "--target", "Out"] + places)
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(
            try program.sandbox.read("Out/photo.jpg") == program.sandbox.read("Stores/photo.jpg")
        )
    }

    @Test(
        "A backup is made on this machine first if the remote cannot take a stream, with a message"
    )
    func fallsBack() throws {
        let server = try ServedDirectory(program.sandbox.path("Remote"))
        try program.configure("spool: false\n")
        let backup = try program.run("backup", "--stores", "Stores", "--remote", server.address)
        #expect(backup.status == 0, "\(backup.errors)")
        #expect(backup.errors.contains("made on this machine first"))
        #expect(try archives().count == 1)
    }

    /// Starts a backup that takes long, and waits until a part of it is there.
    private func begin(_ server: ServedDirectory) throws -> RunningTool {
        let running = try RunningTool(
            Program.path,
            ["backup", "--set", "spool=false", "--stores", "Stores", "--remote", server.address],
            environment: program.environment.merging(["RCLONE_BWLIMIT": "1M"]) { $1 },
            directory: program.sandbox.path
        )
        while try !names().contains(where: { $0.hasSuffix(".partial") }) { usleep(10_000) }
        return running
    }

    @Test("A killed stream lists no backup, and the next backup succeeds")
    func killed() throws {
        let server = try ServedDirectory(program.sandbox.path("Remote"), over: .sftp)
        let running = try begin(server)
        running.kill()
        let places = ["--stores", "Stores", "--remote", server.address]
        let listed = try program.run(["list", "--json"] + places.suffix(2))
        #expect(listed.status == 0)
        #expect(try (listed.json as? [Any])?.isEmpty == true)
        #expect(try program.run(["backup", "--set", "spool=false"] + places).status == 0)
        #expect(try archives().count == 1)
        #expect(try program.run(["check", "latest"] + places).status == 0)
    }

    @Test("A streamed backup fails if the server goes away, and lists nothing")
    func serverGone() throws {
        let server = try ServedDirectory(program.sandbox.path("Remote"), over: .sftp)
        let running = try begin(server)
        server.stop()
        #expect(running.wait() == 1)
        #expect(try archives().isEmpty)
    }

    @Test("An interrupted stream leaves nothing")
    func interrupted() throws {
        let server = try ServedDirectory(program.sandbox.path("Remote"), over: .sftp)
        let running = try begin(server)
        running.signal(SIGINT)
        #expect(running.wait() == 130)
        #expect(try archives().isEmpty)
    }
}
