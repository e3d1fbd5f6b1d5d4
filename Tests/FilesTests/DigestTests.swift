internal import Files
internal import TestSupport
internal import Testing

@Suite("Digest")
struct DigestTests {
    /// FIPS 180-4's own examples, and the empty message.
    @Test(
        "known messages have their known SHA-256",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
    )
    func knownVectors(message: String, hex: String) {
        #expect(digest(Array(message.utf8)).description == hex)
    }

    @Test("a million letters have their known SHA-256")
    func longVector() {
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        #expect(
            digest(bytes).description
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        )
    }

    @Test("its text reads back")
    func readsBack() {
        let value = digest(Array("grocery".utf8))
        #expect(Digest(hex: Array(value.description.utf8)) == value)
        #expect(digest(Array("grocerz".utf8)) != value)
    }

    @Test("text that is not 64 lower-case hexadecimal digits is refused")
    func refusesText() {
        let good = [UInt8](repeating: UInt8(ascii: "0"), count: 64)
        #expect(Digest(hex: good) != nil)
        #expect(Digest(hex: []) == nil)
        #expect(Digest(hex: good.dropLast()) == nil)
        #expect(Digest(hex: good + good.prefix(1)) == nil)
        for wrong in "g/:@`GA".utf8 {
            var bytes = good
            bytes[63] = wrong
            #expect(Digest(hex: bytes) == nil)
        }
    }

    /// A task's memory is aligned to 16, and what is more in a frame is not counted by the optimizer.
    @Test("it is not aligned beyond what the frames of asynchronous functions are")
    func alignment() {
        #expect(MemoryLayout<Digest>.size == 32)
        #expect(MemoryLayout<Digest>.alignment <= 16)
    }

    private func digest(_ bytes: [UInt8]) -> Digest {
        bytes.withUnsafeBytes { Digest(of: $0) }
    }
}
