import Files
import SystemPackage
import TestSupport
import Testing

@Suite("A path's place in the file systems")
struct MountPointTests {
    @Test("differs from that of an ordinary directory")
    func mountPoint() throws {
        let sandbox = try Sandbox()
        #expect(try !sandbox.path.isMountPoint())
        #expect(try FilePath("/").isMountPoint())
        #if os(Linux)
        #expect(try FilePath("/proc").isMountPoint())
        #endif
        let error = #expect(throws: FileError.self) { try sandbox.path("missing").isMountPoint() }
        #expect(error?.isMissing == true)
    }

    @Test("allows changes where permissions do")
    func changes() throws {
        let sandbox = try Sandbox()
        #expect(sandbox.path.allowsChanges)
        #expect(!sandbox.path("missing").allowsChanges)
    }
}
