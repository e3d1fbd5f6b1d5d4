import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Rows that refer to rows that are not there: nothing unusual in stores of real applications.
@Suite("Broken foreign keys")
struct ForeignKeyTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]
    private let remark =
        "'phone.sqlite': 2 rows of 'message' refer to rows of 'chat' that are not there"

    init() throws {
        program = try Program()
        try program.sandbox.directory("Stores")
        try program.sandbox.directory("Remote")
        let sql = """
            PRAGMA foreign_keys = OFF;
            CREATE TABLE chat (id INTEGER PRIMARY KEY);
            CREATE TABLE message (chat REFERENCES chat);
            INSERT INTO message VALUES (1), (2);
            """
        _ = try Tool.check("sqlite3", [program.sandbox.path("Stores/phone.sqlite").string, sql])
    }

    private func run(_ arguments: String..., stores: String = "Stores") throws -> Tool.Outcome {
        try program.run(arguments + ["--stores", stores, "--remote", "Remote"])
    }

    @Test("Broken foreign keys are a note of 'backup --check', and with '--strict' a problem")
    func backup() throws {
        #expect(try !run("backup").errors.contains("message"))
        let checked = try run("backup", "--check")
        #expect(checked.status == 0)
        #expect(checked.errors.contains(remark))
        #expect(!checked.errors.contains("damaged"))
        let json = try #require(run("backup", "--check", "--json").jsonLines.last)
        #expect((json["problems"] as? [Any])?.isEmpty == true)
        let strict = try run("backup", "--check", "--set", "strict=true")
        #expect(strict.status == 3)
        #expect(strict.errors.contains("SQLite finds it damaged: 2 rows of 'message'"))
        let answer = try #require(
            run("backup", "--check", "--set", "strict=true", "--json").jsonLines.last
        )
        let problems = answer["problems"] as? [[String: Any]]
        #expect(problems?.map { $0["kind"] as? String } == ["damaged_store"])
    }

    @Test(
        "'check --restore' reports broken foreign keys, and '--strict' remembers them as damage"
    )
    func check() throws {
        #expect(try run("backup").status == 0)
        let told = try run("check", "--restore")
        #expect(told.status == 0)
        #expect(told.text.contains(remark))
        #expect(!told.text.contains("DAMAGED"))
        let row = try #require(
            (try run("check", "--restore", "--json").json as? [[String: Any]])?.first
        )
        #expect(row["good"] as? Bool == true)
        #expect(row["remarks"] as? [String] == [remark])
        #expect(row["damage"] as? [String] == [])
        #expect(try !run("list").text.contains("damaged"))
        let strict = try run("check", "--restore", "--set", "strict=true")
        #expect(strict.status == 20)
        #expect(strict.text.contains("DAMAGED"))
        let bad = try run("check", "--restore", "--set", "strict=true", "--json")
        let result = try #require((bad.json as? [[String: Any]])?.first)
        #expect(bad.status == 20)
        #expect(result["good"] as? Bool == false)
        #expect(result["remarks"] as? [String] == [])
    }

    @Test(
        "Broken foreign keys are damage only for a full check with the setting 'strict'"
    )
    func strict() throws {
        let settings = try program.sandbox.write(
            """
            profiles:
              full: {check_stores: true, check: {restore: true}, restore: {check: full}}
              less: {check_stores: false, check: {restore: false}, restore: {check: quick}}
            """,
            to: "c.yaml"
        ).string
        func strict(_ profile: String, _ arguments: [String]) throws -> Tool.Outcome {
            try program.run(
                arguments + ["--set", "strict=true", "--config", settings, "--profile", profile]
                    + places
            )
        }
        for arguments in [["backup"], ["check"], ["restore", "latest", "--yes"]] {
            #expect(try strict("less", arguments).status == 0, "\(arguments)")
        }
        let made = try strict("full", ["backup"])
        #expect(made.status == 3)
        let name = made.text.trimmingCharacters(in: .newlines)
        #expect(try strict("full", ["check"]).status == 20)
        // A check that reads less does not refute that.
        #expect(try strict("full", ["check", "--read-data-subset", "1/7"]).status == 20)
        #expect(
            try strict("full", ["restore", name, "--yes", "--check", "quick"]).status == 0
        )
        #expect(try strict("full", ["restore", name, "--yes"]).status == 21)
        // Nobody is asked whether the newest is the right one.
        let latest = try strict("full", ["restore", "latest", "--yes", "--check", "quick"])
        #expect(latest.status == 20 && latest.errors.contains("is damaged"), "\(latest.errors)")
    }

    @Test(
        "'restore --check full' reports broken foreign keys, and 'strict' refuses them"
    )
    func restore() throws {
        #expect(try run("backup").status == 0)
        let quick = try run("restore", "latest", "--yes", stores: "Quick")
        #expect(quick.status == 0 && !quick.errors.contains("message"))
        let full = try run("restore", "latest", "--yes", "--check", "full", stores: "Full")
        #expect(full.status == 0)
        #expect(full.errors.contains(remark))
        let strict = ["restore", "latest", "--yes", "--check", "full", "--set", "strict=true"]
        let refused = try program.run(strict + ["--stores", "Strict", "--remote", "Remote"])
        #expect(refused.status == 21)
        #expect(refused.errors.contains("the store 'phone.sqlite' is damaged: 2 rows of"))
        #expect(!program.sandbox.exists("Strict"))
        let allowed = try program.run(
            strict + ["--allow-damaged", "--stores", "Strict", "--remote", "Remote"]
        )
        #expect(allowed.status == 0)
        #expect(program.sandbox.exists("Strict/phone.sqlite"))
    }
}
