internal import Crypto
internal import Foundation

/// A signature in OpenSSH's format, so that `ssh-keygen -Y verify` accepts it too
/// (https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig).
public struct SSHSignature: Sendable, Equatable {
    /// The maximum size in bytes of a signature's text; an Ed25519 signature has about 300.
    public static let limit = 4096

    private static let armor = SSHArmor("SSH SIGNATURE")
    private static let mark = Array("SSHSIG".utf8)

    /// The key that claims to have signed.
    public let key: SSHPublicKey
    /// The namespace of the signed data; a signature for another namespace proves nothing.
    public let namespace: String
    public let algorithm: SSHMessage.Algorithm
    private let signature: [UInt8]

    /// Creates a signature from its bytes; see `signedBytes`.
    init(
        by key: SSHPublicKey,
        namespace: String,
        _ algorithm: SSHMessage.Algorithm,
        signature: [UInt8]
    ) {
        self.key = key
        self.namespace = namespace
        self.algorithm = algorithm
        self.signature = signature
    }

    /// Parses the text of a signature.
    ///
    /// - Throws: `AgeError.badSignature` if it is incomplete, has another algorithm, or is more than one signature.
    public init(text: [UInt8]) throws {
        let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map(String.init)
        guard text.count <= Self.limit, lines.count > 2, let blob = Self.armor.bytes(of: lines)
        else { throw AgeError.badSignature(reason: "it is not one signature of OpenSSH") }
        try self.init(blob: blob)
    }

    private init(blob: [UInt8]) throws {
        let broken = AgeError.badSignature(reason: "it is cut off or damaged")
        var reader = SSHReader(Array(blob.dropFirst(Self.mark.count)))
        guard blob.starts(with: Self.mark), reader.number() == 1, let key = reader.string(),
            let namespace = reader.string(), reader.string() != nil, let hash = reader.string(),
            let signature = reader.string(), reader.isAtEnd
        else { throw broken }
        guard let publicKey = SSHPublicKey(wire: Array(key)) else {
            throw AgeError.badSignature(
                reason: "only keys of the kind '\(SSHPublicKey.kind)' are known"
            )
        }
        guard let algorithm = SSHMessage.Algorithm(rawValue: String(decoding: hash, as: UTF8.self))
        else {
            throw AgeError.badSignature(reason: "its hash is neither SHA-256 nor SHA-512")
        }
        var inner = SSHReader(Array(signature))
        guard inner.readKind(), let bytes = inner.string(), bytes.count == 64, inner.isAtEnd else {
            throw broken
        }
        self.init(
            by: publicKey,
            namespace: String(decoding: namespace, as: UTF8.self),
            algorithm,
            signature: Array(bytes)
        )
    }

    /// Returns the texts of consecutive signatures.
    public static func texts(in bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).components(separatedBy: armor.begin)
            .dropFirst().map { armor.begin + $0 }
    }

    /// The text of the signature, which ends with a line break.
    public var text: String {
        let kind = SSHReader.string(Array(SSHPublicKey.kind.utf8))
        var blob = Self.mark + [0, 0, 0, 1] + SSHReader.string(key.wire)
        blob += SSHReader.string(Array(namespace.utf8)) + SSHReader.string([])
        blob += SSHReader.string(Array(algorithm.rawValue.utf8))
        blob += SSHReader.string(kind + SSHReader.string(signature))
        return Self.armor.text(blob)
    }

    /// Returns whether the key signed this message for this namespace.
    public func isValid(for message: SSHMessage, namespace: String) -> Bool {
        guard self.namespace == namespace, algorithm == message.algorithm,
            let verifier = try? Curve25519.Signing.PublicKey(rawRepresentation: key.edwards)
        else { return false }
        return verifier.isValidSignature(
            Data(signature),
            for: Self.signedBytes(message, namespace: namespace)
        )
    }

    /// Returns the bytes that a key signs in place of a message.
    static func signedBytes(_ message: SSHMessage, namespace: String) -> Data {
        Data(
            mark + SSHReader.string(Array(namespace.utf8)) + SSHReader.string([])
                + SSHReader.string(Array(message.algorithm.rawValue.utf8))
                + SSHReader.string(message.digest)
        )
    }
}
