@testable internal import Age
internal import Files
internal import SystemPackage
internal import Testing

/// Runs the test vectors of the age format (https://github.com/C2SP/CCTV/tree/main/age), if they lie beside the
/// checkout.
@Suite("Vectors", .enabled(if: !Vector.all.isEmpty, "there is no test data beside the checkout"))
struct VectorTests {
    @Test("All test vectors are found")
    func count() {
        #expect(Vector.all.count == 143)
        #expect(Vector.all.count { $0.isArmored } == 33)
    }

    @Test(
        "A file is decrypted, or refused for the reason that the vector gives",
        arguments: Vector.all
    )
    func opens(_ vector: Vector) throws {
        let outcome: String
        do {
            let content = try decrypted(vector.file, with: vector.keys())
            #expect(content.withUnsafeBytes { Digest(of: $0) }.description == vector["payload"])
            outcome = "success"
        } catch let error as AgeError {
            switch error {
            case .noMatch, .wrongPassphrase, .needsPassphrase: outcome = "no match"
            case .forgedHeader: outcome = "HMAC failure"
            case .badHeader, .notEncrypted: outcome = "header failure"
            case .badArmor: outcome = "armor failure"
            case .wrongEnd, .damaged: outcome = "payload failure"
            default: outcome = error.description
            }
        }
        #expect(outcome == vector["expect"])
    }

    @Test(
        "A valid header is written again byte for byte",
        arguments: Vector.all.filter { $0["expect"] != "header failure" && !$0.isArmored }
    )
    func headers(_ vector: Vector) throws {
        let bytes = vector.file
        let header = try HeaderParser.read(
            MemorySource(path: "X.age", bytes: bytes),
            named: "X.age"
        )
        #expect(header.encoded == Array(bytes[..<header.length]))
        let authenticated =
            Array("\(Header.versionLine)\n".utf8) + header.stanzas.flatMap(\.encoded)
            + Array("---".utf8)
        #expect(header.authenticated == authenticated)
    }
}
