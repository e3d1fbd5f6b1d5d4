internal import Files
internal import Foundation
public import SystemPackage

/// A file of secret keys: age-keygen's output, or a private key of OpenSSH.
///
/// The file itself may be encrypted with a passphrase.
public enum IdentityFile {
    /// The maximum size in bytes.
    public static let limit = 1 << 20

    /// Reads the keys of a file.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - path: the path for messages.
    ///   - passphrase: returns the passphrase if the file is encrypted.
    /// - Returns: at least one key.
    /// - Throws: `AgeError`, which contains no key; what `passphrase` throws.
    public static func identities(
        in bytes: [UInt8],
        path: FilePath,
        passphrase: () throws -> Passphrase?
    ) throws -> [Identity] {
        let source = MemorySource(path: path, bytes: bytes)
        guard try bytes.starts(with: Header.versionLine.utf8) || ArmoredSource.begins(source) else {
            return try identities(in: String(decoding: bytes, as: UTF8.self))
        }
        let file = try EncryptedFile(source)
        guard file.hasPassphrase, let secret = try passphrase() else {
            throw file.hasPassphrase
                ? AgeError.needsPassphrase(path) : AgeError.noMatch(path, keys: 0)
        }
        let plain = try file.decrypted(with: [Identity(secret)])
        let text = try plain.readExactly(count: Int(plain.size), at: 0)
        return try identities(in: String(decoding: text, as: UTF8.self))
    }

    private static func identities(in text: String) throws -> [Identity] {
        if text.contains(SSHPrivateKey.begin) { return [try Identity(openSSH: text)] }
        let identities = try text.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
            .map { try Identity($0) }
        guard !identities.isEmpty else {
            throw AgeError.badIdentity(reason: "there is none in the file")
        }
        return identities
    }
}
