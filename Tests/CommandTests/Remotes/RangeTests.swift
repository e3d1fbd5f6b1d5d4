import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Commands that read only parts of remote archives",
    .enabled(if: ServedDirectory.canCount, "rclone or python3 is not installed")
)
struct RangeTests {
    private let program: Program
    private let server: ServedDirectory
    private let places: [String]

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        for index in 0..<1000 {
            var random = Pseudorandom(seed: UInt64(index))
            try program.sandbox.write(random.bytes(4000), to: "Stores/photos/\(index).jpg")
        }
        server = try ServedDirectory(program.sandbox.path("Remote"), counting: true)
        places = ["--stores", "Stores", "--remote", server.address]
    }

    @Test(
        "A command reads only the ends of remote archives, and shows what is known of all",
        arguments: [["show", "latest"], ["restore", "latest", "--dry-run"]]
    )
    func bounded(command: [String]) throws {
        let backup = try program.run(["backup"] + places)
        #expect(backup.status == 0, "\(backup.errors)")
        // As on another machine.
        try LocalFileSystem().remove(program.sandbox.path(".cache"))
        _ = try server.countSent()
        let looked = try program.run(
            command + ["--json"] + places.suffix(command.count == 2 ? 2 : 4)
        )
        #expect(looked.status == 0, "\(looked.errors)")
        #expect(try server.countSent() < 2 << 20)
        let answer = try #require(looked.json as? [String: Any])
        if command[0] == "show" {
            #expect((answer["files"] as? [Any])?.count == 1002)
        } else {
            #expect(answer["data_read"] as? Bool == false)
            #expect(answer["files"] as? Int == 1001)
        }
        // The time of the manifest, with seconds.
        let listed = try #require(
            program.run(["list", "--json"] + places.suffix(2)).json as? [[String: Any]]
        )
        #expect(listed.first?["time_source"] as? String == "manifest")
        #expect(try server.countSent() < 1 << 20)
    }
}
