internal import Crypto
internal import Foundation

/// The wrapping of a file key with X25519.
enum X25519Wrapping {
    static let kind = "X25519"
    private static let info = Array("age-encryption.org/v1/X25519".utf8)

    static func wrap(
        _ key: FileKey,
        for recipient: Curve25519.KeyAgreement.PublicKey
    ) throws -> Stanza {
        let ephemeral = Curve25519.KeyAgreement.PrivateKey()
        let share = ephemeral.publicKey.rawRepresentation
        let secret = try agree(ephemeral, recipient.rawRepresentation)
        let wrappingKey = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: share + recipient.rawRepresentation,
            sharedInfo: info,
            outputByteCount: 32
        )
        return Stanza(
            arguments: [kind, Base64.encode(share)],
            body: try key.wrapped(with: wrappingKey)
        )
    }

    /// Returns the file key of a stanza for this identity; `nil` if it is for another.
    static func unwrap(
        _ stanza: Stanza,
        with identity: Curve25519.KeyAgreement.PrivateKey
    ) throws -> FileKey? {
        guard stanza.kind == kind else { return nil }
        try stanza.check(arguments: 1)
        let share = try stanza.bytes(ofArgument: 1, count: 32)
        let wrappingKey = try agree(identity, share).hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: Data(share) + identity.publicKey.rawRepresentation,
            sharedInfo: info,
            outputByteCount: 32
        )
        return try FileKey(opening: stanza.body, with: wrappingKey)
    }

    /// Returns the shared secret.
    ///
    /// - Throws: `Stanza.Fault` if the share is a low-order point.
    static func agree(
        _ identity: Curve25519.KeyAgreement.PrivateKey,
        _ share: some Sequence<UInt8>
    ) throws -> SharedSecret {
        let point = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: Data(share))
        let secret = try identity.sharedSecretFromKeyAgreement(with: point)
        // All bytes are read, whatever their values.
        let isZero = secret.withUnsafeBytes { $0.reduce(0) { $0 | $1 } } == 0
        guard !isZero else { throw Stanza.Fault(reason: "a share leads to no secret") }
        return secret
    }
}
