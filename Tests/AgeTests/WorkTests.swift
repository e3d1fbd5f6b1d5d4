@testable internal import Age
internal import Files
internal import Foundation
internal import Synchronization
internal import SystemPackage
internal import TestSupport
internal import Testing

/// Tests of encrypted files whose password costs more work than usual.
@Suite("Work for a password")
struct WorkTests {
    private struct Asked: Error {}

    /// Returns a file with another work factor in its header than the one that it was made with.
    private func file(_ factor: String) throws -> [UInt8] {
        let passphrase = try #require(Passphrase(Array("milk".utf8)))
        let key = FileKey()
        let stanza = try ScryptWrapping.wrap(key, with: passphrase, workFactor: 4)
        let salt = stanza.arguments[1]
        let forged = Stanza(arguments: ["scrypt", salt, factor], body: stanza.body)
        let code = Base64.encode([UInt8](repeating: 0, count: 32))
        return Array("\(Header.versionLine)\n".utf8) + forged.encoded + Array("--- \(code)\n".utf8)
            + [UInt8](repeating: 0, count: 40)
    }

    @Test("The usual work is done without a question")
    func usual() throws {
        let passphrase = try #require(
            Passphrase(Array("milk".utf8)) { _, _ in throw Asked() }
        )
        #expect(throws: AgeError.forgedHeader("folder/X.age")) {
            try opened(file("4"), with: [Identity(passphrase)])
        }
    }

    @Test("More work than usual is confirmed before any of it is done", arguments: [21, 22])
    func asked(_ factor: Int) throws {
        let bytes = try file("\(factor)")
        let memory = Int64(1024) << Int64(factor)
        let silent = try #require(Passphrase(Array("milk".utf8)))
        let error = AgeError.muchWork("folder/X.age", memory: memory)
        #expect(throws: error) { try opened(bytes, with: [Identity(silent)]) }
        #expect(error.isOfKeys && !error.isDamage)
        let questions = Mutex<[Int64]>([])
        let passphrase = try #require(
            Passphrase(Array("milk".utf8)) { path, memory in
                #expect(path == "folder/X.age")
                questions.withLock { $0.append(memory) }
                throw Asked()
            }
        )
        #expect(throws: Asked.self) { try opened(bytes, with: [Identity(passphrase)]) }
        #expect(questions.withLock(\.self) == [memory])
        // A key does not open a file that needs a password.
        #expect(throws: AgeError.needsPassphrase("folder/X.age")) {
            try opened(bytes, with: [Identity.generate()])
        }
    }

    @Test("An absurd work factor is refused", arguments: ["23", "63", "64", "9999999999999999999"])
    func refused(_ factor: String) throws {
        let passphrase = try #require(
            Passphrase(Array("milk".utf8)) { _, _ in throw Asked() }
        )
        let error = #expect(throws: AgeError.self) {
            try opened(file(factor), with: [Identity(passphrase)])
        }
        guard case .badHeader = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("Too little memory is an error and does not crash")
    func littleMemory() throws {
        let passphrase = try #require(Passphrase(Array("milk".utf8)))
        #expect(throws: AgeError.littleMemory(needed: 1 << 50)) {
            try ScryptWrapping.wrap(FileKey(), with: passphrase, workFactor: 40)
        }
    }
}
