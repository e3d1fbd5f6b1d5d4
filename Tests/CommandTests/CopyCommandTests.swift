import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Copying and moving backups from the command line")
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

    @Test("Copies in both directions at once end, whichever is first")
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
        "Copy reports each failed backup and exits with 3, or with the error's code for one"
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
        for wrong in [
            ["--to", "Other"], ["latest"], ["--waiting", "--to", "Other"], ["--waiting", "latest"],
            ["--all", "--to", "One.zip"], ["latest", "latest", "--to", "One.zip.age"],
        ] { #expect(try program.run(["copy"] + wrong + places).status == 64, "\(wrong)") }
        #expect(try program.run(["copy", "--all", "--to", "Nowhere"] + places).status == 10)
    }

    @Test("A backup is copied to a file, which an import takes")
    func fetchAndImport() throws {
        #expect(try program.run(["backup"] + places).status == 0)
        let name = try #require(try names("Remote").first)
        let copy = ["copy", "latest", "--to", "Copied.zip"] + places
        #expect(try program.run(copy).text == program.sandbox.path("Copied.zip").string + "\n")
        let again = try program.run(copy)
        #expect(again.status == 1 && again.errors.contains("is there already"))
        let imported = try program.run([
            "import", "Copied.zip", "--remote", "Other", "--at", "2020-01-01 10:00",
        ])
        #expect(imported.status == 0 && imported.text == name + "\n")
        #expect(try names("Other") == [name])
        #expect(try program.run(["import", "Copied.zip", "--at", "noon"]).status == 64)
    }

    @Test(
        "Copy works through rclone, and knows the backups there without having seen them",
        .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
    )
    func rclone() throws {
        let other = "rclone::local:\(program.sandbox.path("Other").string)"
        for _ in 1...2 { #expect(try program.run(["backup", "--tag", "a"] + places).status == 0) }
        let copied = try program.run(["copy", "--all", "--to", other] + places)
        #expect(copied.status == 0, "\(copied.errors)")
        #expect(try names("Other") == names("Remote"))
        try LocalFileSystem().remove(program.sandbox.path(".cache"))
        let again = try program.run(["copy", "--all", "--to", other, "--json"] + places)
        let answer = try #require(again.json as? [String: Any])
        #expect((answer["skipped"] as? [Any])?.count == 2)
        #expect(try names("Other") == names("Remote"))
        let back = ["copy", "--all", "--remote", other, "--to", "Back"]
        try program.sandbox.directory("Back")
        #expect(try program.run(back).status == 0)
        #expect(try names("Back") == names("Remote"))
        let list = try program.run("list", "--remote", "Back", "--json").text
        #expect(list.contains(#""tags":["a"]"#))
        let hidden = try Directory.open(program.sandbox.path("Other")).names().map(\.description)
        #expect(!hidden.contains { $0.hasSuffix(".partial") })
    }

    @Test(
        "A backup waits while rclone fails, and is sent with the next one",
        .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
    )
    func queue() throws {
        // The way to it is no directory, then it is.
        try program.sandbox.write("a file", to: "Mount")
        let remote = ["--remote", "rclone::local:\(program.sandbox.path("Mount/Backups").string)"]
        let stores = ["--stores", "Stores"]
        let first = try program.run(["backup", "--set", "queue=true", "--json"] + stores + remote)
        #expect(first.status == 0 && first.errors.contains("waits for"), "\(first.errors)")
        let listed = try program.run(["list"] + stores + remote)
        #expect(listed.status != 0 && listed.text.contains("waiting for upload"))
        let answer = try #require(first.json as? [String: Any])
        #expect(answer["waiting"] as? Bool == true)
        let name = try #require(answer["name"] as? String)
        #expect(try program.run(["check", name] + stores + remote).status == 0)
        #expect(try program.run(["restore", name, "--yes"] + stores + remote).status == 0)
        #expect(try program.run(["copy", "--waiting"] + stores + remote).status != 0)
        #expect(try program.run(["status", "--max-age", "1h"] + stores + remote).status != 0)
        try LocalFileSystem().remove(program.sandbox.path("Mount"))
        try program.sandbox.directory("Mount/Backups")
        #expect(try program.run(["backup", "--set", "queue=true"] + stores + remote).status == 0)
        // The backup, what its restore replaced, and the new one.
        #expect(try names("Mount/Backups").count == 3)
        let status = try program.run(["status", "--max-age", "1h", "--json"] + stores + remote)
        #expect(status.status == 0 && status.text.contains(#""waiting":0"#))
    }
}
