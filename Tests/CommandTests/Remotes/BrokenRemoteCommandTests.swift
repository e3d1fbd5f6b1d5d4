@testable import grocerydude
import Files
import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Commands whose server does not answer, stops, refuses or is full.
@Suite("Commands over a broken remote", .serialized)
struct BrokenRemoteCommandTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    private static let clock = ContinuousClock()

    /// Expects a failed backup to have left nothing.
    private func expectNothing(of machine: ServedProgram) throws {
        #expect(try machine.files().filter { !$0.contains(".partial") } == [])
        let cache = try machine.program.sandbox.contents(of: ".cache/grocerydude", hashing: false)
        #expect(!cache.paths.contains { $0.contains(".partial") }, "\(cache.paths)")
    }

    @Test(
        "A command fails and reports the state if the remote stops in the middle of an upload",
        arguments: ServedCommandTests.some(.webdav)
    )
    func stops(kind: RemoteServer.Kind) throws {
        let server = try RemoteServer(kind, in: sandbox, isBehindProxy: true)
        let machine = try ServedProgram(on: server)
        try machine.makeStores(megabytes: 20)
        let proxy = try #require(server.proxy)
        proxy.mode = .delay(.milliseconds(20))
        Thread.detachNewThread {
            try? ServedProgram.wait { proxy.sent > 2 << 20 }
            server.stop()
        }
        let outcome = try machine.run("backup", "--set", "remote_idle_timeout=6s", "--verbose")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("waiting for 'rclone:\(machine.address)' for 5 s"))
        #expect(
            outcome.errors.contains("backup failed, nothing was changed: 'rclone:")
                && outcome.errors.contains("has stopped answering: nothing has moved for 6 s"),
            "\(outcome.errors)"
        )
        server.goOn()
        proxy.mode = .pass
        try expectNothing(of: machine)
        // The next run removes what was uploaded in part.
        let next = try machine.run("backup")
        #expect(next.status == 0, "\(next.errors)")
        #expect(try machine.files() == [String(next.text.dropLast())])
    }

    @Test("A killed command's partial file is removed by its next run, but not by another machine")
    func killed() throws {
        let server = try RemoteServer(.webdav, in: sandbox, isBehindProxy: true)
        let machine = try ServedProgram(on: server)
        let other = try ServedProgram(on: server)
        try machine.makeStores(megabytes: 20)
        try other.makeStores()
        let proxy = try #require(server.proxy)
        proxy.mode = .delay(.milliseconds(20))
        let run = try machine.start("backup")
        try ServedProgram.wait { proxy.sent > 2 << 20 }
        run.kill()
        // rclone goes on for a while: its connection ends here.
        proxy.mode = .refuse
        // As a server would have it that does not clean up.
        let partial = ".grocerydude-\(try machine.tag())-01234567-0123456789abcdef.partial"
        try sandbox.write("part", to: "served-webdav/\(ServedProgram.folder)/\(partial)")
        proxy.mode = .pass
        #expect(try other.run("backup").status == 0)
        #expect(try machine.files().contains(partial))
        let next = try machine.run("backup", "--verbose")
        #expect(next.status == 0, "\(next.errors)")
        #expect(next.errors.contains("removed '\(partial)'"))
        #expect(try machine.files().count == 2)
    }

    @Test("A command ends at once when it is interrupted", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) throws {
        let server = try RemoteServer(.webdav, in: sandbox)
        let machine = try ServedProgram(on: server)
        server.stop()
        let run = try machine.start("list")
        try ServedProgram.wait { try !machine.calls.isEmpty }
        let start = Self.clock.now
        run.signal(signal)
        #expect(run.wait() == 128 + signal)
        // Nothing would move for 60 s.
        #expect(Self.clock.now - start < .seconds(20))
        server.goOn()
    }

    @Test(
        "A command fails in bounded time if the remote does not listen",
        arguments: RemoteServer.Kind.available
    )
    func unreachable(kind: RemoteServer.Kind) throws {
        let server = try RemoteServer(kind, in: sandbox)
        let machine = try ServedProgram(on: server)
        server.end()
        let start = Self.clock.now
        let outcome = try machine.run("list", "--set", "remote_connect_timeout=2s")
        #expect(Self.clock.now - start < .seconds(20))
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.contains("there is no connection to 'rclone:\(machine.address)'"),
            "\(outcome.errors)"
        )
        #expect(outcome.errors.contains("connection refused"))
    }

    @Test(
        "A command reports each refusal with its own exit code, and leaves no partial work"
    )
    func refusals() throws {
        let server = try RemoteServer(.webdav, in: sandbox, isBehindProxy: true)
        let wrong = try ServedProgram(on: server, password: "wrong")
        try wrong.makeStores()
        try expect(12, "does not accept the name, password or key", wrong.run("backup"))
        let missing = try ServedProgram(on: try RemoteServer(.sftp, in: sandbox), isMade: false)
        try missing.makeStores()
        let outcome = try missing.run("backup")
        try expect(10, "there is no remote folder", outcome)
        #expect(outcome.errors.contains("rclone mkdir '\(missing.address)'"))
        try expect(10, "no such remote", missing.run("backup", "--remote", "rclone:nowhere:a"))
        let full = try ServedProgram(on: server)
        try full.makeStores()
        server.proxy?.mode = .answer(to: "PUT ", with: "507 Insufficient Storage")
        try expect(23, "there is no space left in 'rclone:", full.run("backup"))
        server.proxy?.mode = .pass
        try expectNothing(of: full)
    }

    @Test(
        "A command on a read-only remote fails, and leaves no partial work",
        arguments: ServedCommandTests.some(.webdav, .sftp).filter { $0 != .s3 }
    )
    func readOnly(kind: RemoteServer.Kind) throws {
        try sandbox.directory("served-\(kind.rawValue)/\(ServedProgram.folder)")
        let server = try RemoteServer(kind, in: sandbox, options: ["--read-only"])
        let machine = try ServedProgram(on: server, isMade: false)
        try machine.makeStores()
        try expect(1, "may not be written", machine.run("backup"))
        try expectNothing(of: machine)
    }

    @Test("A command recognizes its machine, and continues if it cannot")
    func machine() throws {
        let directory = sandbox.path("State/grocerydude")
        let machine = try #require(MachineSecret.kept(in: directory))
        #expect(machine.count > 16)
        #expect(MachineSecret.kept(in: directory) == machine)
        #expect(MachineSecret.kept(in: sandbox.path("Other")) != machine)
        try sandbox.write("in the way", to: "file")
        #expect(MachineSecret.kept(in: sandbox.path("file")) == nil)
        #expect(try Directory.open(directory).names().map(\.description) == ["machine"])
    }

    private func expect(_ status: Int32, _ text: String, _ outcome: Tool.Outcome) throws {
        #expect(outcome.status == status, "\(outcome.errors)")
        #expect(outcome.errors.contains(text), "\(outcome.errors)")
    }
}

extension ServedProgram {
    /// The part of the names of its partial uploads that is this machine's.
    fileprivate func tag() throws -> String {
        let secret = String(
            decoding: try program.sandbox.read(".local/state/grocerydude/machine"),
            as: UTF8.self
        )
        let bytes = Array("\(secret)\n\(address)".utf8)
        return String(bytes.withUnsafeBytes { Digest(of: $0) }.description.prefix(12))
    }
}
