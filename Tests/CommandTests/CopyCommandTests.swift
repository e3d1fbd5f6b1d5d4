import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Moving backups from the command line")
struct CopyCommandTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.sandbox.directory("Other")
    }

    private func names(_ folder: String) throws -> [String] {
        try Directory.open(program.sandbox.path(folder)).names().map(\.description)
            .filter { $0.hasSuffix(".zip") }.sorted()
    }

    @Test("there and back at once ends, whoever is first")
    func thereAndBack() throws {
        for _ in 1...3 { #expect(try program.run(["backup"] + places).status == 0) }
        #expect(try program.run(["copy", "latest", "--to", "Other"] + places).status == 0)
        for _ in 1...3 {
            let runs = try [("Remote", "Other"), ("Other", "Remote")].map { from, to in
                try RunningTool(
                    Program.path,
                    ["copy", "--all", "--remote", from, "--to", to, "--lock-wait", "60s"],
                    environment: program.environment,
                    directory: program.sandbox.path
                )
            }
            #expect(runs.map { $0.wait() } == [0, 0])
        }
        #expect(try names("Remote") == names("Other"))
        #expect(try names("Other").count == 3)
    }

    @Test(
        "tells of each backup that could not be copied, and exits with 3; with its own code for one"
    )
    func partial() throws {
        #expect(try program.run(["backup"] + places).status == 0)
        try program.sandbox.write("no zip", to: "Remote/bad Stores.zip")
        let outcome = try program.run(["copy", "--all", "--to", "Other", "--json"] + places)
        #expect(outcome.status == 3)
        let answer = try #require(outcome.json as? [String: Any])
        #expect(
            (answer["copied"] as? [Any])?.count == 1 && (answer["failed"] as? [Any])?.count == 1
        )
        let one = try program.run(["copy", "bad Stores.zip", "--to", "Other"] + places)
        #expect(one.status == 20 && one.errors.contains("--allow-damaged"))
        #expect(try program.run(["copy", "latest", "--to", "Remote"] + places).status == 64)
        #expect(try program.run(["copy", "--to", "Other"] + places).status == 64)
        #expect(try program.run(["copy", "--all", "--to", "Nowhere"] + places).status == 10)
    }

    @Test("fetches into the working directory, and imports what was fetched")
    func fetchAndImport() throws {
        #expect(try program.run(["backup"] + places).status == 0)
        let name = try #require(try names("Remote").first)
        #expect(try program.run(["fetch", "latest"] + places).status == 0)
        #expect(program.sandbox.exists(name))
        let again = try program.run(["fetch", "latest"] + places)
        #expect(again.status == 1 && again.errors.contains("is there already"))
        let imported = try program.run([
            "import", name, "--remote", "Other", "--time", "2020-01-01 10:00",
        ])
        #expect(imported.status == 0 && imported.text == name + "\n")
        #expect(try names("Other") == [name])
        #expect(try program.run(["import", name, "--time", "noon"]).status == 64)
    }
}
