import Files
import SystemPackage
import TestSupport
import Testing

/// Files of secret keys that cannot be used as they are.
@Suite("Files of keys")
struct KeyFileTests {
    private let program: Program
    private static let key = ".config/grocerydude/identity.txt"

    /// Makes an encrypted backup, whose key is away.
    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        let made = try program.expect("key", "generate")
        let recipient = try #require((made.text + made.errors).firstMatch(of: /age1[a-z0-9]+/)?.0)
        try program.expect("backup", "--recipient", String(recipient))
        let home = program.sandbox.path(Self.key)
        try LocalFileSystem().move(home, to: program.sandbox.path("key"))
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try program.sandbox.write(bytes, to: name)
        try Tool.check("chmod", ["600", program.sandbox.path(name).string])
    }

    @Test(
        "that cannot be read are missing keys for every command, and a backup is not to blame",
        arguments: [
            ["restore", "latest", "--yes"], ["restore", "latest", "--target", "T"], ["check"],
            ["show", "latest"], ["diff", "latest"],
        ]
    )
    func missing(command: [String]) throws {
        try program.sandbox.directory("directory")
        for name in ["nowhere", "directory"] {
            let outcome = try program.expect(command + ["--identity", name], status: 12)
            #expect(outcome.errors.contains("a key is missing: "), "\(outcome.errors)")
            #expect(!outcome.errors.contains("choose another backup"), "\(outcome.errors)")
        }
    }

    @Test("may begin with the mark of UTF-8, and UTF-16 is refused")
    func marks() throws {
        let text = try program.sandbox.read("key")
        try write([0xEF, 0xBB, 0xBF] + text, to: "marked")
        try program.expect("check", "--identity", "marked")
        try write([0xFF, 0xFE] + text.flatMap { [$0, 0] }, to: "wide")
        let wide = try program.expect("check", "--identity", "wide", status: 12)
        #expect(wide.errors.contains("is in UTF-16"), "\(wide.errors)")
        let line = try #require(
            String(decoding: text, as: UTF8.self).firstMatch(of: /age1[a-z0-9]+/)?.0
        )
        try program.sandbox.write([0xEF, 0xBB, 0xBF] + Array("\(line)\n".utf8), to: "recipients")
        try program.expect("backup", "--recipient", "recipients")
    }
}
