import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The dry run of a backup")
struct BackupDryRunTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]

    init() throws {
        program = try Program()
        try program.sandbox.directory("Remote")
        try program.expect("init", "--stores", "Stores")
    }

    private func plan(_ arguments: String..., status: Int32 = 0) throws -> [String: Any] {
        let outcome = try program.expect(
            ["backup", "--dry-run", "--json"] + arguments + places,
            status: status
        )
        return try #require(outcome.json as? [String: Any])
    }

    /// Returns the paths of what a backup has, by its own word.
    private func files(_ answer: [String: Any]) throws -> [String: Int64] {
        let files = try #require(answer["files"] as? [[String: Any]])
        return try Dictionary(
            uniqueKeysWithValues: files.map { file in
                let size = (file["size"] as? NSNumber)?.int64Value
                return (try #require(file["path"] as? String), try #require(size))
            }
        )
    }

    @Test("A dry run shows what the next backup has, and changes nothing at all")
    func nothing() throws {
        try program.sandbox.write("x", to: "Stores/cache/a.tmp")
        try program.sandbox.write("a note", to: "Stores/note.txt")
        try program.sandbox.write(
            """
            metrics_file: ~/metrics.prom
            hooks:
              backup:
                before: touch ran
            """,
            to: Program.configuration
        )
        let before = try program.sandbox.contents()
        let shown = try program.expect(["backup", "-n", "--exclude", "/cache/"] + places)
        #expect(shown.text.hasPrefix("would save '[20"), "\(shown.text)")
        #expect(shown.text.contains("\nleft out  cache\n"), "\(shown.text)")
        let plan = try plan("--exclude", "/cache/")
        #expect(try program.sandbox.contents() == before)
        #expect(plan["kind"] as? String == "full")
        try program.expect(["backup", "--exclude", "/cache/"] + places)
        let made = try program.expect(["show", "latest", "--json"] + places)
        #expect(try files(plan) == files(#require(made.json as? [String: Any])))
    }

    @Test("A dry run names the backup that an increment would be built on")
    func increment() throws {
        // For less than this, a whole backup is as good.
        var random = Pseudorandom(seed: 14)
        try program.sandbox.write(random.bytes(18 << 20), to: "Stores/large")
        let full = try program.expect(["backup", "--incremental"] + places).text
        let before = try program.sandbox.contents()
        let plan = try plan("--incremental")
        #expect(plan["kind"] as? String == "increment")
        #expect((plan["needs"] as? [String]).map { $0.map { "\($0)\n" } } == [full])
        #expect(try self.plan("--incremental", "--full")["kind"] as? String == "full")
        #expect(try program.sandbox.contents() == before)
    }

    @Test("A dry run has the exit code of a backup, for each reason that it sees")
    func codes() throws {
        for (arguments, status) in [
            (["--stores", "Stores", "--remote", "Nowhere"], 10),
            (["--stores", "Nowhere", "--remote", "Remote"], 1),
            (["--stores", "Stores", "--remote", "Stores"], 1),
            (["--exclude", "*.sqlite"] + places, 1),
            (["--prune"] + places, 64),
        ] as [([String], Int32)] {
            try program.expect(["backup", "--dry-run"] + arguments, status: status)
            try program.expect(["backup"] + arguments, status: status)
        }
        // A file that has a store's name and header, and is cut off within it.
        let header = try program.sandbox.read("Stores/Grocery-Dude.sqlite").prefix(60)
        for (directory, content) in [("Cut", Array(header)), ("Bare", Array("a note".utf8))] {
            try program.sandbox.write(content, to: "\(directory)/a.sqlite")
            let places = ["--stores", directory, "--remote", "Remote"]
            try program.expect(["backup", "--dry-run"] + places, status: 3)
            try program.expect(["backup"] + places, status: 3)
        }
    }

    @Test("A dry run waits for nothing: it says who has the folder")
    func locked() async throws {
        let lock = try await FileLock.acquire(program.sandbox.path("Remote"))
        defer { withExtendedLifetime(lock) {} }
        let refused = try program.expect(["backup", "--dry-run"] + places, status: 11)
        #expect(refused.text.hasPrefix("would save '") && refused.errors.contains("is in use by"))
        let patient = ["backup", "--dry-run", "--lock-wait", "1h"]
        let waiting = try program.expect(patient + places)
        #expect(waiting.errors.contains("a backup would wait for process"), "\(waiting.errors)")
    }
}
