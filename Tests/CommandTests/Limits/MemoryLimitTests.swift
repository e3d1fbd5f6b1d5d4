import Files
import Sample
import SystemPackage
import TestSupport
import Testing

/// The built program if the system lets it map little memory (RLIMIT_AS, RLIMIT_DATA).
@Suite("Commands with little memory")
struct MemoryLimitTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("Remote")
        _ = try GroceryStore.create(in: sandbox.path("Stores"), withTestData: false)
    }

    private func run(_ command: String, _ limit: String) throws -> Tool.Outcome {
        try Tool.run(
            "sh",
            ["-c", "ulimit \(limit); exec '\(Tool.product("grocerydude"))' \(command)"],
            environment: [
                "HOME": sandbox.path.string,
                "GROCERYDUDE_STORES": sandbox.path("Stores").string,
                "GROCERYDUDE_REMOTE": sandbox.path("Remote").string,
            ],
            timeout: .seconds(60)
        )
    }

    @Test(
        "A command with too little memory does not begin, and says why",
        arguments: ["-v 160000", "-v 200000", "-v 245000", "-v 300000", "-d 60000", "-d 150000"]
    )
    func refuses(limit: String) throws {
        let before = try sandbox.contents(of: ".")
        for command in ["backup", "list", "prune --keep-last 1"] {
            let outcome = try run(command, limit)
            #expect(outcome.status == 1, "\(command): \(outcome.status), \(outcome.errors)")
            #expect(outcome.errors.contains("limit on this program's memory"))
            #expect(outcome.errors.contains("ulimit -v"))
        }
        #expect(try sandbox.contents(of: ".") == before)
        #expect(try run("--version", limit).status == 0)
    }

    @Test(
        "A command with little but enough memory does all its work",
        arguments: ["-v 4000000", "-d 2000000"]
    )
    func goesOn(limit: String) throws {
        #expect(try run("backup", limit).status == 0)
        #expect(try run("check", limit).status == 0)
        #expect(try run("restore latest --yes", limit).status == 0)
    }
}
