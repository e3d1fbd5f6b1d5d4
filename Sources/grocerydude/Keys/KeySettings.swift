internal import Age
internal import SystemPackage

/// The settings of encryption.
struct KeySettings: Equatable, Sendable {
    /// The word for a password in the list of recipients.
    static let passwordWord = "password"
    /// The word for no recipients: backups are not encrypted, even beside encrypted ones.
    static let noneWord = "none"

    /// The public keys of the recipients, files with them, or the word for a password.
    ///
    /// Without any, backups are not encrypted.
    var recipients: [String] = []
    /// The files of secret keys.
    var identities: [FilePath] = []
    /// The file of the private key that signs backups, or the public key of one that an agent keeps; `nil` for the key
    /// that this program creates.
    var signingKey: String?
    var passwordFile: FilePath?
    /// A shell command that prints the password.
    var passwordCommand: String?

    /// Whether a password is set, also by the environment.
    var hasPassword: Bool {
        passwordFile != nil || passwordCommand != nil
            || ProcessEnvironment.value(KeyRing.passwordVariable) != nil
    }

    /// The named files, by setting.
    var files: KeyValuePairs<String, [FilePath]> {
        [
            "recipients": recipients.filter { !Self.isLiteral($0) }.map { FilePath($0) },
            "identities": identities.isEmpty ? [KeyRing.usualPath] : identities,
            "password_file": [passwordFile].compactMap(\.self),
            "signing_key": [signingKey].compactMap(\.self).filter { !Self.isLiteral($0) }.map {
                FilePath($0)
            },
        ]
    }

    /// Returns whether a recipient is a literal, and not a file name.
    static func isLiteral(_ text: String) -> Bool {
        text == passwordWord || text.hasPrefix("age1") || text.hasPrefix("ssh-")
    }
}

extension WrittenValue {
    /// Returns public keys, files with them, or the word for a password.
    ///
    /// - Throws: `WrongValue`, without the value if that is a secret.
    func recipients() throws -> [String] {
        let wanted =
            "public keys, files of them, '\(KeySettings.passwordWord)' or '\(KeySettings.noneWord)'"
        if try texts(wanted) == [KeySettings.noneWord] { return [] }
        return try lines(wanted).map { value in
            let text = try value.text(wanted) { $0 }
            do {
                if KeySettings.isLiteral(text), text != KeySettings.passwordWord {
                    _ = try Recipient(text)
                }
                // A secret that is taken for a file name would appear in a message.
                if text.uppercased().hasPrefix("AGE-") { _ = try Recipient(text) }
            } catch let error as AgeError {
                throw WrongValue(reason: "must be \(wanted): \(error)", hint: error.hint)
            }
            return KeySettings.isLiteral(text) ? text : try value.path(wanted)
        }
    }

    /// Returns the file name of a private key, or a public key that an agent has.
    ///
    /// - Throws: `WrongValue`.
    func signingKey() throws -> String {
        let wanted = "a file of a private key, or a public key '\(SSHPublicKey.kind) …'"
        let text = try text(wanted) { $0 }
        guard KeySettings.isLiteral(text) else { return try path(wanted) }
        guard SSHPublicKey(line: text) != nil else { throw WrongValue(reason: "must be \(wanted)") }
        return text
    }

    /// Returns file names.
    ///
    /// - Throws: `WrongValue`.
    func paths() throws -> [FilePath] {
        try lines("a path or a list of paths").map { FilePath(try $0.path()) }
    }

    /// Returns each text as a value; on the command line and in the environment, each line is one.
    private func lines(_ wanted: String) throws -> [WrittenValue] {
        let texts = try texts(wanted)
        let isSaid = base == nil
        let lines = texts.flatMap { isSaid ? $0.split(separator: "\n").map(String.init) : [$0] }
        // No line would be no key: a profile that encrypts would not do so any more.
        if isSaid, lines.isEmpty { throw WrongValue(reason: "must be \(wanted), not blank lines") }
        return lines.map {
            var value = self
            value.form = .text($0)
            return value
        }
    }
}
