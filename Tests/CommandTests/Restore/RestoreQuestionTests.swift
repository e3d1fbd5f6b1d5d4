import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A restore of a backup that is known not to be good, and of one that nobody has named.
@Suite("Messages before a restore")
struct RestoreQuestionTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    init() throws {
        program = try Program()
        for name in ["Stores", "Remote"] { try sandbox.directory(name) }
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        try Tool.check("sqlite3", [sandbox.path("Stores/app.db").string, "CREATE TABLE t (x)"])
        try sandbox.write("old", to: "Stores/note")
    }

    private func damage() throws {
        let name = try #require(
            try Directory.open(sandbox.path("Remote")).names().map(\.description)
                .first { $0.hasSuffix(".zip") }
        )
        var bytes = try sandbox.read("Remote/\(name)")
        let place = try #require(Data(bytes).firstRange(of: Data("app.db".utf8))?.upperBound)
        for offset in 0..<40 { bytes[place + 30 + offset] ^= 0x5A }
        try sandbox.write(bytes, to: "Remote/\(name)")
        try program.expect("check", "--all", status: 20)
    }

    @Test(
        "A restore's question mentions damage that a check found, or a warning does",
        .enabled(if: Terminal.isThere, "there is no python3")
    )
    func damaged() throws {
        try program.expect("backup", "--quiet")
        try damage()
        let asked = try Terminal.run(
            [Program.path, "restore", "latest"],
            answering: ["n"],
            program
        )
        #expect(asked.text.contains(", which is damaged ("), "\(asked.text)")
        let unasked = try program.expect("restore", "latest", "--yes", status: 20)
        #expect(unasked.errors.contains("nothing was changed: '["))
        #expect(unasked.errors.contains("the newest, is damaged ("), "\(unasked.errors)")
        #expect(try sandbox.read("Stores/note") == Array("old".utf8))
    }

    @Test("A restore names the backup that it selected before it does anything")
    func named() throws {
        try program.expect("backup", "--quiet")
        let name =
            try #require(try program.expect("list", "--json").json as? [[String: Any]])[0]["name"]
            as? String
        let shown = String(try #require(name).dropLast(" Stores.zip".count))
        for arguments in [["latest"], ["--at", "2100-01-01"]] {
            let outcome = try program.expect(["restore"] + arguments + ["--yes"])
            #expect(
                outcome.errors.contains("restoring from '\(shown)', made 20"),
                "\(outcome.errors)"
            )
        }
        #expect(
            try program.expect("restore", "--undo", "--yes").errors.contains("restoring from '[")
        )
        #expect(!(try program.expect("restore", shown, "--yes").errors.contains("restoring from")))
    }
}
