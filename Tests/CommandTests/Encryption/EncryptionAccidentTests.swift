import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Encrypted backups that are not what they should be, and what is left of them in plain.
@Suite("Encrypted backups and accidents")
struct EncryptionAccidentTests {
    private let home: EncryptedHome
    private var program: Program { home.program }

    init() throws { home = try EncryptedHome() }

    private func list(_ arguments: String...) throws -> [[String: Any]] {
        let outcome = try program.run(["list", "--json"] + arguments)
        return try #require(outcome.json as? [[String: Any]])
    }

    @Test("The search for plaintext finds a plain backup")
    func search() throws {
        _ = try program.run("backup")
        let leaks = try home.leaks()
        #expect(leaks.contains { $0.hasSuffix(": the noise") }, "\(leaks)")
        #expect(leaks.contains { $0.hasSuffix(": Grocery-Dude.sqlite") }, "\(leaks)")
    }

    @Test("A backup, a restore and a new key leave no plaintext, even in the trash")
    func plaintext() throws {
        #expect(try home.encrypt().status == 0)
        #expect(try home.leaks() == [])
        let made = try program.run("key", "generate", "--output", "new.txt")
        let recipient = ["--recipient", String(made.text.dropLast())]
        let rotated = try program.run(["key", "rotate", "--identity", home.key] + recipient)
        #expect(rotated.status == 0, "\(rotated.errors)")
        #expect(try home.leaks() == [])
        let restored = try program.run("restore", "latest", "--yes", "--identity", "new.txt")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try home.leaks() == [])
        let checked = try program.run("check", "--all", "--restore", "--identity", "new.txt")
        #expect(checked.status == 0, "\(checked.errors)")
        #expect(try home.leaks() == [])
    }

    @Test("A backup for other recipients is whole, and is made even if nothing has changed")
    func otherRecipients() throws {
        let made = try program.run("key", "generate", "--output", "new.txt")
        let other = ["--recipient", String(made.text.dropLast())]
        // An increment on a small backup would not be worth it.
        var random = Pseudorandom(seed: 78)
        try program.sandbox.write(random.bytes(17 << 20), to: "Stores/large")
        let increments = ["--incremental"]
        _ = try home.encrypt(increments)
        _ = try program.run("items", "add", "Salt")
        #expect(try home.encrypt(increments).text.contains("Changes.zip.age"))
        let skipped = try home.encrypt(["--skip-if-unchanged"])
        #expect(skipped.errors.contains("nothing has changed"), "\(skipped.errors)")
        let backup = ["backup", "--skip-if-unchanged"] + other
        let first = try program.run(backup + increments)
        #expect(first.status == 0 && first.text.contains("Stores.zip.age"), "\(first.errors)")
        #expect(try program.run(backup).errors.contains("nothing has changed"))
        #expect(try program.run("check", "latest", "--identity", "new.txt").status == 0)
        let asked = ["backup", "--skip-if-unchanged", "--recipient", "none"]
        #expect(try program.run(asked).status == 0)
        let plain = try Directory.open(program.sandbox.path("Remote")).names()
        #expect(plain.contains { $0.description.hasSuffix("Stores.zip") })
    }

    @Test("A rotation leaves a damaged backup as it is, and encrypts the others again")
    func rotatingDamage() throws {
        _ = try home.encrypt()
        let path = try home.archive()
        var bytes = try File.contents(of: path, limit: 1 << 30)
        bytes[bytes.count / 2] ^= 1
        try LocalFileSystem().remove(path)
        try LocalFileSystem().write(bytes, to: path)
        let made = try program.run("key", "generate", "--output", "new.txt")
        let rotate = [
            "key", "rotate", "--identity", home.key, "--recipient", String(made.text.dropLast()),
        ]
        let alone = try program.run(rotate)
        #expect(alone.status == 20, "\(alone.errors)")
        #expect(alone.errors.contains("error: ") && alone.errors.contains("damaged"))
        #expect(try File.contents(of: path, limit: 1 << 30) == bytes)
        _ = try home.encrypt()
        let partial = try program.run(rotate)
        #expect(partial.status == 3, "\(partial.errors)")
        #expect(partial.errors.contains("was not encrypted again"))
        #expect(try File.contents(of: path, limit: 1 << 30) == bytes)
    }

    @Test("A rotation without a key exits with its own code")
    func rotatingWithoutKey() throws {
        _ = try home.encrypt()
        let rotated = try program.run("key", "rotate", "--recipient", home.recipient)
        #expect(rotated.status == 12, "\(rotated.errors)")
        #expect(rotated.errors.contains("there is no key"), "\(rotated.errors)")
    }

    @Test("A backup that replaces an increment is for the same recipients, or is not made")
    func consolidatingForOthers() throws {
        try program.sandbox.write(Pseudorandom.large, to: "Stores/large")
        let other = try program.run("key", "generate", "--output", "other.txt")
        let both = ["--incremental", "--recipient", String(other.text.dropLast())]
        _ = try home.encrypt(both)
        _ = try program.run("items", "add", "Dates")
        let made = try home.encrypt(both)
        #expect(made.text.contains("Changes.zip.age"), "\(made.errors)")
        let consolidate = ["consolidate", "latest", "--identity"]
        let alone = try program.run(consolidate + [home.key])
        #expect(alone.status != 0 && alone.errors.contains("2 keys"), "\(alone.errors)")
        #expect(alone.errors.contains("--recipient"), "\(alone.errors)")
        let whole = try program.run(consolidate + [home.key, "--identity", "other.txt"])
        #expect(whole.status == 0, "\(whole.errors)")
        for key in [home.key, "other.txt"] {
            let checked = try program.run("check", "latest", "--identity", key)
            #expect(checked.status == 0, "\(checked.errors)")
        }
    }

    @Test("A rotation that stopped before the exchange of names is continued")
    func rotatingOn() throws {
        _ = try home.encrypt()
        let made = try program.run("key", "generate", "--output", "new.txt")
        let rotate = [
            "key", "rotate", "--identity", home.key, "--recipient", String(made.text.dropLast()),
        ]
        let trash = try program.sandbox.write("", to: "Remote/.grocerydude-trash")
        let stopped = try program.run(rotate)
        #expect(stopped.status == 1, "\(stopped.errors)")
        #expect(stopped.errors.contains("error: ") && stopped.errors.contains("hint: "))
        try LocalFileSystem().remove(trash)
        let done = try program.run(rotate)
        #expect(done.status == 0, "\(done.errors)")
        #expect(try program.run("check", "--all", "--identity", "new.txt").status == 0)
        #expect(try list().count == 1)
    }

    @Test(
        "A rotation that stopped is continued for the recipients of now, and counts no copy as done"
    )
    func rotatingOnForOthers() throws {
        _ = try home.encrypt()
        let keys = try ["typo.txt", "new.txt"].map {
            String(try program.run("key", "generate", "--output", $0).text.dropLast())
        }
        func rotate(_ recipient: String) throws -> Int32 {
            let key = ["key", "rotate", "--identity", home.key, "--recipient", recipient]
            return try program.run(key).status
        }
        let trash = try program.sandbox.write("", to: "Remote/.grocerydude-trash")
        #expect(try rotate(keys[0]) == 1)
        try LocalFileSystem().remove(trash)
        // A copy that another program made is for the old key.
        let archive = try #require(
            try FileManager.default.contentsOfDirectory(
                atPath: program.sandbox.path("Remote").string
            ).first { $0.hasSuffix(".age") && !$0.contains("(2)") }
        )
        try File.open(program.sandbox.path("Remote/\(archive)")).copy(
            to: program.sandbox.path("Remote/[2026-Jan-01] 09.01 AM Stores.zip.age"),
            syncing: false
        )
        _ = try rotate(keys[1])
        let names = try Directory.open(program.sandbox.path("Remote")).names().map(\.description)
        for name in names where name.hasSuffix(".age") && !name.contains("(2)") {
            let checked = try program.run("check", name, "--identity", "new.txt")
            #expect(checked.status == 0, "\(name): \(checked.errors)")
            #expect(try program.run("check", name, "--identity", home.key).status == 12)
        }
    }

    @Test("An old backup under a new name shows its own time to the holder of the key")
    func rolledBack() throws {
        _ = try home.encrypt()
        let old = try home.archive()
        let name = "[2031-Jan-01] 09.01 AM Stores.zip.age"
        try LocalFileSystem().move(old, to: old.removingLastComponent().appending(name))
        try LocalFileSystem().remove(program.sandbox.path(".cache"))
        let sealed = try #require(try list().first)
        #expect(sealed["time_source"] as? String == "name")
        let opened = try #require(try list("--identity", home.key).first)
        #expect(opened["name"] as? String == name)
        #expect(opened["time_source"] as? String == "manifest")
        #expect((opened["time"] as? String)?.hasPrefix("2031") == false, "\(opened)")
    }

    @Test(
        "An encrypted file without an archive inside is damaged",
        .enabled(if: Tool.isInstalled("age"), "age is not installed")
    )
    func otherContent() throws {
        _ = try home.encrypt()
        let path = try home.archive()
        for content in ["no zip", ""] {
            let plain = try program.sandbox.write(content, to: "plain").string
            try LocalFileSystem().remove(path)
            try Tool.check("age", ["-r", home.recipient, "-o", path.string, plain])
            let checked = try program.run("check", "latest", "--identity", home.key)
            #expect(checked.status == 20, "\(checked.errors)")
        }
    }

    @Test(
        "An archive in text form is read too, and damage in it is reported",
        .enabled(if: Tool.isInstalled("age"), "age is not installed")
    )
    func armored() throws {
        _ = try home.encrypt()
        let path = try home.archive()
        let plain = program.sandbox.path("plain.zip").string
        try Tool.check("age", ["-d", "-i", home.key, "-o", plain, path.string])
        try LocalFileSystem().remove(path)
        try Tool.check("age", ["-a", "-r", home.recipient, "-o", path.string, plain])
        let checked = try program.run("check", "latest", "--identity", home.key)
        #expect(checked.status == 0, "\(checked.errors)")
        let target = program.sandbox.path("Restored").string
        let restored = try program.run(
            "restore",
            "latest",
            "--target",
            target,
            "--identity",
            home.key
        )
        #expect(restored.status == 0, "\(restored.errors)")
        var text = try File.contents(of: path, limit: 1 << 24)
        text[text.count / 2] = UInt8(ascii: "*")
        try LocalFileSystem().remove(path)
        try LocalFileSystem().write(text, to: path)
        let damaged = try program.run("check", "latest", "--identity", home.key)
        #expect(damaged.status == 20, "\(damaged.errors)")
        #expect(damaged.text.contains("is not base64"), "\(damaged.text)")
    }

    /// Puts an archive into the folder whose password takes 2 GiB of memory to try.
    private func plantMuchWork() throws {
        let text = """
            age-encryption.org/v1
            -> scrypt \(String(repeating: "A", count: 22)) 21
            \(String(repeating: "A", count: 43))
            --- \(String(repeating: "A", count: 43))

            """
        try program.sandbox.write(
            Array(text.utf8) + [UInt8](repeating: 0, count: 80),
            to: "Remote/[2026-Nov-23] 05.17 AM Stores.zip.age"
        )
    }

    @Test("A password of unusual cost is not tried if no one can be asked")
    func muchWork() throws {
        try plantMuchWork()
        let outcome = try program.run(
            ["restore", "Nov-23", "--yes"],
            environment: ["GROCERYDUDE_PASSWORD": "milk"]
        )
        #expect(outcome.status == 12, "\(outcome.errors)")
        #expect(outcome.errors.contains("2.15 GB of memory"), "\(outcome.errors)")
        #expect(
            outcome.errors.contains("run it on a terminal")
                && outcome.errors.contains("age --decrypt")
        )
    }

    @Test(
        "A password of unusual cost is tried if a person agrees",
        .enabled(if: Terminal.isThere, "python3 is not installed")
    )
    func muchWorkDeclined() throws {
        try plantMuchWork()
        let outcome = try Terminal.run(
            [Program.path, "restore", "Nov-23", "--yes"],
            answering: ["n"],
            program,
            environment: ["GROCERYDUDE_PASSWORD": "milk"]
        )
        #expect(
            outcome.text.contains("and as much work. Go on? [y/N]"),
            "\(outcome.text)"
        )
        #expect(outcome.status == 12, "\(outcome.text)")
    }
}

extension Pseudorandom {
    /// As much as a whole backup has to have to be built on.
    fileprivate static var large: [UInt8] {
        var random = Pseudorandom(seed: 78)
        return random.bytes(17 << 20)
    }
}
