import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// What only S3 answers, and does.
@Suite(
    "Commands over S3",
    .serialized,
    .enabled(if: RemoteServer.Kind.s3.isInstalled, "rclone or moto_server is not installed")
)
struct BucketTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    /// Answers as S3 does that refuses something.
    private static func refusal(_ code: String, to request: String) -> TCPProxy.Mode {
        let body =
            #"<?xml version="1.0" encoding="UTF-8"?><Error><Code>\#(code)</Code><Message>No.</Message>"#
            + "<RequestId>1</RequestId><HostId>1</HostId></Error>"
        return .answer(to: request, with: "403 Forbidden", body: body)
    }

    @Test(
        "A command reports a wrong key for a bucket, and does nothing",
        arguments: ["InvalidAccessKeyId", "SignatureDoesNotMatch"]
    )
    func wrongKey(code: String) throws {
        let server = try RemoteServer(.s3, in: sandbox, isBehindProxy: true)
        let machine = try ServedProgram(on: server)
        try machine.makeStores()
        server.proxy?.mode = Self.refusal(code, to: "")
        for command in ["backup", "list"] {
            let outcome = try machine.run(command)
            #expect(outcome.status == 12, "\(outcome.errors)")
            #expect(
                outcome.errors.contains("does not accept the name, password or key: ")
                    && outcome.errors.contains("\(code): No."),
                "\(outcome.errors)"
            )
            #expect(outcome.errors.contains("hint: see 'rclone config'"))
        }
        server.proxy?.mode = .pass
        #expect(try machine.files().isEmpty)
    }

    @Test("A command reports a read-only bucket, and changes nothing")
    func readOnly() throws {
        let server = try RemoteServer(.s3, in: sandbox, isBehindProxy: true)
        let machine = try ServedProgram(on: server)
        try machine.makeStores()
        let name = String(try machine.run("backup").text.dropLast())
        let before = try machine.files()
        for (verb, command) in [
            ("PUT ", ["backup"]), ("PUT ", ["pin", name]), ("PUT ", ["delete", name, "--yes"]),
            ("DELETE ", ["delete", name, "--yes", "--set", "retention.keep_trash=0"]),
        ] {
            server.proxy?.mode = Self.refusal("AccessDenied", to: verb)
            let outcome = try machine.run(command)
            #expect(outcome.status == 1, "\(command): \(outcome.errors)")
            #expect(
                outcome.errors.contains("may not be written: AccessDenied"),
                "\(command): \(outcome.errors)"
            )
            server.proxy?.mode = .pass
            #expect(try machine.files() == before, "\(command)")
        }
        #expect(try machine.run("check", "--all").status == 0)
    }

    /// Has rclone upload in parts of 5 MiB.
    private func machine(on server: RemoteServer) throws -> ServedProgram {
        let settings = ["UPLOAD_CUTOFF": "5Mi", "CHUNK_SIZE": "5Mi", "NO_HEAD": "true"]
        let pairs = settings.map { ("RCLONE_CONFIG_TESTS3_\($0)", $1) }
        let machine = try ServedProgram(
            on: server,
            settings: Dictionary(uniqueKeysWithValues: pairs)
        )
        try machine.makeStores(megabytes: 12)
        return machine
    }

    @Test("A backup is uploaded to a bucket in parts, and restored whole")
    func parts() throws {
        let server = try RemoteServer(.s3, in: sandbox)
        let machine = try machine(on: server)
        let before = try machine.program.sandbox.contents(of: "Stores")
        let backup = try machine.run("backup")
        #expect(backup.status == 0, "\(backup.errors)")
        let log = String(decoding: try sandbox.read("s3.log"), as: UTF8.self)
        #expect(log.contains("partNumber=3"))
        #expect(try machine.run("check", "--all").status == 0)
        #expect(try machine.run("restore", "latest", "--yes").status == 0)
        let after = try machine.program.sandbox.contents(of: "Stores")
        #expect(after.items.map(\.detail) == before.items.map(\.detail))
    }

    @Test(
        "A bucket lists no upload killed between its parts, and the next backup is whole"
    )
    func killed() throws {
        let server = try RemoteServer(.s3, in: sandbox, isBehindProxy: true)
        let machine = try machine(on: server)
        let proxy = try #require(server.proxy)
        proxy.mode = .delay(.milliseconds(10))
        let run = try machine.start("backup")
        try ServedProgram.wait { proxy.sent > 6 << 20 }
        proxy.mode = .hold
        try machine.kill(run)
        proxy.mode = .refuse
        try ServedProgram.wait { proxy.isIdle }
        proxy.mode = .pass
        #expect(try machine.names().isEmpty)
        #expect(try machine.files().isEmpty)
        // Its parts take space until somebody ends the upload; Documentation/Remotes.md has the command.
        let place = machine.address
        #expect(try server.rclone("backend", "list-multipart-uploads", place).contains(".partial"))
        let next = try machine.run("backup")
        #expect(next.status == 0, "\(next.errors)")
        #expect(try machine.files() == [String(next.text.dropLast())])
        #expect(try machine.run("check", "--all").status == 0)
        try server.rclone("backend", "cleanup", "-o", "max-age=24h", place)
        #expect(try !server.rclone("backend", "list-multipart-uploads", place).contains(".partial"))
        #expect(try machine.files() == [String(next.text.dropLast())])
    }

    @Test("A bucket with versions restores what an intruder deleted and replaced")
    func versions() throws {
        let server = try RemoteServer(.s3, in: sandbox)
        try server.keepVersions()
        let machine = try ServedProgram(on: server)
        try machine.makeStores()
        #expect(try machine.run("backup").status == 0)
        let second = try machine.run("backup")
        let name = String(second.text.dropLast())
        #expect(try machine.run("pin", name).status == 0)
        let names = try machine.names()
        // The server knows the second of a change, so the moment to go back to is the end of this one.
        let moment = (Date.now.timeIntervalSince1970 + 1).rounded(.down)
        try ServedProgram.wait { Date.now.timeIntervalSince1970 > moment + 1 }
        let junk = try sandbox.write("junk", to: "junk").string
        for name in names { try server.rclone("copyto", junk, "\(machine.address)/\(name)") }
        try server.rclone("delete", machine.address)
        let lost = try machine.run("status", "--max-age", "1d")
        #expect(lost.status == 25, "\(lost.text)")
        #expect(lost.errors.contains("2 backups"), "\(lost.errors)")

        let rescue = sandbox.path("rescue").string
        let when = Date(timeIntervalSince1970: moment).formatted(.iso8601)
        try server.rclone("copy", "--s3-version-at", when, machine.address, rescue)
        let rescued = try machine.run("list", "--json", "--remote", rescue).json
        let rows = try #require(rescued as? [[String: Any]])
        #expect(rows.compactMap { $0["name"] as? String } == names)
        #expect(rows.compactMap { $0["pinned"] as? Bool } == names.map { $0 == name })
        #expect(try machine.run("check", "--all", "--remote", rescue).status == 0)
        let restored = try machine.run("restore", name, "--remote", rescue, "--yes")
        #expect(restored.status == 0, "\(restored.errors)")
    }
}
