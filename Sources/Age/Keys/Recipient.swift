internal import Crypto
internal import Foundation

/// A recipient of files: the holder of a secret key, or everybody who knows a passphrase.
public struct Recipient: Sendable, CustomStringConvertible {
    private enum Kind {
        case x25519(Curve25519.KeyAgreement.PublicKey)
        case hybrid(HybridWrapping.PublicKey)
        case ssh(SSHPublicKey)
        case passphrase(Passphrase)
    }

    static let prefix = "age"
    static let hybridPrefix = "age1pq"

    private let kind: Kind

    /// The public key in its text form; a fixed word for a passphrase.
    public let description: String

    /// Parses a public key: `age1…`, `age1pq1…`, or an SSH line.
    ///
    /// - Parameter text: the key, perhaps with spaces around it.
    /// - Throws: `AgeError.identityAsRecipient` if it is a secret; `.badRecipient`.
    public init(_ text: String) throws {
        let text = text.trimmingCharacters(in: .whitespaces)
        let start = text.uppercased()
        guard !start.hasPrefix("AGE-SECRET-KEY-"), !start.hasPrefix("AGE-PLUGIN-"),
            !start.hasPrefix("-----BEGIN")
        else { throw AgeError.identityAsRecipient }
        (kind, description) = try text.hasPrefix("ssh-") ? Self.ssh(text) : Self.native(text)
    }

    /// Creates a recipient from a passphrase; it must be the only one of a file.
    public init(_ passphrase: Passphrase) {
        kind = .passphrase(passphrase)
        description = "a password"
    }

    private init(_ kind: Kind, _ text: String) {
        self.kind = kind
        description = text
    }

    init(_ key: Curve25519.KeyAgreement.PublicKey) {
        self.init(.x25519(key), Bech32.encode(Self.prefix, key.rawRepresentation))
    }

    init(_ key: HybridWrapping.PublicKey) {
        self.init(.hybrid(key), Bech32.encode(Self.hybridPrefix, key.rawRepresentation))
    }

    init(_ key: SSHPublicKey) {
        self.init(.ssh(key), key.text)
    }

    private static func ssh(_ text: String) throws -> (Kind, String) {
        guard text.hasPrefix("\(SSHWrapping.kind) ") else {
            let reason = "only SSH keys of the kind '\(SSHWrapping.kind)' are supported"
            throw AgeError.badRecipient(shortened(text), reason: reason)
        }
        guard let key = SSHPublicKey(line: text) else {
            let reason = "a letter is wrong, or some are missing"
            throw AgeError.badRecipient(shortened(text), reason: reason)
        }
        return (.ssh(key), key.text)
    }

    private static func native(_ text: String) throws -> (Kind, String) {
        let (prefix, bytes): (String, [UInt8])
        do {
            (prefix, bytes) = try Bech32.decode(text)
        } catch let fault as Bech32.Fault {
            throw AgeError.badRecipient(shortened(text), reason: fault.reason)
        }
        switch prefix {
        case Self.prefix where bytes.count == 32:
            return (.x25519(try .init(rawRepresentation: bytes)), text)
        case hybridPrefix where bytes.count == 1216:
            guard let key = try? HybridWrapping.PublicKey(rawRepresentation: bytes) else { break }
            return (.hybrid(key), text)
        case _ where prefix.hasPrefix("age1"):
            let reason = "it needs the plugin '\(prefix.dropFirst(4))', and plugins are not run"
            throw AgeError.badRecipient(shortened(text), reason: reason)
        default: break
        }
        throw AgeError.badRecipient(shortened(text), reason: "it is of no known kind")
    }

    /// Returns the beginning of a long text; a hybrid key has two thousand letters.
    private static func shortened(_ text: String) -> String {
        text.count <= 80 ? text : "\(text.prefix(40))…"
    }

    /// Whether it is a passphrase.
    public var isPassphrase: Bool {
        if case .passphrase = kind { true } else { false }
    }

    /// Whether files for it resist quantum computers.
    public var isHybrid: Bool {
        if case .hybrid = kind { true } else { false }
    }

    func wrap(_ key: FileKey) throws -> Stanza {
        switch kind {
        case .x25519(let recipient): try X25519Wrapping.wrap(key, for: recipient)
        case .hybrid(let recipient): try HybridWrapping.wrap(key, for: recipient)
        case .ssh(let recipient): try SSHWrapping.wrap(key, for: recipient)
        case .passphrase(let passphrase): try ScryptWrapping.wrap(key, with: passphrase)
        }
    }

    /// Throws unless these recipients may share a file.
    ///
    /// A file with a passphrase shows that its author knew the passphrase; any other recipient would make that untrue.
    /// A key without resistance to quantum computers would defeat the protection of a hybrid one.
    ///
    /// - Throws: `AgeError.badRecipients`.
    public static func check(_ recipients: [Recipient]) throws {
        guard !recipients.isEmpty else {
            throw AgeError.badRecipients(reason: "there is no recipient")
        }
        guard recipients.count == 1 || !recipients.contains(where: \.isPassphrase) else {
            throw AgeError.badRecipients(reason: "a password has to be the only recipient")
        }
        guard Set(recipients.map(\.isHybrid)).count == 1 else {
            let reason = "an 'age1pq' key can only be combined with others of its kind"
            throw AgeError.badRecipients(reason: reason)
        }
    }

    /// Parses a list of public keys, one per line; ignores empty lines and those that begin with `#`.
    ///
    /// - Throws: see `init(_:)`.
    public static func list(in text: String) throws -> [Recipient] {
        try text.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
            .map { try Recipient($0) }
    }
}
