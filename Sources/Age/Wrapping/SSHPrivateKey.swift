internal import Crypto
internal import Foundation

/// A private key of OpenSSH, of the kind Ed25519, which has no passphrase.
struct SSHPrivateKey: Sendable {
    static let begin = "-----BEGIN OPENSSH PRIVATE KEY-----"
    private static let end = "-----END OPENSSH PRIVATE KEY-----"

    let publicKey: SSHPublicKey
    /// The same key, as X25519 has it.
    let agreement: Curve25519.KeyAgreement.PrivateKey

    /// Reads a file of OpenSSH.
    ///
    /// - Throws: `AgeError.badIdentity`.
    init(file: String) throws {
        let lines = file.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard lines.first == Self.begin, lines.last == Self.end,
            let data = Data(base64Encoded: lines.dropFirst().dropLast().joined())
        else { throw AgeError.badIdentity(reason: "it is not a file of OpenSSH") }
        try self.init(bytes: Array(data))
    }

    private init(bytes: [UInt8]) throws {
        let broken = AgeError.badIdentity(reason: "the file of OpenSSH is damaged")
        let mark = Array("openssh-key-v1\0".utf8)
        var reader = SSHReader(Array(bytes.dropFirst(mark.count)))
        guard bytes.starts(with: mark), let cipher = reader.string(), reader.string() != nil,
            reader.string() != nil, reader.number() == 1, reader.string() != nil,
            let inner = reader.string()
        else { throw broken }
        guard cipher.elementsEqual("none".utf8) else {
            throw AgeError.badIdentity(reason: "a key of SSH with a passphrase is not supported")
        }
        reader = SSHReader(Array(inner))
        guard let check = reader.number(), reader.number() == check, let kind = reader.string()
        else { throw broken }
        guard kind.elementsEqual(SSHWrapping.kind.utf8) else {
            let name = String(decoding: kind, as: UTF8.self)
            let reason = "keys of SSH of the kind '\(name)' are not supported"
            throw AgeError.badIdentity(reason: reason)
        }
        guard let edwards = reader.string(), edwards.count == 32, let both = reader.string(),
            both.count == 64, both.suffix(32) == edwards
        else { throw broken }
        try self.init(seed: both.prefix(32), edwards: Array(edwards))
    }

    private init(seed: ArraySlice<UInt8>, edwards: [UInt8]) throws {
        agreement = try Curve25519.KeyAgreement.PrivateKey(
            rawRepresentation: Data(SHA512.hash(data: seed).prefix(32))
        )
        publicKey = SSHPublicKey(
            edwards: edwards,
            montgomery: Array(agreement.publicKey.rawRepresentation)
        )
        guard publicKey.montgomery == CurveField.montgomery(ofEdwards: edwards) else {
            throw AgeError.badIdentity(reason: "its two halves are not of one key")
        }
    }
}
