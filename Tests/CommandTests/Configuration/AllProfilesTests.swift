import Files
import SystemPackage
import TestSupport
import Testing

@Suite("A backup of all profiles")
struct AllProfilesTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.make(stores: "A/Stores", remote: "A/Remote")
        try program.make(stores: "B/Stores", remote: "B/Remote")
        try program.configure(
            """
            profiles:
              a: {stores: ~/A/Stores, remote: ~/A/Remote}
              gone: {stores: ~/C/Stores, remote: ~/A}
              b: {stores: ~/B/Stores, remote: ~/B/Remote}
            """
        )
    }

    private func count(_ folder: String) throws -> Int {
        try Directory.open(program.sandbox.path(folder)).names().count
    }

    @Test("A backup of all profiles continues after a failure, and exits with the worst code")
    func failure() throws {
        let quiet = try program.run("backup", "--all-profiles", "--quiet")
        #expect(quiet.status == 1 && quiet.output.isEmpty)
        #expect(quiet.errors.hasPrefix("grocerydude: error: gone: there is no stores directory"))
        #expect(quiet.errors.split(separator: "\n").count == 1)
        let outcome = try program.run("backup", "--all-profiles")
        #expect(outcome.status == 1)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("a: [") == true && lines.last?.hasPrefix("b: [") == true)
        #expect(try count("A/Remote") == 2 && count("B/Remote") == 2)
    }

    @Test("A backup of all profiles writes one JSON object for each profile, even a failed one")
    func json() throws {
        let outcome = try program.run("backup", "--all-profiles", "--json")
        #expect(outcome.status == 1)
        let objects = try outcome.jsonLines
        #expect(objects.map { $0["profile"] as? String } == ["a", "gone", "b"])
        #expect(
            objects.map { $0["message_type"] as? String } == ["summary", "error", "summary"]
        )
        #expect(objects[1]["code"] as? Int == 1)
    }

    @Test("A backup of all profiles uses each profile's settings, and applies one flag to all")
    func settings() throws {
        try program.configure(
            """
            profiles:
              a: {stores: ~/A/Stores, remote: ~/A/Remote, compression: none}
              b: {stores: ~/B/Stores, remote: ~/B/Remote, compression: best}
            """
        )
        func sizes(_ arguments: String...) throws -> [Int] {
            let outcome = try program.run(["backup", "--all-profiles", "--json"] + arguments)
            #expect(outcome.status == 0, "\(outcome.errors)")
            return try outcome.jsonLines.compactMap { $0["size"] as? Int }
        }
        let own = try sizes(), same = try sizes("--compression", "none")
        #expect(own.count == 2 && same.count == 2)
        #expect(own[0] > 2 * own[1] && same[1] > 2 * own[1])
    }

    @Test("A backup of all profiles runs the only job of a configuration without profiles")
    func withoutProfiles() throws {
        try program.configure("stores: ~/A/Stores\nremote: ~/A/Remote\n")
        try program.expect("backup", "--all-profiles", "--quiet")
        #expect(try count("A/Remote") == 1)
    }

    @Test("A backup of all profiles is refused if profiles share stores or a folder, or none exist")
    func refused() throws {
        func errors(
            _ arguments: [String] = [],
            _ environment: [String: String] = [:]
        ) throws -> String {
            let outcome = try program.run(
                ["backup", "--all-profiles"] + arguments,
                environment: environment
            )
            #expect(outcome.status == 64)
            return outcome.errors
        }
        #expect(try errors(["--stores", "x"]).contains("'--stores' would be the same for all"))
        #expect(
            try errors([], ["GROCERYDUDE_REMOTE": "x"]).contains("'GROCERYDUDE_REMOTE' would be")
        )
        #expect(try errors(["--profile", "a"]).contains("exclude each other"))
        // Two may share a folder: the backups of each say whose they are.
        try program.configure(
            "profiles: {a: {stores: /a, remote: /r}, b: {stores: /b, remote: /r/}}\n"
        )
        #expect(try program.run("config", "validate").status == 0)
        try program.configure(
            "metrics_file: /m\nprofiles: {a: {stores: /a, remote: /r}, b: {stores: /b, remote: /s}}\n"
        )
        #expect(try errors().contains("have different stores but the same 'metrics_file': '/m'"))
        try program.configure(
            "origin: o\nprofiles: {a: {stores: /a, remote: /r}, b: {stores: /b, remote: /r}}\n"
        )
        #expect(try errors().contains("have different stores but the same 'origin': 'o'"))
        // Two ways to back up the same are fine.
        try program.configure(
            "profiles: {a: {stores: /a, remote: /r}, b: {stores: /a/, remote: /r}}\n"
        )
        #expect(try program.run("config", "validate").status == 0)
        try LocalFileSystem().remove(program.sandbox.path(Program.configuration))
        #expect(try errors().contains("there are no profiles"))
        #expect(try count("A/Remote") == 0 && count("B/Remote") == 0)
    }
}
