import Files
import SystemPackage
import TestSupport
import Testing

/// Servers whose disk is really full.
@Suite(
    "Commands over a server whose disk is full",
    .serialized,
    .enabled(if: RemoteServer.Kind.sftp.isInstalled, "rclone is not installed")
)
struct FullServerTests {
    private static let mayMount =
        (try? Tool.run("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]))?.status == 0

    @Test(
        "A command on a full server fails, reports the cause if the server does, and loses nothing",
        .enabled(if: mayMount, "this system or user may not mount"),
        arguments: [RemoteServer.Kind.sftp, .webdav]
    )
    func full(kind: RemoteServer.Kind) throws {
        let sandbox = try Sandbox()
        let server = try RemoteServer(kind, in: sandbox, diskSize: "4m")
        // As a server has it that can be asked for its space.
        let machine = try ServedProgram(
            on: server,
            settings: ["RCLONE_CONFIG_TESTSFTP_SHELL_TYPE": "unix"]
        )
        try machine.makeStores()
        let first = try machine.run("backup")
        #expect(first.status == 0, "\(first.errors)")
        let before = try machine.files()
        var random = Pseudorandom(seed: 3)
        try machine.program.sandbox.write(random.bytes(5 << 20), to: "Stores/noise")
        let outcome = try machine.run("backup")
        // rclone's own server says 405 over WebDAV, whatever the reason is.
        #expect(outcome.status == (kind == .sftp ? 23 : 1), "\(outcome.errors)")
        let words =
            kind == .sftp
            ? "there is no space left in 'rclone:" : "and its free space"
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(try machine.files() == before)
        #expect(try machine.run("check", "--all").status == 0)
        // With room again, the next one is there.
        try LocalFileSystem().remove(machine.program.sandbox.path("Stores/noise"))
        #expect(try machine.run("backup").status == 0)
        #expect(try machine.files().count == before.count + 1)
    }
}
