internal import Crypto
internal import CryptoExtras
internal import Files
internal import Foundation

/// The wrapping of a file key with a passphrase.
enum ScryptWrapping {
    static let kind = "scrypt"
    /// The binary logarithm of this program's work factor: about a second, and 256 MiB.
    static let workFactor = 18
    /// The largest logarithm for a foreign file without asking: about four seconds, and 1 GiB.
    static let usualLimit = 20
    /// The largest logarithm that is ever accepted.
    static let limit = 22
    private static let label = Array("age-encryption.org/v1/scrypt".utf8)
    private static let saltSize = 16
    private static let blockSize = 8

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

    /// Returns the file key of a stanza; `nil` if it has another passphrase or kind.
    static func unwrap(_ stanza: Stanza, with passphrase: Passphrase) throws -> FileKey? {
        guard let factor = try workFactor(of: stanza) else { return nil }
        let salt = try stanza.bytes(ofArgument: 1, count: saltSize)
        return try FileKey(opening: stanza.body, with: derive(passphrase, salt, factor))
    }

    /// Returns the binary logarithm of a stanza's work factor; `nil` for a stanza of another kind.
    static func workFactor(of stanza: Stanza) throws -> Int? {
        guard stanza.kind == kind else { return nil }
        try stanza.check(arguments: 2)
        let text = stanza.arguments[2]
        guard let factor = Int(text), factor > 0, "\(factor)" == text else {
            throw Stanza.Fault(reason: "the work factor is not a number")
        }
        guard factor <= limit else {
            throw Stanza.Fault(reason: "the work factor is \(factor); the limit is \(limit)")
        }
        return factor
    }

    /// Returns the memory in bytes for a work factor.
    static func memory(_ workFactor: Int) -> Int64 { Int64(128 * blockSize) << Int64(workFactor) }

    private static func derive(
        _ passphrase: Passphrase,
        _ salt: [UInt8],
        _ workFactor: Int
    ) throws -> SymmetricKey {
        // A lack of memory could kill the program, or another one, during the work.
        guard Memory.isThere(memory(workFactor)) else {
            throw AgeError.littleMemory(needed: memory(workFactor))
        }
        return try passphrase.withUnsafeBytes {
            try KDF.Scrypt.deriveKey(
                from: $0,
                salt: label + salt,
                outputByteCount: 32,
                rounds: 1 << workFactor,
                blockSize: blockSize,
                parallelism: 1
            )
        }
    }
}
