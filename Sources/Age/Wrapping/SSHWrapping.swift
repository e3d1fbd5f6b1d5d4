internal import Crypto
internal import Foundation

/// The wrapping of a file key with an Ed25519 key of SSH.
enum SSHWrapping {
    static let kind = SSHPublicKey.kind
    private static let info = Array("age-encryption.org/v1/ssh-ed25519".utf8)

    static func wrap(_ key: FileKey, for recipient: SSHPublicKey) throws -> Stanza {
        guard let point = recipient.montgomery else {
            preconditionFailure("a recipient's line has a point of the curve")
        }
        let ephemeral = Curve25519.KeyAgreement.PrivateKey()
        let share = ephemeral.publicKey.rawRepresentation
        let secret = try X25519Wrapping.agree(ephemeral, point)
        let wrappingKey = try derive(secret, share, recipient, point)
        return Stanza(
            arguments: [kind, recipient.tag, Base64.encode(share)],
            body: try key.wrapped(with: wrappingKey)
        )
    }

    /// Returns the file key of a stanza for this identity; `nil` if it is for another.
    static func unwrap(_ stanza: Stanza, with identity: SSHPrivateKey) throws -> FileKey? {
        guard stanza.kind == kind else { return nil }
        guard stanza.arguments.count == 3 else {
            let count = stanza.arguments.count - 1
            throw Stanza.Fault(reason: "'\(kind)' has \(count) arguments, not 2")
        }
        let share = try stanza.bytes(ofArgument: 2, count: 32)
        guard stanza.arguments[1] == identity.publicKey.tag else { return nil }
        try stanza.check(arguments: 2)
        let secret = try X25519Wrapping.agree(identity.agreement, share)
        let point = Array(identity.agreement.publicKey.rawRepresentation)
        return try FileKey(
            opening: stanza.body,
            with: derive(secret, Data(share), identity.publicKey, point)
        )
    }

    /// Returns the wrapping key, which also depends on the SSH key's wire format.
    private static func derive(
        _ secret: SharedSecret,
        _ share: Data,
        _ recipient: SSHPublicKey,
        _ point: [UInt8]
    ) throws -> SymmetricKey {
        let tweak = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: [UInt8]()),
            salt: recipient.wire,
            info: info,
            outputByteCount: 32
        )
        let scalar = try Curve25519.KeyAgreement.PrivateKey(
            rawRepresentation: tweak.withUnsafeBytes { Data($0) }
        )
        let tweaked = try X25519Wrapping.agree(scalar, secret.withUnsafeBytes { Array($0) })
        return tweaked.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: share + Data(point),
            sharedInfo: info,
            outputByteCount: 32
        )
    }
}
