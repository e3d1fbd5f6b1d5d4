internal import Crypto
internal import Files
internal import Foundation
public import SystemPackage

/// An Ed25519 key that signs: from an OpenSSH file, or kept by an agent.
public struct SigningKey: Sendable {
    private enum Holder: Sendable {
        case seed([UInt8])
        case agent(SSHAgent)
    }

    public let publicKey: SSHPublicKey
    private let holder: Holder

    /// Creates a new key.
    public init() {
        let key = Curve25519.Signing.PrivateKey()
        publicKey = SSHPublicKey(edwards: Array(key.publicKey.rawRepresentation))
        holder = .seed(Array(key.rawRepresentation))
    }

    /// Parses a private key of OpenSSH without a passphrase.
    ///
    /// - Throws: `AgeError.badIdentity`.
    public init(openSSH text: String) throws {
        let key = try SSHPrivateKey(file: text)
        publicKey = key.publicKey
        holder = .seed(key.seed)
    }

    /// Creates a key that an agent keeps and signs with.
    ///
    /// - Parameters:
    ///   - key: the public key.
    ///   - socket: the agent's socket (`SSH_AUTH_SOCK`).
    /// - Throws: `AgeError.agentFailed` if the agent is unreachable or does not have the key.
    public init(_ key: SSHPublicKey, inAgentAt socket: FilePath) throws {
        let agent = SSHAgent(socket)
        guard try agent.keys().contains(key.wire) else {
            throw AgeError.agentFailed(reason: "it does not have the key \(key.fingerprint)")
        }
        publicKey = key
        holder = .agent(agent)
    }

    /// Signs a message for a namespace.
    ///
    /// - Throws: `AgeError.agentFailed`.
    public func sign(_ message: SSHMessage, namespace: String) throws -> SSHSignature {
        let bytes = SSHSignature.signedBytes(message, namespace: namespace)
        let signature =
            switch holder {
            case .seed(let seed):
                try Array(
                    Curve25519.Signing.PrivateKey(rawRepresentation: seed).signature(for: bytes)
                )
            case .agent(let agent): try agent.sign(Array(bytes), with: publicKey)
            }
        return SSHSignature(
            by: publicKey,
            namespace: namespace,
            message.algorithm,
            signature: signature
        )
    }

    /// Returns the key as an OpenSSH file without a passphrase.
    ///
    /// - Parameter comment: a name for people.
    /// - Returns: the text; `nil` for a key that an agent keeps.
    public func file(comment: String) -> String? {
        guard case .seed(let seed) = holder else { return nil }
        return SSHPrivateKey.file(seed: seed, of: publicKey, comment: comment)
    }
}
