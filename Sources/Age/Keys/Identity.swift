internal import Crypto
internal import Foundation

/// A secret key, or a passphrase: opens what was encrypted for it.
public struct Identity: Sendable {
    private enum Kind {
        case x25519(Curve25519.KeyAgreement.PrivateKey)
        case hybrid(HybridWrapping.PrivateKey)
        case ssh(SSHPrivateKey)
        case passphrase(Passphrase)
    }

    private static let prefix = "AGE-SECRET-KEY-"
    private static let hybridPrefix = "AGE-SECRET-KEY-PQ-"

    private let kind: Kind

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// Makes a new secret key.
    ///
    /// - Parameter isHybrid: whether a quantum computer must not help against it.
    /// - Returns: the key, which is nowhere else.
    /// - Throws: if the system gives no random bytes.
    public static func generate(isHybrid: Bool = false) throws -> Identity {
        isHybrid
            ? Identity(.hybrid(try HybridWrapping.PrivateKey.generate()))
            : Identity(.x25519(Curve25519.KeyAgreement.PrivateKey()))
    }

    /// Takes a passphrase.
    public init(_ passphrase: Passphrase) {
        kind = .passphrase(passphrase)
    }

    /// Reads a secret key: `AGE-SECRET-KEY-1…` or `AGE-SECRET-KEY-PQ-1…`.
    ///
    /// - Throws: `AgeError.badIdentity`, without the key.
    public init(_ text: String) throws {
        let (prefix, bytes): (String, [UInt8])
        do {
            (prefix, bytes) = try Bech32.decode(text)
        } catch let fault as Bech32.Fault {
            throw AgeError.badIdentity(reason: fault.reason)
        }
        guard !prefix.hasPrefix("AGE-PLUGIN-") else {
            throw AgeError.badIdentity(reason: "it needs a plugin, and plugins are not run")
        }
        guard bytes.count == 32 else {
            throw AgeError.badIdentity(reason: "it is of no known kind")
        }
        switch prefix {
        case Self.prefix:
            kind = .x25519(try .init(rawRepresentation: bytes))
        case Self.hybridPrefix:
            kind = .hybrid(try .init(seedRepresentation: bytes, publicKey: nil))
        default:
            throw AgeError.badIdentity(reason: "it is of no known kind")
        }
    }

    /// Reads a private key of OpenSSH.
    init(openSSH text: String) throws {
        kind = .ssh(try SSHPrivateKey(file: text))
    }

    /// Who can be encrypted for, so that this key opens it.
    public var recipient: Recipient {
        switch kind {
        case .x25519(let key): Recipient(key.publicKey)
        case .hybrid(let key): Recipient(key.publicKey)
        case .ssh(let key): Recipient(key.publicKey)
        case .passphrase(let passphrase): Recipient(passphrase)
        }
    }

    /// Whether it is a passphrase.
    public var isPassphrase: Bool {
        if case .passphrase = kind { true } else { false }
    }

    /// The secret as it is written; `nil` of a passphrase, and of a key of SSH, which has a file of its own.
    public var revealed: String? {
        switch kind {
        case .x25519(let key):
            Bech32.encode(Self.prefix.lowercased(), key.rawRepresentation).uppercased()
        case .hybrid(let key):
            Bech32.encode(Self.hybridPrefix.lowercased(), key.seedRepresentation).uppercased()
        case .ssh, .passphrase: nil
        }
    }

    /// Returns the key in a stanza; `nil` if it is meant for somebody else.
    ///
    /// - Throws: `Stanza.Fault` if the stanza is of its kind, and not as the format says.
    func unwrap(_ stanza: Stanza) throws -> FileKey? {
        switch kind {
        case .x25519(let key): try X25519Wrapping.unwrap(stanza, with: key)
        case .hybrid(let key): try HybridWrapping.unwrap(stanza, with: key)
        case .ssh(let key): try SSHWrapping.unwrap(stanza, with: key)
        case .passphrase(let passphrase): try ScryptWrapping.unwrap(stanza, with: passphrase)
        }
    }
}
