internal import Crypto
internal import Foundation

/// A private Ed25519 key of OpenSSH without a passphrase.
struct SSHPrivateKey: Sendable {
    private static let armor = SSHArmor("OPENSSH PRIVATE KEY")
    static var begin: String { armor.begin }

    let publicKey: SSHPublicKey
    /// The signing secret (RFC 8032, section 5.1.5).
    let seed: [UInt8]
    /// The same key in X25519's form.
    let agreement: Curve25519.KeyAgreement.PrivateKey

    /// Parses an OpenSSH file.
    ///
    /// - Throws: `AgeError.badIdentity`, `.lockedIdentity`.
    init(file: String) throws {
        let lines = file.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard let bytes = Self.armor.bytes(of: lines) else {
            throw AgeError.badIdentity(reason: "it is not an OpenSSH key file")
        }
        try self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) throws {
        let broken = AgeError.badIdentity(reason: "the OpenSSH key file is damaged")
        let mark = Array("openssh-key-v1\0".utf8)
        var reader = SSHReader(Array(bytes.dropFirst(mark.count)))
        guard bytes.starts(with: mark), let cipher = reader.string(), reader.string() != nil,
            reader.string() != nil, reader.number() == 1, reader.string() != nil,
            let inner = reader.string()
        else { throw broken }
        guard cipher.elementsEqual("none".utf8) else {
            throw AgeError.lockedIdentity
        }
        reader = SSHReader(Array(inner))
        guard let check = reader.number(), reader.number() == check, let kind = reader.string()
        else { throw broken }
        guard kind.elementsEqual(SSHPublicKey.kind.utf8) else {
            let name = String(decoding: kind, as: UTF8.self)
            let reason = "SSH keys of the kind '\(name)' are not supported"
            throw AgeError.badIdentity(reason: reason)
        }
        guard let edwards = reader.string(), edwards.count == 32, let both = reader.string(),
            both.count == 64, both.suffix(32) == edwards
        else { throw broken }
        try self.init(seed: both.prefix(32), edwards: Array(edwards))
    }

    private init(seed: ArraySlice<UInt8>, edwards: [UInt8]) throws {
        self.seed = Array(seed)
        agreement = try Curve25519.KeyAgreement.PrivateKey(
            rawRepresentation: Data(SHA512.hash(data: seed).prefix(32))
        )
        publicKey = SSHPublicKey(edwards: edwards)
        guard publicKey.montgomery == Array(agreement.publicKey.rawRepresentation) else {
            throw AgeError.badIdentity(reason: "its public and its private part do not match")
        }
    }

    /// Returns an OpenSSH file with a key that has no passphrase (PROTOCOL.key of OpenSSH).
    static func file(seed: [UInt8], of key: SSHPublicKey, comment: String) -> String {
        let check = (0..<4).map { _ in UInt8.random(in: 0...255) }
        var inner = check + check + key.wire
        inner += SSHReader.string(seed + key.edwards) + SSHReader.string(Array(comment.utf8))
        inner += (0..<(8 - inner.count % 8) % 8).map { UInt8($0 + 1) }
        var bytes = Array("openssh-key-v1\0".utf8)
        for text in ["none", "none", ""] { bytes += SSHReader.string(Array(text.utf8)) }
        bytes += [0, 0, 0, 1] + SSHReader.string(key.wire) + SSHReader.string(inner)
        return armor.text(bytes)
    }
}
