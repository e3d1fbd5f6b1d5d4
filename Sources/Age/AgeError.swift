public import Files
public import SystemPackage

/// An error with an encrypted file or with a key; none of them has a secret in it.
public enum AgeError: ExplainedError, Equatable {
    /// The file does not begin as one of age does.
    case notEncrypted(FilePath)
    /// The file is written as text, which is not as the format says.
    case badArmor(FilePath, reason: String)
    /// The file's header is not as the format says, whoever made it.
    case badHeader(FilePath, reason: String)
    /// None of the keys opens the file.
    case noMatch(FilePath, keys: Int)
    /// The file was encrypted with a passphrase, and none was given.
    case needsPassphrase(FilePath)
    /// The passphrase is not the one that the file was encrypted with.
    case wrongPassphrase(FilePath)
    /// A key opens the file, but its header was changed by somebody who has none.
    case forgedHeader(FilePath)
    /// The file ends before it should, or more follows its end.
    case wrongEnd(FilePath)
    /// A part of the file is not as it was written.
    case damaged(FilePath, chunk: Int64, of: Int64)
    /// More can read the file than are known by the keys at hand.
    case otherReaders(FilePath, known: Int, of: Int)
    /// A text is not a public key.
    case badRecipient(String, reason: String)
    /// A secret key stands in the place of a public one; it is not named.
    case identityAsRecipient
    /// A text is not a secret key; it is not named.
    case badIdentity(reason: String)
    /// Recipients that cannot stand beside each other, or none at all.
    case badRecipients(reason: String)

    /// Whether another key would help.
    public var isOfKeys: Bool {
        switch self {
        case .noMatch, .needsPassphrase, .wrongPassphrase: true
        default: false
        }
    }

    /// Whether the bytes of the file are at fault, and no key would help.
    public var isDamage: Bool {
        switch self {
        case .notEncrypted, .badArmor, .badHeader, .forgedHeader, .wrongEnd, .damaged: true
        default: false
        }
    }

    public var description: String {
        switch self {
        case .notEncrypted(let path): "\(name(path)) is not an encrypted file"
        case .badArmor(let path, let reason): "the text of \(name(path)) is damaged: \(reason)"
        case .badHeader(let path, let reason): "the header of \(name(path)) is damaged: \(reason)"
        case .noMatch(let path, 0): "\(name(path)) is encrypted, and there is no key"
        case .noMatch(let path, 1): "\(name(path)) is encrypted, and the key does not open it"
        case .noMatch(let path, let keys):
            "\(name(path)) is encrypted, and none of the \(keys) keys opens it"
        case .needsPassphrase(let path):
            "\(name(path)) is encrypted with a password, and there is none"
        case .wrongPassphrase(let path):
            "\(name(path)) is encrypted, and the password does not open it"
        case .forgedHeader(let path):
            "the header of \(name(path)) is damaged: it is not as it was written"
        case .wrongEnd(let path):
            "\(name(path)) is damaged: it was cut off, or something was added to it"
        case .damaged(let path, let chunk, let count):
            "\(name(path)) is damaged: part \(chunk + 1) of \(count), of 64 KiB each, is not as it was written\(chunk + 1 == count ? ", or was cut off" : "")"
        case .otherReaders(let path, let known, let count):
            "\(name(path)) is encrypted for \(count) keys, of which \(known == 1 ? "one is" : "\(known) are") at hand: the others could not read what takes its place"
        case .badRecipient(let text, let reason): "'\(text)' is not a public key: \(reason)"
        case .identityAsRecipient: "a secret key stands where a public one should be"
        case .badIdentity(let reason): "a secret key cannot be read: \(reason)"
        case .badRecipients(let reason): "nobody can be encrypted for: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .identityAsRecipient:
            "somebody may have read it: consider a new key; a public key begins with 'age1'"
        default: nil
        }
    }

    private func name(_ path: FilePath) -> String {
        "'\(path.lastComponent.map { printable(FilePath($0.string)) } ?? printable(path))'"
    }
}
