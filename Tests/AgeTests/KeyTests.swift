@testable internal import Age
internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("Keys")
struct KeyTests {
    /// The example in the format's specification.
    private static let secret =
        "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    private static let recipient =
        "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"

    @Test("A secret key and its recipient match those in the specification")
    func description() throws {
        let identity = try Identity(Self.secret)
        #expect(identity.recipient.description == Self.recipient)
        #expect(identity.revealed == Self.secret)
        #expect(try Recipient(Self.recipient).description == Self.recipient)
    }

    @Test("A hybrid secret key and its recipient match those in the specification")
    func hybridDescription() throws {
        let text =
            "AGE-SECRET-KEY-PQ-1XX76JRALNLXDMEW0CRK45QMCCH4X06SE84UN3VPM33W6HWDX0H3SK3ZQFR"
        let identity = try Identity(text)
        #expect(identity.revealed == text)
        let recipient = identity.recipient.description
        #expect(recipient.hasPrefix("age1pq1x34nzsvr0rxjsgdn8zgyhfe8j7ceq5r9rdelkjuh3y235jzxsh"))
        #expect(recipient.hasSuffix("jtqmwze9pyyzk3tlhl53k2ykx3qheyty7saeq0d3fzv49zc0k"))
        #expect(try Recipient(recipient).isHybrid)
    }

    @Test("New keys differ, and can be written and read", arguments: [false, true])
    func generated(isHybrid: Bool) throws {
        let identity = try Identity.generate(isHybrid: isHybrid)
        let other = try Identity.generate(isHybrid: isHybrid)
        #expect(identity.revealed != other.revealed)
        let again = try Identity(try #require(identity.revealed))
        #expect(again.recipient.description == identity.recipient.description)
    }

    @Test(
        "A text that is not a public key is refused with the reason",
        arguments: [
            ("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwk", "a letter is wrong"),
            ("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujw", "a letter is wrong"),
            ("Age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj", "mixes capital"),
            ("AGE1ZVKYG2LQZRAA2LNJVQEJ32NKUU0UES2S82HZRYE869XEEXVN73EQUNUJWJ", "no known kind"),
            (
                "age1bvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj",
                "letters that no key"
            ),
            (Bech32.encode("age1yubikey", [1, 2, 3]), "needs the plugin 'yubikey'"),
            (Bech32.encode("age", [1, 2, 3]), "no known kind"),
            ("anna@example.org", "cut off"), ("age1", "cut off"), ("", "cut off"),
            ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ==", "kind 'ssh-ed25519'"),
            ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA", "a letter is wrong"),
        ]
    )
    func badRecipients(_ text: String, _ reason: String) {
        let error = #expect(throws: AgeError.self) { try Recipient(text) }
        guard case .badRecipient = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains(reason) == true)
    }

    @Test(
        "A secret key given as a public key is refused and never shown",
        arguments: [secret, " \(secret.lowercased()) ", "AGE-SECRET-KEY-PQ-1", SSHPrivateKey.begin]
    )
    func identityAsRecipient(_ text: String) {
        let error = #expect(throws: AgeError.identityAsRecipient) { try Recipient(text) }
        #expect(error?.description.contains("SECRET-KEY") == false)
    }

    @Test("An error about a damaged secret key does not show the key")
    func badIdentity() {
        let text = Self.secret.dropLast() + "Y"
        let error = #expect(throws: AgeError.self) { try Identity(String(text)) }
        #expect(error?.description.contains("GFPYYSJZ") == false)
    }

    @Test("An empty list of recipients and recipients that exclude each other are refused")
    func mixed() throws {
        let passphrase = Recipient(try #require(Passphrase(Array("a b c".utf8))))
        let key = try Identity.generate().recipient
        let hybrid = try Identity.generate(isHybrid: true).recipient
        for recipients in [[], [passphrase, key], [passphrase, passphrase], [key, hybrid]] {
            #expect(throws: AgeError.self) { try encrypted([1], for: recipients) }
        }
        _ = try encrypted([1], for: [key, key])
        _ = try encrypted([1], for: [hybrid, hybrid])
    }

    @Test("A file of recipients may have comments and empty lines")
    func list() throws {
        let text = "# Anna\n\(Self.recipient)\n\n  \(Self.recipient)  \n"
        #expect(try Recipient.list(in: text).count == 2)
        #expect(throws: AgeError.identityAsRecipient) { try Recipient.list(in: Self.secret) }
    }

    @Test("A file of keys is read with its comments, and an encrypted one with its passphrase")
    func identityFile() throws {
        let text = Array("# created: now\n# public key: x\n\(Self.secret)\n\n\(Self.secret)\n".utf8)
        let path: FilePath = "key.txt"
        #expect(try IdentityFile.identities(in: text, path: path) { nil }.count == 2)
        let passphrase = try #require(Passphrase(Array("grocery".utf8)))
        let locked = try encrypted(text, for: [Recipient(passphrase)])
        #expect(throws: AgeError.needsPassphrase(path)) {
            try IdentityFile.identities(in: locked, path: path) { nil }
        }
        #expect(throws: AgeError.wrongPassphrase(path)) {
            try IdentityFile.identities(in: locked, path: path) { Passphrase([1]) }
        }
        #expect(try IdentityFile.identities(in: locked, path: path) { passphrase }.count == 2)
        #expect(throws: AgeError.self) {
            try IdentityFile.identities(in: Array("# none\n".utf8), path: path) { nil }
        }
        // This is the output of 'age -p -a'.
        let armored = Array(ArmorTests.Text(locked).whole().utf8)
        #expect(try IdentityFile.identities(in: armored, path: path) { passphrase }.count == 2)
        #expect(throws: AgeError.badArmor(path, reason: "its last line is missing or wrong")) {
            try IdentityFile.identities(in: armored.dropLast(2), path: path) { passphrase }
        }
    }

    @Test("An empty password counts as no password")
    func emptyPassphrase() {
        #expect(Passphrase([UInt8]()) == nil)
    }

    @Test("An Ed25519 point converts to X25519, and a value that is no point is refused")
    func conversion() throws {
        // RFC 7748: the base point of one curve maps to the base point of the other.
        var base = [UInt8](repeating: 0x66, count: 32)
        base[0] = 0x58
        #expect(CurveField.montgomery(ofEdwards: base) == [9] + [UInt8](repeating: 0, count: 31))
        // About half of all values are not a point.
        var random = Pseudorandom(seed: 7)
        let points = (0..<200).count { _ in
            CurveField.montgomery(ofEdwards: random.bytes(32)) != nil
        }
        #expect(60...140 ~= points)
        #expect(CurveField.montgomery(ofEdwards: [1] + [UInt8](repeating: 0, count: 31)) == nil)
        #expect(CurveField.montgomery(ofEdwards: [UInt8](repeating: 0xFF, count: 32)) == nil)
    }
}
