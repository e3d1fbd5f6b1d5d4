internal import Crypto
internal import CryptoExtras
internal import Foundation

/// Wraps a file key with a passphrase.
enum ScryptWrapping {
    static let kind = "scrypt"
    /// The binary logarithm of the work that we ask for: about a second, and 256 MiB.
    static let workFactor = 18
    /// That of the most work that is done for somebody else's file.
    static let limit = 22
    private static let label = Array("age-encryption.org/v1/scrypt".utf8)
    private static let saltSize = 16

    static func wrap(
        _ key: FileKey,
        with passphrase: Passphrase,
        workFactor: Int = workFactor
    ) throws -> Stanza {
        let salt = FileKey.makeNonce()
        let wrappingKey = try derive(passphrase, salt, workFactor)
        return Stanza(
            arguments: [kind, Base64.encode(salt), "\(workFactor)"],
            body: try key.wrapped(with: wrappingKey)
        )
    }

    /// Returns the key of a stanza; `nil` if it was made with another passphrase, or in another way.
    static func unwrap(_ stanza: Stanza, with passphrase: Passphrase) throws -> FileKey? {
        guard stanza.kind == kind else { return nil }
        try stanza.check(arguments: 2)
        let salt = try stanza.bytes(ofArgument: 1, count: saltSize)
        let text = stanza.arguments[2]
        guard let factor = Int(text), factor > 0, "\(factor)" == text else {
            throw Stanza.Fault(reason: "the work factor is not a number")
        }
        guard factor <= limit else {
            throw Stanza.Fault(reason: "the work factor is \(factor); the limit is \(limit)")
        }
        return try FileKey(opening: stanza.body, with: derive(passphrase, salt, factor))
    }

    private static func derive(
        _ passphrase: Passphrase,
        _ salt: [UInt8],
        _ workFactor: Int
    ) throws -> SymmetricKey {
        try passphrase.withUnsafeBytes {
            try KDF.Scrypt.deriveKey(
                from: $0,
                salt: label + salt,
                outputByteCount: 32,
                rounds: 1 << workFactor,
                blockSize: 8,
                parallelism: 1
            )
        }
    }
}
