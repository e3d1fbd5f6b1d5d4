import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Copies, imports, rotations and increments for keys that are given, or that have changed.
@Suite("Backups for given keys")
struct GivenKeysTests {
    private let home: EncryptedHome
    private let other: String
    private var program: Program { home.program }

    init() throws {
        home = try EncryptedHome()
        let made = try home.program.run("key", "generate", "--output", "other.txt")
        other = String(made.text.dropLast())
        // An increment on a small backup would not be worth it.
        var random = Pseudorandom(seed: 79)
        try home.program.sandbox.write(random.bytes(17 << 20), to: "Stores/large")
    }

    private func restore(_ arguments: String...) throws -> Int32 {
        let target = program.sandbox.path("Target")
        defer { try? LocalFileSystem().remove(target) }
        return try program.run(["restore", "latest", "--target", target.string] + arguments).status
    }

    @Test("are whole, and not skipped, after the password was changed")
    func changedPassword() throws {
        func backUp(_ password: String, _ arguments: String...) throws -> Tool.Outcome {
            try program.run(
                ["backup", "--recipient", "password"] + arguments,
                environment: ["GROCERYDUDE_PASSWORD": password]
            )
        }
        #expect(try backUp("old words", "--incremental").status == 0)
        let skipped = try backUp("old words", "--skip-if-unchanged")
        #expect(skipped.errors.contains("nothing has changed"), "\(skipped.errors)")
        let unskipped = try backUp("middle words", "--skip-if-unchanged")
        #expect(unskipped.text.contains("Stores.zip.age"), "\(unskipped.errors)")
        #expect(try backUp("middle words", "--incremental").status == 0)
        _ = try program.run("items", "add", "Salt")
        let made = try backUp("new words", "--incremental")
        #expect(made.text.contains("Stores.zip.age"), "\(made.text) \(made.errors)")
        #expect(made.errors.contains("the password does not open"), "\(made.errors)")
        let words = try program.sandbox.write("new words\n", to: "password.txt").string
        #expect(try restore("--password-file", words) == 0)
    }

    @Test("are encrypted again while they wait for upload, too")
    func rotatingWaiting() throws {
        let (remote, away) = (program.sandbox.path("Remote"), program.sandbox.path("Away"))
        #expect(try home.encrypt().status == 0)
        try LocalFileSystem().move(remote, to: away)
        _ = try program.run("items", "add", "Salt")
        #expect(try home.encrypt(["--set", "queue=true"]).status == 0)
        try LocalFileSystem().move(away, to: remote)
        #expect(try program.expect("list").text.contains("waiting"))
        try program.expect("key", "rotate", "--identity", home.key, "--recipient", other)
        try program.expect("copy", "--waiting")
        try program.expect("check", "--all", "--identity", "other.txt")
    }

    @Test("are not copied into a file that would be for no key, or whose name says otherwise")
    func copyToFile() throws {
        try program.expect("backup")
        let copy = ["copy", "latest", "--to"]
        try program.expect(copy + ["x.zip.age", "--recipient", other], status: 64)
        let refused = try program.expect(copy + ["x.zip.age"], status: 64)
        #expect(refused.errors.contains("'.zip'"), "\(refused.errors)")
        try program.expect(copy + ["x.zip"])
        #expect(try home.encrypt().status == 0)
        try program.expect(copy + ["y.zip", "--identity", home.key], status: 64)
        try program.expect(copy + ["y.zip.age", "--identity", home.key])
    }

    @Test("are imported for a given key")
    func importing() throws {
        #expect(try home.encrypt().status == 0)
        let file = try home.archive().string
        try program.sandbox.directory("Second")
        let imports = ["import", file, "--remote", "Second", "--identity", home.key]
        try program.expect(imports + ["--recipient", other])
        #expect(try restore("--remote", "Second", "--identity", "other.txt") == 0)
        // The profile's recipients are for new backups.
        try program.sandbox.directory("Third")
        try program.expect(["import", file, "--remote", "Third", "--identity", home.key])
        #expect(try restore("--remote", "Third", "--identity", home.key) == 0)
    }

    @Test("are not copied onto bases for other keys")
    func chain() throws {
        try program.expect("backup", "--incremental")
        try program.sandbox.directory("Second")
        let copy = ["copy", "--all", "--to", "Second", "--recipient"]
        try program.expect(copy + [home.recipient])
        _ = try program.run("items", "add", "Salt")
        try program.expect("backup", "--incremental")
        let refused = try program.expect(copy + [other], status: 3)
        #expect(refused.errors.contains("for other keys"), "\(refused.errors)")
        try program.expect(
            "key",
            "rotate",
            "--remote",
            "Second",
            "--identity",
            home.key,
            "--recipient",
            other
        )
        try program.expect(copy + [other])
        #expect(try restore("--remote", "Second", "--identity", "other.txt") == 0)
    }
}
