import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite(
    "A quick check",
    .enabled(if: ServedDirectory.isAvailable, "rclone is not installed")
)
struct QuickCheckTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
    }

    private func check(
        _ places: [String],
        _ names: String...
    ) throws -> (status: Int32, row: [String: Any]) {
        let outcome = try program.run(["check", "--quick", "--json"] + names + places.suffix(2))
        let rows = try #require(outcome.json as? [[String: Any]], "\(outcome.errors)")
        return (outcome.status, try #require(rows.first))
    }

    @Test("A quick check compares hashes or sizes, and downloads nothing")
    func compares() throws {
        for kind in ServedDirectory.Kind.allCases {
            let sandbox = program.sandbox
            let remote = try sandbox.directory("Remote \(kind)")
            let server = try ServedDirectory(remote, over: kind)
            let places = ["--stores", "Stores", "--remote", server.address]
            let backup = try program.run(["backup", "--json"] + places)
            let name = try #require((backup.json as? [String: Any])?["name"] as? String)
            let good = try check(places)
            #expect(good.status == 0)
            #expect(good.row["compared"] as? String == (kind == .sftp ? "md5" : "size"))
            #expect(good.row["depth"] as? String == "quick")

            var bytes = try sandbox.read("Remote \(kind)/\(name)")
            bytes[bytes.count / 2] ^= 1
            try sandbox.write(bytes, to: "Remote \(kind)/\(name)")
            #expect(try check(places).status == (kind == .sftp ? 20 : 0))
            try sandbox.write(Array(bytes.dropLast(9)), to: "Remote \(kind)/\(name)")
            let cut = try check(places)
            #expect(cut.status == 20)
            #expect(cut.row["good"] as? Bool == false)
            // It is remembered.
            let status = try program.run(["status", "--json"] + places)
            #expect(status.text.contains("is damaged"), "\(status.text)")
        }
    }

    @Test("A quick check skips files that it knows nothing of, and reports that")
    func unknown() throws {
        let server = try ServedDirectory(program.sandbox.path("Remote"))
        let places = ["--stores", "Stores", "--remote", server.address]
        let name = try program.expect(["backup"] + places).text.trimmingCharacters(in: .newlines)
        try LocalFileSystem().remove(program.sandbox.path(".cache"))
        let result = try check(places, name)
        #expect(result.status == 3)
        #expect((result.row["error"] as? String)?.contains("another machine") == true)
        // A look at it is enough for the size.
        #expect(try program.run(["show", "latest"] + places.suffix(2)).status == 0)
        #expect(try check(places).status == 0)
        let local = try program.run(["check", "--quick", "--remote", "Remote"])
        #expect(local.status == 3)
        #expect(local.text.contains("not checked"))
    }

    @Test("A quick check is refused together with options that read the data")
    func alone() throws {
        let outcome = try program.run("check", "--quick", "--restore", "--remote", "Remote")
        #expect(outcome.status == 64)
    }
}
