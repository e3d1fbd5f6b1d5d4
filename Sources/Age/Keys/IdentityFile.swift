internal import Files
internal import Foundation
public import SystemPackage

/// A file of secret keys: as age-keygen writes it, or a private key of OpenSSH.
///
/// It may be encrypted with a passphrase itself.
public enum IdentityFile {
    /// Bytes of one that is read.
    public static let limit = 1 << 20

    /// Reads the keys of a file.
    ///
    /// - Parameters:
    ///   - bytes: its content.
    ///   - path: its name in messages.
    ///   - passphrase: gives the passphrase, if the file turns out to be encrypted with one.
    /// - Returns: at least one key.
    /// - Throws: `AgeError`, without a key in it; what `passphrase` throws.
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
