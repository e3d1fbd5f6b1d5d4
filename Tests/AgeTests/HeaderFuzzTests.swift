@testable internal import Age
internal import Files
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("Fuzzing of headers")
struct HeaderFuzzTests {
    @Test("A changed header is refused as damaged or as one for other keys")
    func mutations() throws {
        let identity = try Identity.generate()
        let other = try Identity.generate()
        let file = try encrypted([1, 2, 3], for: [other.recipient, identity.recipient])
        let length = try HeaderParser.read(MemorySource(path: "X", bytes: file), named: "X").length
        let fuzzing = Fuzzing(usual: 400)
        var verdicts: [String: Int] = [:]
        for seed in fuzzing {
            var random = Pseudorandom(seed: seed)
            var header = Array(file[..<length])
            let change = random.damage(&header)
            guard header != Array(file[..<length]) else { continue }
            let bytes = header + file[length...]
            do {
                let parsed = try HeaderParser.read(
                    MemorySource(path: "X", bytes: bytes),
                    named: "X"
                )
                // A header has one encoding only, so no byte of it can change unnoticed.
                #expect(parsed.encoded == Array(bytes[..<parsed.length]), "seed \(seed): \(change)")
                let content = try decrypted(bytes, with: [identity])
                Issue.record("seed \(seed): \(change): opened as \(content)")
            } catch let error as AgeError {
                #expect(error.isDamage || error.isOfKeys, "seed \(seed): \(change): \(error)")
                verdicts[error.isDamage ? "damaged" : "for nobody", default: 0] += 1
            }
        }
        fuzzing.report("headers", verdicts)
    }

    @Test("Reading stops if a header has no end")
    func endless() throws {
        let beginning = Array("age-encryption.org/v1\n-> X25519 ".utf8)
        let bytes = beginning + [UInt8](repeating: UInt8(ascii: "A"), count: 10 << 20)
        let error = #expect(throws: AgeError.self) {
            try EncryptedFile(MemorySource(path: "X.age", bytes: bytes))
        }
        #expect(error?.description.contains("1024 KiB") == true)
        let short = Array(bytes.prefix(5000))
        #expect(throws: AgeError.badHeader("X.age", reason: "it has no end")) {
            try EncryptedFile(MemorySource(path: "X.age", bytes: short))
        }
    }

    @Test("A file that is not encrypted is reported as not encrypted")
    func others() {
        for bytes in [[], Array("PK".utf8), Array("age".utf8)] {
            #expect(throws: AgeError.notEncrypted("X.age")) {
                try EncryptedFile(MemorySource(path: "X.age", bytes: bytes))
            }
        }
    }
}
