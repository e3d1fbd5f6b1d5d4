public import Files
public import SystemPackage

/// An error with an encrypted file or with a key; no error contains a secret.
public enum AgeError: ExplainedError, Equatable {
    /// The file does not begin like an age file.
    case notEncrypted(FilePath)
    /// The file is armored text that breaks the format.
    case badArmor(FilePath, reason: String)
    /// The file's header breaks the format.
    case badHeader(FilePath, reason: String)
    /// No available key opens the file.
    case noMatch(FilePath, keys: Int)
    /// The file was encrypted with a passphrase, and none was given.
    case needsPassphrase(FilePath)
    /// The passphrase is wrong.
    case wrongPassphrase(FilePath)
    /// The file's passphrase needs more work than usual, and the user has not allowed it.
    case muchWork(FilePath, memory: Int64)
    /// There is not enough memory to try a passphrase.
    case littleMemory(needed: Int64)
    /// A key opens the file, but the header was changed without a key.
    case forgedHeader(FilePath)
    /// The file ends early, or has data behind its end.
    case wrongEnd(FilePath)
    /// A part of the file was changed.
    case damaged(FilePath, chunk: Int64, of: Int64)
    /// The file has more recipients than those known by the available keys.
    case otherReaders(FilePath, known: Int, of: Int)
    /// A text is not a public key.
    case badRecipient(String, reason: String)
    /// A secret key is used in place of a public one; the message does not contain it.
    case identityAsRecipient
    /// A text is not a secret key; the message does not contain it.
    case badIdentity(reason: String)
    /// A secret key of OpenSSH has a passphrase.
    case lockedIdentity
    /// A text is not an OpenSSH signature of a supported kind.
    case badSignature(reason: String)
    /// A line of a file of trusted keys breaks the format of ssh-keygen(1).
    case badSigner(FilePath, line: Int, reason: String)
    /// An OpenSSH agent does not sign.
    case agentFailed(reason: String)
    /// The recipients cannot be combined, or there are none.
    case badRecipients(reason: String)

    /// Whether another key may help.
    public var isOfKeys: Bool {
        switch self {
        case .noMatch, .needsPassphrase, .wrongPassphrase, .muchWork, .littleMemory: true
        default: false
        }
    }

    /// Whether the bytes of the file are wrong, so that no key would help.
    public var isDamage: Bool {
        switch self {
        case .notEncrypted, .badArmor, .badHeader, .forgedHeader, .wrongEnd, .damaged: true
        default: false
        }
    }

    public var outcome: FailureOutcome {
        isOfKeys ? .password : isDamage ? .damaged : .usage
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
        case .muchWork(let path, let memory):
            "trying a password on \(name(path)) takes \(byteCount(memory)) of memory, and as much work"
        case .littleMemory(let needed):
            "there is too little memory to try a password: it takes \(byteCount(needed))"
        case .forgedHeader(let path):
            "the header of \(name(path)) is damaged: its checksum does not match"
        case .wrongEnd(let path):
            "\(name(path)) is damaged: it was cut off, or something was added to it"
        case .damaged(let path, let chunk, let count):
            "\(name(path)) is damaged: part \(chunk + 1) of \(count) (64 KiB each) does not match its checksum\(chunk + 1 == count ? ", or was cut off" : "")"
        case .otherReaders(let path, let known, let count):
            "\(name(path)) is encrypted for \(count) keys, and only \(known) \(known == 1 ? "is" : "are") at hand: the others could not read the new archive"
        case .badRecipient(let text, let reason): "'\(text)' is not a public key: \(reason)"
        case .identityAsRecipient: "a secret key was given instead of a public one"
        case .badIdentity(let reason): "a secret key cannot be read: \(reason)"
        case .lockedIdentity:
            "a secret key cannot be read: an SSH key with a passphrase is not supported"
        case .badSignature(let reason): "the signature cannot be read: \(reason)"
        case .badSigner(let path, let line, let reason):
            "'\(printable(path))', line \(line): \(reason)"
        case .agentFailed(let reason): "the SSH agent does not sign: \(reason)"
        case .badRecipients(let reason): "invalid recipients: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .identityAsRecipient:
            "somebody may have read it: consider a new key; a public key begins with 'age1'"
        case .noMatch:
            "name the file of the secret key with '--identity', or see 'grocerydude key check --all'"
        case .badRecipients: "see 'recipients' in 'grocerydude config show', or '--recipient'"
        case .otherReaders: "name every recipient with '--recipient'"
        case .needsPassphrase, .wrongPassphrase:
            "run it on a terminal, or set GROCERYDUDE_PASSWORD or 'password_command'"
        case .muchWork(let path, _):
            "run it on a terminal, which asks; or decrypt it first: age --decrypt --output NEW \(shellWord(path))"
        case .forgedHeader, .wrongEnd, .damaged, .badHeader, .notEncrypted:
            "\(Advice.list) and \(Advice.olderBackup)"
        case .littleMemory:
            "end other programs, raise the limit of this one, or open it on another machine"
        default: nil
        }
    }

    private func name(_ path: FilePath) -> String {
        "'\(path.lastComponent.map { printable(FilePath($0.string)) } ?? printable(path))'"
    }
}
