internal import Crypto
internal import Foundation

/// The wrapping of a file key with X25519 and ML-KEM-768 together, which resists quantum computers.
enum HybridWrapping {
    typealias PublicKey = XWingMLKEM768X25519.PublicKey
    typealias PrivateKey = XWingMLKEM768X25519.PrivateKey

    static let kind = "mlkem768x25519"
    private static let info = Data("age-encryption.org/mlkem768x25519".utf8)
    private static let shareSize = 1120
    private static let suite = HPKE.Ciphersuite(
        kem: .XWingMLKEM768X25519,
        kdf: .HKDF_SHA256,
        aead: .chaChaPoly
    )

    static func wrap(_ key: FileKey, for recipient: PublicKey) throws -> Stanza {
        var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: info)
        let body = try key.withUnsafeBytes { try sender.seal($0) }
        return Stanza(
            arguments: [kind, Base64.encode(sender.encapsulatedKey)],
            body: Array(body)
        )
    }

    /// Returns the file key of a stanza for this identity; `nil` if it is for another.
    static func unwrap(_ stanza: Stanza, with identity: PrivateKey) throws -> FileKey? {
        guard stanza.kind == kind else { return nil }
        try stanza.check(arguments: 1)
        let share = try stanza.bytes(ofArgument: 1, count: shareSize)
        var receiver: HPKE.Recipient
        do {
            receiver = try HPKE.Recipient(
                privateKey: identity,
                ciphersuite: suite,
                info: info,
                encapsulatedKey: Data(share)
            )
        } catch {
            throw Stanza.Fault(reason: "a share leads to no secret")
        }
        // Only this step recognizes a share for another recipient.
        guard var bytes = try? receiver.open(stanza.body) else { return nil }
        return FileKey(taking: &bytes)
    }
}
