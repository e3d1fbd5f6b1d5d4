internal import Age
internal import Files
internal import SystemPackage

/// Why there is no key.
enum KeyError: ExplainedError {
    /// Backups are to be encrypted with a password, and nobody says it.
    case noPassword
    /// A password was said twice, each time another.
    case passwordsDiffer
    /// A file or a command gives no password.
    case emptyPassword(String)
    case passwordCommand(String, String)
    /// A file of public keys has none.
    case noRecipients(FilePath)
    /// A file of secret keys cannot be understood.
    case badFile(FilePath, AgeError)
    /// A key is to be shown, and none is named.
    case noIdentity
    /// A new key would be written over a file.
    case exists(FilePath)

    var description: String {
        switch self {
        case .noPassword: "backups are encrypted with a password, and there is none"
        case .passwordsDiffer: "the passwords differ"
        case .emptyPassword(let place): "\(place) gives no password"
        case .passwordCommand(let command, let reason):
            "'\(command)' gives no password: \(reason)"
        case .noRecipients(let path): "there is no public key in '\(printable(path))'"
        case .badFile(let path, let error): "'\(printable(path))': \(error)"
        case .noIdentity: "there is no secret key"
        case .exists(let path): "there is a file '\(printable(path))', which may be a key"
        }
    }

    var hint: String? {
        switch self {
        case .noPassword:
            "set GROCERYDUDE_PASSWORD, 'password_command' or 'password_file', or run on a terminal"
        case .noIdentity: "name its file with '--identity', or make one: grocerydude key generate"
        case .exists: "name another file with '--output'; without the old key, its backups are lost"
        case .badFile(_, let error): error.hint
        case .passwordsDiffer, .emptyPassword, .passwordCommand, .noRecipients: nil
        }
    }
}
