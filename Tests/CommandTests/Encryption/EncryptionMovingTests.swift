import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Encrypted backups that are copied, fetched and imported.
@Suite("Encrypted backups elsewhere")
struct EncryptionMovingTests {
    private let home: EncryptedHome

    init() throws { home = try EncryptedHome() }

    private var program: Program { home.program }
    private var key: String { home.key }
    private var recipient: String { home.recipient }

    @Test("A copy is encrypted for its other recipients only once")
    func copy() throws {
        _ = try program.run("backup")
        try program.sandbox.directory("Other")
        let other = program.sandbox.path("Other").string
        for count in [1, 0] {
            let copied = try program.run(
                "copy",
                "--all",
                "--to",
                other,
                "--recipient",
                recipient,
                "--json"
            )
            #expect(copied.status == 0, "\(copied.errors)")
            let names = try Directory.open(FilePath(other)).names().map(\.description)
            #expect(names.count { $0.hasSuffix("Stores.zip.age") } == 1, "\(count)")
        }
        let checked = try program.run("check", "--all", "--remote", other, "--identity", key)
        #expect(checked.status == 0, "\(checked.errors)")
        // For somebody else again, which needs the key.
        let friend = try program.run("key", "generate", "--output", "friend.txt")
        try program.sandbox.directory("Third")
        let third = program.sandbox.path("Third").string
        let again = [
            "copy", "--all", "--remote", other, "--to", third, "--recipient",
            String(friend.text.dropLast()),
        ]
        #expect(try program.run(again).status == 12)
        #expect(try program.run(again + ["--identity", key]).status == 0)
        let read = try program.run("check", "--remote", third, "--identity", "friend.txt")
        #expect(read.status == 0, "\(read.errors)")
        // Without a recipient it is copied as it is, without a key too.
        try program.sandbox.directory("Fourth")
        let fourth = program.sandbox.path("Fourth").string
        let plain = try program.run("copy", "--all", "--remote", third, "--to", fourth)
        #expect(plain.status == 0, "\(plain.errors)")
    }

    @Test("An import keeps an encrypted archive encrypted, and encrypts a plain one")
    func importing() throws {
        _ = try home.encrypt()
        let fetched = try program.run(
            "copy",
            "latest",
            "--to",
            "Copied.zip.age",
            "--identity",
            key
        )
        #expect(fetched.status == 0, "\(fetched.errors)")
        #expect(fetched.errors.contains(", verified"), "\(fetched.errors)")
        try program.sandbox.directory("USB")
        let unread = try program.run("copy", "latest", "--to", "USB/Copied.zip.age")
        #expect(unread.status == 0, "\(unread.errors)")
        #expect(unread.errors.contains(", not verified"), "\(unread.errors)")
        let file = String(fetched.text.dropLast())
        try program.sandbox.directory("Other")
        let other = program.sandbox.path("Other").string
        let imported = try program.run("import", file, "--remote", other, "--identity", key)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try program.run("import", file, "--remote", other).status == 12)
        let names = try Directory.open(FilePath(other)).names().map(\.description)
        #expect(names.count { $0.hasSuffix(".zip.age") } == 1)
    }
}
