import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Remotes

@Suite("The modification times of a remote folder's files")
struct ModificationTimeTests {
    private func expectTimes(of folder: any RemoteFolder, _ sandbox: Sandbox) async throws {
        let path = try sandbox.write("x", to: "Remote/a.zip").string
        for seconds in [1_000_000_000, 1_795_251_660] {
            try Tool.check("touch", ["-d", "@\(seconds)", path])
            let modified = try await folder.list().first?.modified
            #expect(modified == Date(timeIntervalSince1970: Double(seconds)))
        }
    }

    @Test("A local directory gives the modification times of its files")
    func local() async throws {
        let sandbox = try Sandbox()
        try await expectTimes(of: LocalFolder(sandbox.path("Remote")), sandbox)
    }

    @Test(
        "rclone gives modification times, but not the time that means none",
        .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
    )
    func rclone() async throws {
        let sandbox = try Sandbox()
        let folder = RcloneFolder(":local:\(sandbox.path("Remote").string)")
        try await expectTimes(of: folder, sandbox)
        try Tool.check("touch", ["-d", "@0", sandbox.path("Remote/a.zip").string])
        #expect(try await folder.list().map(\.modified) == [nil])
    }
}
