import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Runs that are killed while an archive is under a hidden name on a real server.
@Suite(
    "Leftovers of a killed upload",
    .serialized,
    .enabled(if: RemoteServer.Kind.webdav.isInstalled, "rclone is not installed")
)
struct LeftoverTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    /// A command that uploads, and the request amid which it is killed.
    struct Upload: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        /// Before the archive gets its name, or while it is read back under a hidden one of its own.
        var request: String

        var testDescription: String { "\(arguments[0]) killed at \(request)" }
    }

    private static let uploads = ["MOVE ", "GET "].flatMap { request in
        [
            ["copy", "--waiting"], ["import", "Made.zip"],
            ["copy", "--all", "--remote", "Made", "--to", "there"],
        ]
        // What waited is not read back.
        .filter { request == "MOVE " || $0 != ["copy", "--waiting"] }
        .map { Upload(arguments: $0, request: request) }
    }

    @Test(
        "The next run of the same command removes the leftovers of a killed upload",
        arguments: uploads
    )
    func removed(upload: Upload) throws {
        let server = try RemoteServer(.webdav, in: sandbox, isBehindProxy: true)
        let machine = try ServedProgram(on: server)
        try machine.makeStores()
        let proxy = try #require(server.proxy)
        let own = machine.program.sandbox
        try own.directory("Made")
        let made = try machine.run("backup", "--remote", own.path("Made").string)
        #expect(made.status == 0, "\(made.errors)")
        let name = String(made.text.dropLast())
        try own.write(own.read("Made/\(name)"), to: "Made.zip")
        if upload.arguments == ["copy", "--waiting"] {
            proxy.mode = .refuse
            #expect(try machine.run("backup", "--set", "queue=true").status == 0)
            proxy.mode = .pass
        }
        let arguments = upload.arguments.map {
            switch $0 {
            case "there": "rclone:\(machine.address)"
            case "Made", "Made.zip": own.path($0).string
            default: $0
            }
        }
        proxy.mode = .holdFrom(upload.request)
        let run = try machine.start(arguments)
        try ServedProgram.wait { proxy.mode == .hold }
        try machine.kill(run)
        // What it asked for does not get through.
        proxy.mode = .refuse
        try ServedProgram.wait { proxy.isIdle }
        proxy.mode = .pass
        let left = try machine.files()
        #expect(left.count == 1 && left.allSatisfy { $0.hasSuffix(".partial") }, "\(left)")
        let next = try machine.run(arguments + ["--verbose"])
        #expect(next.status == 0, "\(next.errors)")
        #expect(next.errors.contains("removed '\(left.first ?? "")'"), "\(next.errors)")
        #expect(try machine.files().count == 1)
        #expect(try machine.names().count == 1)
        #expect(try machine.run("check", "--all").status == 0)
    }
}
