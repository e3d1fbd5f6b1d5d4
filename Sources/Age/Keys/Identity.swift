internal import Crypto
internal import Foundation

/// A secret key, or a passphrase, which opens files encrypted for it.
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

    /// Creates a new secret key.
    ///
    /// - Parameter isHybrid: whether the key must resist quantum computers.
    /// - Returns: the key, which is stored nowhere else.
    /// - Throws: an error if the system has no random bytes.
    public static func generate(isHybrid: Bool = false) throws -> Identity {
        isHybrid
            ? Identity(.hybrid(try HybridWrapping.PrivateKey.generate()))
            : Identity(.x25519(Curve25519.KeyAgreement.PrivateKey()))
    }

    /// Creates an identity from a passphrase.
    public init(_ passphrase: Passphrase) {
        kind = .passphrase(passphrase)
    }

    /// Parses a secret key: `AGE-SECRET-KEY-1…` or `AGE-SECRET-KEY-PQ-1…`.
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

    /// Parses a private key of OpenSSH.
    init(openSSH text: String) throws {
        kind = .ssh(try SSHPrivateKey(file: text))
    }

    /// The recipient whose files this key opens.
    public var recipient: Recipient {
        switch kind {
        case .x25519(let key): Recipient(key.publicKey)
        case .hybrid(let key): Recipient(key.publicKey)
        case .ssh(let key): Recipient(key.publicKey)
        case .passphrase(let passphrase): Recipient(passphrase)
        }
    }

    /// Whether it is a passphrase.
    public var isPassphrase: Bool { passphrase != nil }

    var passphrase: Passphrase? {
        if case .passphrase(let passphrase) = kind { passphrase } else { nil }
    }

    /// The secret in its text form; `nil` for a passphrase, and for an SSH key, which has its own file.
    public var revealed: String? {
        switch kind {
        case .x25519(let key):
            Bech32.encode(Self.prefix.lowercased(), key.rawRepresentation).uppercased()
        case .hybrid(let key):
            Bech32.encode(Self.hybridPrefix.lowercased(), key.seedRepresentation).uppercased()
        case .ssh, .passphrase: nil
        }
    }

    /// Returns the file key in a stanza; `nil` if the stanza is for another recipient.
    ///
    /// - Throws: `Stanza.Fault` if a stanza of this identity's kind breaks the format.
    func unwrap(_ stanza: Stanza) throws -> FileKey? {
        switch kind {
        case .x25519(let key): try X25519Wrapping.unwrap(stanza, with: key)
        case .hybrid(let key): try HybridWrapping.unwrap(stanza, with: key)
        case .ssh(let key): try SSHWrapping.unwrap(stanza, with: key)
        case .passphrase(let passphrase): try ScryptWrapping.unwrap(stanza, with: passphrase)
        }
    }
}
