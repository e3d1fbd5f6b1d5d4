import Files
import TestSupport
import Testing

@Suite(
    "An upload to a remote with hashes",
    .enabled(if: ServedDirectory.canCount, "rclone or python3 is not installed")
)
struct VerifiedUploadTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        var random = Pseudorandom(seed: 1)
        try program.sandbox.write(random.bytes(3 << 20), to: "Stores/photo.jpg")
    }

    @Test(
        "An upload that arrives wrong is refused whatever rclone's options, and leaves nothing",
        arguments: ["spool=true", "spool=false"]
    )
    func corrupted(option: String) throws {
        let server = try HashingServer(flipping: true)
        let backup = try program.run(
            ["backup", "--set", option, "--stores", "Stores", "--remote", server.address],
            environment: ["RCLONE_IGNORE_CHECKSUM": "true", "RCLONE_SIZE_ONLY": "true"]
        )
        #expect(backup.status == 1)
        #expect(backup.errors.contains("corrupted on transfer"), "\(backup.errors)")
        let place = String(server.address.dropFirst("rclone:".count))
        let left = try Tool.check("rclone", ["lsf", "--files-only", place])
        #expect(left.isEmpty, "\(left)")
    }

    @Test(
        "A waiting backup whose upload arrives wrong still waits, and a whole one has a known hash"
    )
    func waited() throws {
        let queue = ["backup", "--set", "queue=true", "--stores", "Stores", "--remote"]
        for isFlipping in [true, false] {
            let server = try HashingServer(flipping: isFlipping)
            let backup = try program.run(queue + [server.address])
            #expect(backup.status == 0, "\(backup.errors)")
            #expect(backup.errors.contains("corrupted on transfer") == isFlipping)
            let upload = try program.run("copy", "--waiting", "--remote", server.address)
            #expect(upload.status == (isFlipping ? 1 : 0), "\(upload.errors)")
            let listed = try program.run("list", "--json", "--remote", server.address)
            let rows = try #require(listed.json as? [[String: Any]])
            #expect(rows.map { $0["waiting"] as? Bool } == [isFlipping])
            let place = String(server.address.dropFirst("rclone:".count))
            let there = try Tool.check("rclone", ["lsf", "--files-only", place])
            #expect(there.split(separator: "\n").count == (isFlipping ? 0 : 1), "\(there)")
            guard !isFlipping else { continue }
            let check = try program.run("check", "--quick", "--remote", server.address)
            #expect(check.text.contains("md5"), "\(check.text)")
        }
    }

    @Test(
        "A quick check compares an upload's hash, and a server without ranges suffices to read it",
        arguments: ["spool=true", "spool=false"]
    )
    func right(option: String) throws {
        let server = try HashingServer(flipping: false)
        let places = ["--stores", "Stores", "--remote", server.address]
        let backup = try program.run(["backup", "--set", option] + places)
        #expect(backup.status == 0, "\(backup.errors)")
        let check = try program.run(["check", "--quick"] + places.suffix(2))
        #expect(check.status == 0)
        #expect(check.text.contains("md5"), "\(check.text)")
        // The server sends the beginning of the file whatever is asked for.
        try LocalFileSystem().remove(program.sandbox.path(".cache"))
        let shown = try program.run(["show", "latest"] + places.suffix(2))
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.text.contains("photo.jpg"))
        let dry = try program.run(["restore", "latest", "--dry-run"] + places)
        #expect(dry.status == 0, "\(dry.errors)")
    }
}
