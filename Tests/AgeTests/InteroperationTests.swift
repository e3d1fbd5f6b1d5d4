@testable internal import Age
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

/// Tests against the installed program `age`, in both directions.
@Suite("age", .enabled(if: Tool.isInstalled("age"), "age is not installed"))
struct InteroperationTests {
    private static let sizes = [0, 1, 65536, 65537, 1_200_000]

    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    private func path(_ name: String) -> String { sandbox.path(name).string }

    /// Returns the keys in a file, as `age` takes them.
    private func identities(_ name: String) throws -> [Identity] {
        try IdentityFile.identities(in: sandbox.read(name), path: sandbox.path(name)) { nil }
    }

    private func exchange(_ name: String, recipient: String) throws {
        let identities = try identities(name)
        #expect(identities.map(\.recipient.description).contains(recipient))
        for size in Self.sizes {
            var random = Pseudorandom(seed: UInt64(size))
            let plain = random.bytes(size)
            try sandbox.write(plain, to: "plain")
            try Tool.check("age", ["-r", recipient, "-o", path("theirs"), path("plain")])
            #expect(try decrypted(sandbox.read("theirs"), with: identities) == plain)
            try sandbox.write(encrypted(plain, for: [Recipient(recipient)]), to: "ours")
            let opened = try Tool.run("age", ["-d", "-i", path(name), path("ours")])
            #expect(opened.status == 0 && opened.output == plain, "\(opened.errors)")
            for name in ["theirs", "ours"] {
                try LocalFileSystem().remove(sandbox.path(name))
            }
        }
    }

    @Test("We can use keys of age-keygen, and age can use ours")
    func keys() throws {
        try Tool.check("age-keygen", ["-o", path("key.txt")])
        let recipient = try Tool.check("age-keygen", ["-y", path("key.txt")])
        try exchange("key.txt", recipient: String(recipient.dropLast()))

        let own = try Identity.generate()
        try sandbox.write("# ours\n\(try #require(own.revealed))\n", to: "own.txt")
        let theirs = try Tool.check("age-keygen", ["-y", path("own.txt")])
        #expect(theirs == "\(own.recipient)\n")
        try exchange("own.txt", recipient: own.recipient.description)
    }

    @Test(
        "SSH keys decrypt files of ours and of age",
        .enabled(if: Tool.isInstalled("ssh-keygen"), "ssh-keygen is not installed")
    )
    func ssh() throws {
        for number in 0..<4 {
            let name = "ssh-\(number)"
            try Tool.check(
                "ssh-keygen",
                ["-q", "-t", "ed25519", "-N", "", "-C", "anna@example", "-f", path(name)]
            )
            let line = String(decoding: try sandbox.read("\(name).pub"), as: UTF8.self)
            let recipient = try Recipient(String(line.prefix { $0 != "\n" }))
            try exchange(name, recipient: recipient.description)
        }
        try Tool.check(
            "ssh-keygen",
            ["-q", "-t", "ed25519", "-N", "secret", "-f", path("locked")]
        )
        #expect(throws: AgeError.lockedIdentity) { try identities("locked") }
    }

    @Test("A file for several recipients opens for each of them and for no one else")
    func several() throws {
        let keys = try (0..<3).map { _ in try Identity.generate() }
        let file = try encrypted([1, 2, 3], for: keys.map(\.recipient))
        for (index, key) in keys.enumerated() {
            #expect(try decrypted(file, with: [key]) == [1, 2, 3])
            try sandbox.write(try #require(key.revealed), to: "\(index).txt")
            try sandbox.write(file, to: "file")
            let text = try Tool.run("age", ["-d", "-i", path("\(index).txt"), path("file")])
            #expect(text.output == [1, 2, 3])
        }
        #expect(throws: AgeError.noMatch("folder/X.age", keys: 1)) {
            try decrypted(file, with: [Identity.generate()])
        }
    }

    /// A script that types the passphrase, since age asks for one only on a terminal.
    private static let typing = """
        import os, pty, sys
        word, command = sys.argv[1], sys.argv[2:]
        child, terminal = pty.fork()
        if child == 0:
            os.execvp(command[0], command)
        seen = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            seen += part
            if b"passphrase" in seen:
                seen = b""
                os.write(terminal, word.encode() + b"\\n")
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """

    @Test(
        "age reads our files with a passphrase, and we read its files",
        .enabled(if: Tool.isInstalled("python3"), "python3 is not installed")
    )
    func passphrases() throws {
        let passphrase = try #require(Passphrase(Array("milk and honey".utf8)))
        try sandbox.write([9, 8, 7], to: "plain")
        try sandbox.write(encrypted([9, 8, 7], for: [Recipient(passphrase)]), to: "ours")
        let age = ["-c", Self.typing, "milk and honey", "age"]
        try Tool.check("python3", age + ["-d", "-o", path("out"), path("ours")])
        #expect(try sandbox.read("out") == [9, 8, 7])
        try Tool.check("python3", age + ["-p", "-o", path("theirs"), path("plain")])
        #expect(try decrypted(sandbox.read("theirs"), with: [Identity(passphrase)]) == [9, 8, 7])
        let wrong = Identity(try #require(Passphrase(Array("milk".utf8))))
        #expect(throws: AgeError.wrongPassphrase("folder/X.age")) {
            try decrypted(sandbox.read("theirs"), with: [wrong])
        }
    }
}
