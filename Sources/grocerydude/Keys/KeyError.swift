internal import Age
internal import Files
internal import SystemPackage

/// An error with a key or a password.
enum KeyError: ExplainedError {
    /// Backups are encrypted with a password, but there is none.
    case noPassword
    /// The two entries of a password differ.
    case passwordsDiffer
    /// A file or a command returns no password.
    case emptyPassword(String)
    /// A password, or a file of keys, is in UTF-16.
    case wideText(String)
    case passwordCommand(String, String)
    /// A file of public keys contains none.
    case noRecipients(FilePath)
    /// A file of secret keys or with the password cannot be read.
    case unreadable(FileError)
    /// A file of secret keys is invalid.
    case badFile(FilePath, AgeError)
    /// A signing key has a passphrase.
    case lockedSigningKey(FilePath)
    /// No key to print is named.
    case noIdentity
    /// A secret signing key can be read by others.
    case exposedKey(FilePath)
    /// Others may change the file of trusted keys.
    case exposedSigners(Exposure)
    /// The signing key cannot be replaced, because the configuration names it.
    case namedSigningKey
    /// A new key would overwrite a file.
    case exists(FilePath)

    var outcome: FailureOutcome {
        switch self {
        case .exists, .noRecipients: .failed
        default: .password
        }
    }

    var description: String {
        switch self {
        case .noPassword: "backups are encrypted with a password, and there is none"
        case .passwordsDiffer: "the passwords differ"
        case .emptyPassword(let place): "\(place) gives no password"
        case .wideText(let place): "the text of \(place) is in UTF-16"
        case .passwordCommand(let command, let reason):
            "'\(command)' gives no password: \(reason)"
        case .noRecipients(let path): "there is no public key in '\(printable(path))'"
        case .unreadable(let error): "a key is missing: \(error)"
        case .badFile(let path, let error): "'\(printable(path))': \(error)"
        case .lockedSigningKey(let path):
            "'\(printable(path))': an SSH key with a passphrase is not supported"
        case .noIdentity: "there is no secret key"
        case .exposedKey(let path): "the signing key '\(printable(path))' can be read by others"
        case .exposedSigners(let exposure):
            "the trusted keys are refused: \(exposure.description)"
        case .namedSigningKey: "the signing key is set by 'signing_key'"
        case .exists(let path): "there is a file '\(printable(path))', which may be a key"
        }
    }

    /// The advice for a file that is no file of secret keys.
    private static let otherFile =
        "name the file of a secret key, as 'grocerydude key generate' makes it"

    var hint: String? {
        switch self {
        case .unreadable(let error):
            error.hint
                ?? "name the file of the secret key with '--identity', or of the password with '--password-file'"
        case .noPassword:
            "set GROCERYDUDE_PASSWORD, 'password_command' or 'password_file', or run on a terminal"
        case .noIdentity: "name its file with '--identity', or make one: grocerydude key generate"
        case .exists(KeyRing.signingKeyPath):
            "to replace it, run 'grocerydude key rotate --signing'"
        case .exists: "name another file with '--output'; without the old key, its backups are lost"
        case .exposedKey(let path): "chmod 600 \(shellWord(path))"
        case .exposedSigners(let exposure): "chmod go-w \(shellWord(exposure.path))"
        case .namedSigningKey: "set 'signing_key' to another key, and trust the old one"
        case .badFile(let path, .lockedIdentity):
            "copy the file, remove the copy's passphrase with 'ssh-keygen -p -f COPY', and name that; or decrypt the archive by itself: age -d -i \(shellWord(path)) ARCHIVE"
        case .lockedSigningKey(let path):
            "set 'signing_key' to its public key, and add the key to an agent: ssh-add \(shellWord(path))"
        case .badFile(_, let error):
            error.isDamage
                ? Self.otherFile : error.hint ?? Self.otherFile
        case .passwordsDiffer: "run it again, and type the same password twice"
        case .wideText: "save it again as UTF-8"
        case .emptyPassword, .passwordCommand:
            "its first line must be the password; or set GROCERYDUDE_PASSWORD"
        case .noRecipients: "a public key begins with 'age1' or 'ssh-ed25519'"
        }
    }
}
