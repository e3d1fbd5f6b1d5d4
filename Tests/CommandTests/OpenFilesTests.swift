import Files
import SystemPackage
import TestSupport
import Testing

/// The built program if the system lets it have few files open (RLIMIT_NOFILE).
@Suite("With few open files")
struct OpenFilesTests {
    @Test("a directory of many directories is backed up and restored")
    func manyDirectories() throws {
        let sandbox = try Sandbox()
        try sandbox.directory("Remote")
        for number in 0..<3_000 {
            try sandbox.directory("Stores/\(number)")
            try sandbox.write([1], to: "Stores/\(number)/file")
        }
        func run(_ arguments: String) throws -> Tool.Outcome {
            try Tool.run(
                "sh",
                ["-c", "ulimit -n 1024; exec '\(Tool.product("grocerydude"))' \(arguments)"],
                environment: [
                    "HOME": sandbox.path.string,
                    "GROCERYDUDE_STORES": sandbox.path("Stores").string,
                    "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
                ]
            )
        }
        let backup = try run("backup")
        #expect(backup.status == 0, "\(backup.errors)")
        let restore = try run("restore latest --target '\(sandbox.path("Target"))'")
        #expect(restore.status == 0, "\(restore.errors)")
        #expect(try sandbox.contents(of: "Target") == sandbox.contents(of: "Stores"))
    }
}
