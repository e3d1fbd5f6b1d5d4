import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The list of backups")
struct ListCommandTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]

    init() throws {
        program = try Program()
        try program.sandbox.directory("Remote")
        try program.sandbox.directory("Stores")
        try StoreApplication(
            on: program.sandbox.path("Stores/a.sqlite"),
            "CREATE TABLE t(x)"
        ).end()
    }

    @Test("The list has a header, fits 80 columns, and puts long remarks on their own line")
    func fits() throws {
        #expect(try program.run(["list"] + places).text.isEmpty)
        #expect(try program.run(["backup", "--quiet"] + places).status == 0)
        let remarks = ["--tag", "before-the-upgrade,monthly", "--note", "kept for the auditors"]
        #expect(try program.run(["backup", "--quiet"] + remarks + places).status == 0)
        let lines = try program.run(["list"] + places).text.split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(lines)")
        #expect(lines[0].wholeMatch(of: /BACKUP +SIZE +ADDED  MADE/) != nil, "\(lines[0])")
        #expect(lines[1].hasPrefix("[20") && !lines[1].contains("auditors"))
        #expect(lines[2] == "    [before-the-upgrade, monthly], kept for the auditors")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    }

    @Test("The list has a line about the folder before it, beside the answer")
    func opening() throws {
        let named = try program.expect(["list"] + places)
        #expect(named.errors.hasPrefix("grocerydude: \(program.sandbox.path("Remote")), named by "))
        #expect(named.text.isEmpty)
        let plain = try program.expect("list")
        #expect(plain.errors.hasPrefix("grocerydude: not linked: 'grocerydude setup'"))
        #expect(try program.expect(["list", "--quiet"] + places).errors.isEmpty)
        let made = try program.expect("backup", "--stores", "Stores")
        #expect(made.errors.contains("not linked: 'grocerydude setup'"), "\(made.errors)")
        try program.configure("stores: ~/Stores\nremote: ~/Away\nqueue: true\n")
        try program.expect("backup", "--quiet")
        let waiting = try program.expect(["list"], status: 10)
        #expect(waiting.errors.contains("; not reachable; 1 backup waits for upload\n"))
    }

    @Test("The list has a column of origins if there are two")
    func origins() throws {
        #expect(try program.run(["backup", "--quiet"] + places).status == 0)
        #expect(try !program.run(["list"] + places).text.contains("ORIGIN"))
        #expect(try program.run(["backup", "--quiet", "--origin", "nas"] + places).status == 0)
        let lines = try program.run(["list"] + places).text.split(separator: "\n")
        #expect(lines.first?.hasSuffix("ORIGIN") == true && lines.count == 3)
        #expect(lines.contains { $0.contains("  nas") }, "\(lines)")
    }

    @Test("The list says what each backup added to the one before, and '--since' changes no number")
    func added() throws {
        func backUp(_ more: String...) throws {
            #expect(try program.run(["backup", "--quiet"] + more + places).status == 0)
        }
        func list(_ more: String...) throws -> [[String: Any]] {
            try #require(
                program.run(["list", "--json"] + more + places).json as? [[String: Any]]
            )
        }
        try backUp()
        // For less than this, a whole backup is as good as an increment.
        var random = Pseudorandom(seed: 3)
        try program.sandbox.write(random.bytes(18 << 20), to: "Stores/photo.jpg")
        try backUp("--incremental")
        #expect(try program.run(["list"] + places).text.contains("  +18."))
        try backUp("--origin", "nas")
        try program.sandbox.write("note", to: "Stores/note.txt")
        try backUp("--incremental")
        try FileManager.default.removeItem(atPath: program.sandbox.path("Stores/photo.jpg").string)
        try backUp()
        let rows = try list()
        let sizes = rows.compactMap { $0["size"] as? Int }
        let added = rows.map { $0["added"] as? Int }
        try #require(rows.count == 5 && sizes.count == 5)
        #expect(added[4] == nil && added[2] == nil, "\(added)")
        #expect(added[3] == sizes[3] - sizes[4] && sizes[3] - sizes[4] > 18_000_000)
        #expect(added[1] == sizes[1] && added[0] == sizes[0] - sizes[3])
        #expect(try list("--origin", "nas").first?["added"] == nil)
        let since = try #require(
            program.run(["list", "--since", "1h", "--json"] + places).json as? [[String: Any]]
        )
        #expect(since.map { $0["added"] as? Int } == added)
        // There is no room for both.
        let text = try program.run(["list"] + places).text
        #expect(text.contains("ORIGIN") && !text.contains("ADDED"), "\(text)")
    }

    @Test("The list of deleted backups has a header too, and is empty if there are none")
    func trash() throws {
        #expect(try program.run(["list", "--trash"] + places).text.isEmpty)
        #expect(try program.run(["backup", "--quiet"] + places).status == 0)
        #expect(try program.run(["delete", "latest", "--yes", "--quiet"] + places).status == 0)
        let lines = try program.run(["list", "--trash"] + places).text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasSuffix("DELETED"), "\(lines)")
    }

    @Test("The list takes any setting for one run, and refuses an unknown one")
    func settings() throws {
        #expect(try program.run(["list", "--set", "compression=none"] + places).status == 0)
        for (wrong, reason) in [
            ("compresion=none", "did you mean 'compression'?"), ("compression", "KEY=VALUE"),
            ("compression=much", "must be one of"), ("zzzzzz=1", "config show --all"),
        ] {
            let refused = try program.run(["list", "--set", wrong] + places)
            #expect(refused.status == 64 && refused.errors.contains(reason), "\(refused.errors)")
        }
        let shown = try program.run(["config", "show", "--set", "spool=false"])
        #expect(shown.text.contains("--set spool"), "\(shown.text)")
    }
}
