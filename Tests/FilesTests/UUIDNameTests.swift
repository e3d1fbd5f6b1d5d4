import Files
import Foundation
import Testing

@Suite("The UUID of a name")
struct UUIDNameTests {
    /// The namespaces of RFC 9562, section 6.6; the first pair is its example in appendix A.4, the others are
    /// Python's `uuid.uuid5`.
    @Test(
        "is version 5 of RFC 9562",
        arguments: [
            (
                "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com",
                "2ED6657D-E927-568B-95E1-2665A8AEA6A2"
            ),
            ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "", "4EBD0208-8328-5D69-8C44-EC50939C0967"),
            (
                "6ba7b811-9dad-11d1-80b4-00c04fd430c8", "Käse",
                "5C38E286-4047-5113-B1DB-9B46DA714F9B"
            ),
        ]
    )
    func version5(namespace: String, name: String, expected: String) throws {
        let namespace = try #require(UUID(uuidString: namespace))
        #expect(UUID(named: name, in: namespace).uuidString == expected)
    }
}
